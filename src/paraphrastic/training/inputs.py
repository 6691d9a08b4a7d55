"""What a rule says of the training of a model, as the functions of `training.train` take it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.config.architecture import Architecture
from paraphrastic.training.settings import TrainingSettings


def training_inputs(
    dataset: str,
    sentencepiece: Sequence[str],
    vectors: Sequence[str],
    *,
    settings: Mapping[str, Any],
    architecture: Mapping[str, Any],
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """Arguments of `train_model` and of `untrained_model`.

    Args:
        dataset: HDF5 file of `encode_dataset`.
        sentencepiece: sentencepiece models, in the order of units and languages.
        vectors: none or one file of word vectors.
        settings: hyperparameters, by the names of `TrainingSettings`.
        architecture: as `Architecture.to_json` gives it.
        about: entries of the model's `config.json` beside the ones about training.
    """
    first, *others = map(Path, sentencepiece)
    return {
        "dataset": Path(dataset),
        "sentencepiece_model": first,
        "more_vocabularies": others,
        "initial_vectors": next(map(Path, vectors), None),
        "architecture": Architecture.from_json(architecture),
        "settings": TrainingSettings(**settings),
        "config": about,
    }
