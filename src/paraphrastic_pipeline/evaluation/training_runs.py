"""Train one run of a model's sweep, which is scored on its development data in the meantime."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic_pipeline.evaluation.development import DevelopmentData
from paraphrastic_pipeline.training.inputs import TrainingInputs
from paraphrastic_pipeline.training.train import train_model


def train_run(
    dataset: Path,
    weights: Path,
    *,
    sentencepiece: Sequence[Path] = (),
    vectors: Path | None = None,
    tables: Path | None = None,
    definition: Mapping[str, Any],
    held_out: Path | None = None,
    testsets: Path | None = None,
    watching: Mapping[str, Any],
    threads: int,
) -> None:
    """Train a model into the folder of its `weights`.

    The files and the `definition` are those of `TrainingInputs.of_definition`; `held_out`, `testsets` and
    `choose_by` in `watching` are those of `DevelopmentData`, and the rest is for `train_model`.
    """
    inputs = TrainingInputs.of_definition(
        definition, dataset=dataset, sentencepiece=sentencepiece, vectors=vectors, tables=tables
    )
    train_model(
        inputs,
        weights.parent,
        threads=threads,
        development=DevelopmentData(watching["choose_by"], held_out, testsets).in_training(),
        checkpoint_minutes=watching["checkpoint_minutes"],
    )
