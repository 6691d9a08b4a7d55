"""What a training run is made from, data and settings, and how it is scored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from paraphrastic.model.architecture import Architecture
from paraphrastic_pipeline.settings.sections.training import TrainingSettings


@dataclass(frozen=True, slots=True)
class Development:
    """How a model is scored while it is trained, from its files, and on which data; higher is better."""

    score: Callable[[Any], float]
    data: Sequence[Path]


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
    def of_definition(cls, definition: Mapping[str, Any], **files: Any) -> Self:
        """Make the inputs from the files of that name and a model's definition, in JSON.

        The definition has the keys `settings`, `architecture` and `config`.
        """
        return cls(
            **files,
            settings=TrainingSettings(**definition["settings"]),
            architecture=Architecture.from_json(definition["architecture"]),
            config=definition["config"],
        )
