"""What a training run begins with: data, settings, and the encoder before training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
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
from paraphrastic_pipeline.training.loop import Weights
from paraphrastic_pipeline.training.model_files import model_files
from paraphrastic_pipeline.training.pair_dataset import PairDataset


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInputs:
    """Everything that a model is trained from.

    Attributes:
        dataset: HDF5 file written by `encode_dataset`.
        sentencepiece: the models that `dataset` was encoded with, in the order of units and languages; none
            for a Transformer, which has its own tokenizer.
        vectors: text file with word vectors, from which tables of words start.
        teacher: vectors of another system for each sentence of `dataset`, which the loss `cosines` needs.
        tables: tables that a teacher's vectors were fitted with, which `init: teacher` needs.
        settings: hyperparameters.
        architecture: architecture of the encoder.
        config: entries of the model's `config.json`, except those about training.
    """

    dataset: Path
    sentencepiece: Sequence[Path]
    vectors: Path | None = None
    teacher: Path | None = None
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
            teacher=next(map(Path, files.get("teacher", ())), None),
            tables=next(map(Path, files.get("tables", ())), None),
            settings=TrainingSettings(**settings),
            architecture=Architecture.from_json(architecture),
            config=about,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The encoder before training, and what belongs to it.

    Attributes:
        encoder: the encoder, which takes `Sentences`.
        files: makes the files of the model from parameters and from entries of `config.json`.
        digests: digests of the files that the parameters begin with, by what they are.
        anchors: the tables that begin as word vectors, by parameter name.
        words: counts of all words, and of those with such a vector; empty without these vectors.
    """

    encoder: nn.Module
    files: Callable[[Weights, Mapping[str, Any]], Any]
    digests: Mapping[str, str] = field(default_factory=dict)
    anchors: Mapping[str, Tensor] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)


# Makes the encoder that training begins with, in so many threads.
Begin = Callable[[PairDataset, TrainingInputs, int], Beginning]


def begin(pairs: PairDataset, inputs: TrainingInputs, threads: int) -> Beginning:
    """Make the encoder that training begins with, which is the same for any number of threads.

    Raises:
        InputError: the data were not encoded for this encoder, or it cannot be loaded.
    """
    architecture, settings = inputs.architecture, inputs.settings
    if tuple(unit.unit for unit in pairs.units) != architecture.units:
        raise InputError(f"{pairs.path}: was not encoded in {' and '.join(architecture.units)}")
    expected = [digest for unit in pairs.units for digest in unit.sentencepiece_sha256]
    if [sha256(model) for model in inputs.sentencepiece] != expected:
        raise InputError(f"{pairs.path}: was not encoded with {' and '.join(map(str, inputs.sentencepiece))}")
    loaded = iter(load_sentencepiece(model) for model in inputs.sentencepiece)
    processors = {unit.unit: [next(loaded) for _ in unit.sentencepiece_sha256] for unit in pairs.units}
    trained = replace(settings, dimension=settings.table_dimension)
    encoder = initial_encoder(pairs.units, trained, architecture)
    if settings.init == "cooccurrences":
        # Imported here, since the libraries for it take a second.
        from paraphrastic_pipeline.training.cooccurrence import start_from_cooccurrences

        start_from_cooccurrences(encoder, pairs, seed=settings.seed, threads=threads)
    counts = pairs.counts()
    scale_unseen(encoder, counts, pairs.units)
    if inputs.tables is not None:
        from paraphrastic_pipeline.training.teacher_tables import start_from_tables

        # The teacher says how much each piece counts.
        start_from_tables(encoder, pairs, inputs.tables)
    elif settings.init_sif is not None:
        scale_by_frequency(encoder, counts, settings.init_sif)
    units = pairs.units

    def files(weights: Weights, config: Mapping[str, Any]) -> ModelFiles:
        return model_files(weights, units, processors, architecture, config, dimension=settings.dimension)

    if inputs.vectors is None:
        return Beginning(encoder=encoder, files=files)
    anchors, words = use_word_vectors(encoder, inputs.vectors, units, processors, architecture)
    digests = {"initial_vectors": sha256(inputs.vectors)}
    return Beginning(encoder=encoder, files=files, digests=digests, anchors=anchors, words=words)


def untrained_model(inputs: TrainingInputs, begin: Begin = begin) -> Any:
    """The files of the model that training starts from, with the same random parameters.

    `begin` makes the encoder, as in `train_model`.
    """
    with PairDataset(inputs.dataset) as pairs, torch.no_grad():
        beginning = begin(pairs, inputs, 1)
        weights = {name: value.numpy() for name, value in beginning.encoder.named_parameters()}
        return beginning.files(weights, inputs.config)
