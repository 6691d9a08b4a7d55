"""What a training run begins with: data, settings, and the encoder before training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from paraphrastic.model.architecture import Architecture
from paraphrastic.model.files import ModelFiles
from paraphrastic.model.vocabulary import load_sentencepiece
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.encoder_modules import (
    initial_encoder,
    scale_by_frequency,
    scale_unseen,
    use_word_vectors,
)
from paraphrastic_pipeline.training.engine import Weights
from paraphrastic_pipeline.training.model_files import model_files
from paraphrastic_pipeline.training.pair_dataset import PairDataset

# The name of the parameters of an encoder that is one average.
TABLE = "parts.0.table"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInputs:
    """Everything that a model is trained from.

    Attributes:
        dataset: HDF5 file written by `encode_dataset`.
        sentencepiece: the models that `dataset` was encoded with, in the order of units and languages; none
            for a Transformer, which has its own tokenizer.
        vectors: text file with word vectors, from which tables of words start.
        tables: tables that a teacher's vectors were fitted with, which `init: teacher` needs.
        settings: hyperparameters.
        architecture: architecture of the encoder.
        config: entries of the model's `config.json`, except those about training.
    """

    dataset: Path
    sentencepiece: Sequence[Path]
    vectors: Path | None = None
    tables: Path | None = None
    settings: TrainingSettings
    architecture: Architecture = field(default_factory=Architecture)
    config: Mapping[str, Any]

    @classmethod
    def of_rule(
        cls,
        files: Mapping[str, Any],
        settings: Mapping[str, Any],
        architecture: Any,
        about: Mapping[str, Any],
    ) -> Self:
        """Make the inputs from a rule's input files and parameters; `vectors` lists one file or none.

        Rules of Transformers have neither `vectors` nor `sentencepiece`.
        """
        return cls(
            dataset=Path(files["dataset"]),
            sentencepiece=[Path(model) for model in files.get("sentencepiece", ())],
            vectors=next(map(Path, files.get("vectors", ())), None),
            tables=next(map(Path, files.get("tables", ())), None),
            settings=TrainingSettings(**settings),
            architecture=Architecture.from_json(architecture),
            config=about,
        )

    @property
    def files(self) -> list[Path]:
        """The files that the parameters depend on."""
        transformer = self.architecture.transformer
        folder = sorted(Path(transformer.place).rglob("*")) if transformer else []
        others = [path for path in (self.vectors, self.tables) if path]
        return [self.dataset, *self.sentencepiece, *others, *folder]


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialization:
    """The encoder before training, and what belongs to it.

    Attributes:
        encoder: the encoder, which takes `Sentences`.
        files: makes the files of the model from parameters and from entries of `config.json`.
        anchors: the tables that begin as word vectors, by parameter name.
        about: further entries of `config.json`.
    """

    encoder: nn.Module
    files: Callable[[Weights, Mapping[str, Any]], Any]
    anchors: Mapping[str, Tensor] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


# Makes the encoder that training begins with, in so many threads.
Initialize = Callable[[PairDataset, TrainingInputs, int], Initialization]


def initialize(pairs: PairDataset, inputs: TrainingInputs, threads: int) -> Initialization:
    """Initialize the encoder, in the same way for any number of threads.

    Raises:
        InputError: the word vectors cannot be read, or have another dimension.
    """
    architecture, settings, units = inputs.architecture, inputs.settings, pairs.units
    loaded = iter(load_sentencepiece(model) for model in inputs.sentencepiece)
    processors = {unit.unit: [next(loaded) for _ in unit.sentencepiece_sha256] for unit in units}
    encoder = initial_encoder(units, settings, architecture)
    if settings.init == "cooccurrences":
        # Imported here, since the libraries for it take a second.
        from paraphrastic_pipeline.training.cooccurrence import initialize_from_cooccurrences

        initialize_from_cooccurrences(encoder, pairs, seed=settings.seed, threads=threads)
    counts = pairs.counts()
    scale_unseen(encoder, counts, units)
    if inputs.tables is not None:
        from paraphrastic_pipeline.training.teacher_tables import initialize_from_tables

        # The teacher says how much each piece counts.
        initialize_from_tables(encoder, pairs, inputs.tables)
    elif settings.init_sif is not None:
        scale_by_frequency(encoder, counts, settings.init_sif)
    anchors: dict[str, Tensor] = {}
    about: dict[str, Any] = {}
    if inputs.vectors is not None:
        anchors, words = use_word_vectors(encoder, inputs.vectors, units, processors, architecture)
        about = {"initial_vectors": words}

    def files(weights: Weights, config: Mapping[str, Any]) -> ModelFiles:
        return model_files(weights, units, processors, architecture, config, dimension=settings.dimension)

    return Initialization(encoder=encoder, files=files, anchors=anchors, about=about)


def untrained_model(inputs: TrainingInputs, initialize: Initialize = initialize) -> Any:
    """The files of the model that training starts from, with the same random parameters.

    `initialize` makes the encoder, as in `train_model`.
    """
    with PairDataset(inputs.dataset) as pairs, torch.no_grad():
        initialized = initialize(pairs, inputs, 1)
        weights = {name: value.numpy() for name, value in initialized.encoder.named_parameters()}
        return initialized.files(weights, inputs.config)
