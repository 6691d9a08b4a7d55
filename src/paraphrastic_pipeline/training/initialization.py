"""Initialize the encoder before training."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from paraphrastic.model.files import ModelFiles
from paraphrastic_pipeline.training.encoder_modules import initial_encoder, scale_rows, use_word_vectors
from paraphrastic_pipeline.training.engine import MakeFiles, Weights
from paraphrastic_pipeline.training.inputs import TrainingInputs
from paraphrastic_pipeline.training.model_files import model_files
from paraphrastic_pipeline.training.pair_dataset import PairDataset, open_vocabularies


def initialize(pairs: PairDataset, inputs: TrainingInputs) -> tuple[nn.Module, MakeFiles]:
    """Make the encoder before training, and what writes its model.

    Raises:
        InputError: the word vectors cannot be read, or have another dimension, or the Transformer cannot be
            loaded.
    """
    if inputs.architecture.transformer:
        # Imported here, since the package for it is optional.
        from paraphrastic_pipeline.training.transformer import initialize_transformer

        return initialize_transformer(inputs)
    architecture, settings, units = inputs.architecture, inputs.settings, pairs.units
    vocabularies = open_vocabularies(inputs.sentencepiece, units)
    processors = {unit.unit: models for unit, models in zip(units, vocabularies, strict=True)}
    encoder = initial_encoder(units, settings, architecture)
    # A teacher says how much each piece counts.
    scale_rows(encoder, pairs.counts(), units, None if inputs.tables else settings.init_sif)
    if inputs.tables is not None:
        from paraphrastic_pipeline.training.teacher_tables import initialize_from_tables

        initialize_from_tables(encoder, pairs, inputs.tables)
    if inputs.vectors is not None:
        use_word_vectors(encoder, inputs.vectors, units, processors, architecture)

    def files(weights: Weights, config: Mapping[str, Any]) -> ModelFiles:
        return model_files(weights, units, processors, architecture, config, dimension=settings.dimension)

    return encoder, files


def initialize_model(
    dataset: Path,
    weights: Path,
    *,
    sentencepiece: Sequence[Path] = (),
    vectors: Path | None = None,
    tables: Path | None = None,
    definition: Mapping[str, Any],
) -> None:
    """Write the model that training starts from to the folder of `weights`.

    `definition` is what `TrainingInputs.of_definition` takes, and the other arguments are its files.
    """
    inputs = TrainingInputs.of_definition(
        definition, dataset=dataset, sentencepiece=sentencepiece, vectors=vectors, tables=tables
    )
    untrained_model(inputs).write(weights.parent)


def untrained_model(inputs: TrainingInputs) -> Any:
    """The files of the model that training starts from, with the same random parameters."""
    with PairDataset(inputs.dataset) as pairs, torch.no_grad():
        encoder, files = initialize(pairs, inputs)
        weights = {name: value.numpy() for name, value in encoder.named_parameters()}
        return files(weights, inputs.config)
