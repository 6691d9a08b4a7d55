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
    """Train a model; see `train_model`.

    Args:
        dataset: HDF5 file written by `encode_dataset`.
        weights: the model's weights, beside which its other files and its history are written.
        sentencepiece: the models that `dataset` was encoded with; none for a Transformer.
        vectors: text file with word vectors.
        tables: tables that a teacher's vectors were fitted with.
        definition: see `TrainingInputs.of_definition`.
        held_out: Parquet file with pairs that the model is not trained on.
        testsets: Parquet file with STS 2017.
        watching: `choose_by`, as in `DevelopmentData`, and `checkpoint_minutes`.
        threads: number of threads.
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
