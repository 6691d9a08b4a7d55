"""Train a model, from data and settings to the model's folder; `loop` has the training loop itself."""

import hashlib
import logging
import math
import os
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import torch
from torch import nn

from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import Architecture
from paraphrastic_pipeline.base.code_version import code_version
from paraphrastic_pipeline.base.devices import choose_device, choose_precision
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.captured import CapturedEngine
from paraphrastic_pipeline.training.checkpoint import Checkpoint
from paraphrastic_pipeline.training.engine import Engine
from paraphrastic_pipeline.training.fused import TABLE, FusedEngine
from paraphrastic_pipeline.training.history import HISTORY, History
from paraphrastic_pipeline.training.initialization import initialize
from paraphrastic_pipeline.training.inputs import Development, TrainingInputs
from paraphrastic_pipeline.training.loop import megabatch_size, train
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.threads import Workers

log = logging.getLogger(__name__)

CHECKPOINT = "checkpoint.safetensors"


def train_model(
    inputs: TrainingInputs,
    output: Path,
    *,
    threads: int,
    development: Development | None = None,
    checkpoint_minutes: float = 10.0,
) -> None:
    """Train a model and write its folder to `output`, with the history of the run (`training.history`).

    A run that was killed resumes from its last checkpoint if it is started again with the same data and
    settings. It ends with the same parameters as one that was never interrupted. The parameters depend
    neither on the number of checkpoints nor on scores that are only shown.

    Args:
        inputs: data and settings of the model.
        output: folder of the model.
        threads: number of threads. With autograd, it changes the last digits; with the fused engine, none.
        development: how to score the model. The time of scores does not count in the history.
        checkpoint_minutes: time between checkpoints; each epoch also ends with one.

    Raises:
        InputError: there are no pairs, or the loss is not finite.
    """
    settings = _settled(inputs.settings, inputs.architecture)
    _prepare_torch(settings, inputs.architecture, threads)
    with PairDataset(inputs.dataset) as pairs, closing(Workers(threads)) as workers:
        if not (pairs.n_trained if settings.epochs else len(pairs)):
            raise InputError(f"{inputs.dataset}: contains no pairs")
        encoder, files = initialize(pairs, inputs)
        config = {**inputs.config, "training": asdict(settings), "pairs": pairs.n_trained}
        engine = build_engine(encoder, settings, workers, steps=_steps(settings, pairs.n_trained))
        identity = _identity(inputs, settings, threads, development)
        checkpoint = Checkpoint(output / CHECKPOINT, identity=identity, minutes=checkpoint_minutes)
        history = History(output / HISTORY, n_pairs=pairs.n_trained, epochs=settings.epochs)
        score = None if development is None else lambda weights: development.score(files(weights, config))
        weights = train(engine, pairs, settings, workers, checkpoint, history, score)
        files(weights, config).write(output)
    checkpoint.path.unlink(missing_ok=True)


def _settled(settings: TrainingSettings, architecture: Architecture) -> TrainingSettings:
    """The settings with the engine, the device and the precision that they stand for here."""
    device = choose_device(settings.device, key="training.device")
    fused = settings.trains_fused(architecture) and device == "cpu"
    if settings.engine == "fused" and not fused:
        raise InputError("training.engine: fused trains an average with the margin loss, on a processor")
    settings = replace(
        settings,
        engine="fused" if fused else "autograd",
        device=device,
        precision=choose_precision(settings.precision, device),
    )
    if architecture.averaged and (init_std := architecture.parts[0].init_std) is not None:
        # `config.json` may describe no parts, so its settings say what the embeddings began with.
        return replace(settings, init_std=init_std)
    return settings


def _prepare_torch(settings: TrainingSettings, architecture: Architecture, threads: int) -> None:
    """Give torch its threads, and let it refuse what is not deterministic if the run is to be exact."""
    torch.set_num_threads(threads if settings.engine == "autograd" else 1)
    # `use_deterministic_algorithms` sets the same mode, but first imports torch's compiler.
    # Some of a Transformer's kernels on a GPU have no deterministic form.
    exact = settings.device == "cpu" or not architecture.transformer
    torch.set_deterministic_debug_mode("error" if exact else "default")
    # Otherwise, torch first fills everything new with NaN in this mode, the table's gradient among it.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    # In this mode, torch before 2.10 refuses products on a GPU without it.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def build_engine(encoder: nn.Module, settings: TrainingSettings, workers: Workers, *, steps: int) -> Engine:
    """Build the engine that the settings name; a learning rate that falls does so over `steps` steps."""
    if settings.engine == "fused":
        return FusedEngine(encoder.get_parameter(TABLE).detach(), settings, workers, steps=steps)
    is_average = [name for name, _ in encoder.named_parameters()] == [TABLE]
    captured = settings.device == "cuda" and is_average and settings.loss == "margin"
    return (CapturedEngine if captured else AutogradEngine)(encoder, settings, steps=steps)


def _steps(settings: TrainingSettings, pairs: int) -> int:
    """The number of steps on so many pairs; if they are too few for the mega-batch, there is a warning."""
    steps = settings.epochs * math.ceil(pairs / settings.batch_size)
    reached = megabatch_size(steps, settings)
    if settings.epochs and reached < settings.megabatch:
        log.warning("M grows only to %d instead of %d in %d mini-batches", reached, settings.megabatch, steps)
    return steps


def _identity(
    inputs: TrainingInputs, settings: TrainingSettings, threads: int, development: Development | None
) -> str:
    """A digest of everything that the trained parameters depend on."""
    transformer = inputs.architecture.transformer
    folder = sorted(Path(transformer.place).rglob("*")) if transformer else []
    more = [path for path in (inputs.vectors, inputs.tables) if path]
    files = [inputs.dataset, *inputs.sentencepiece, *more, *folder]
    if settings.early_stopping and development:
        files += development.data
    counted = (
        asdict(settings),
        inputs.architecture.to_json(),
        code_version(f"{__name__}.{train_model.__name__}"),
        # With autograd, the number of threads decides the order of sums.
        threads if settings.engine == "autograd" else None,
        [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files],
    )
    return hashlib.sha256(repr(counted).encode()).hexdigest()
