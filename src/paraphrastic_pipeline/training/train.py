"""Train a model, from data and settings to the model's folder; `loop` has the training loop itself."""

import copy
import hashlib
import json
import logging
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, sha256
from paraphrastic.model.architecture import Architecture
from paraphrastic.model.vocabulary import load_sentencepiece
from paraphrastic_pipeline.base.code_version import code_version
from paraphrastic_pipeline.base.devices import choose_device, choose_precision
from paraphrastic_pipeline.settings.sections.training import EngineName, TrainingSettings
from paraphrastic_pipeline.training.autograd import CPU, AutogradEngine
from paraphrastic_pipeline.training.beginning import Begin, TrainingInputs, begin
from paraphrastic_pipeline.training.checkpoint import Checkpoints
from paraphrastic_pipeline.training.development import Development
from paraphrastic_pipeline.training.device.engine import DeviceEngine
from paraphrastic_pipeline.training.device.selection import held_device
from paraphrastic_pipeline.training.encoder_modules import SEEDS
from paraphrastic_pipeline.training.fused import FusedEngine
from paraphrastic_pipeline.training.history import HISTORY, Report
from paraphrastic_pipeline.training.loop import Engine, TrainingRun, Weights, megabatch_size
from paraphrastic_pipeline.training.negative_mining import has_instructions, precision_on
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.threads import Workers

if TYPE_CHECKING:
    from paraphrastic_pipeline.training.coarser import CoarserPairs

log = logging.getLogger(__name__)

CHECKPOINTS = "checkpoints"
# The name of the parameters of an encoder that is one average.
_TABLE = "parts.0.table"


@dataclass(frozen=True, slots=True)
class Watching:
    """How a run is watched and kept safe meanwhile. No parameter depends on it, so no rule has it as its own.

    Attributes:
        checkpoint_minutes: time between checkpoints; each epoch also ends with one.
    """

    checkpoint_minutes: float = 10.0


def train_model(
    inputs: TrainingInputs,
    output: Path,
    *,
    threads: int,
    begin: Begin = begin,
    development: Development | None = None,
    watching: Watching = Watching(),
) -> None:
    """Train a model and write its folder to `output`, with the history of the run (`training.history`).

    A run that was killed resumes from its last checkpoint if it is started again with the same data and
    settings. It ends with the same parameters as one that was never interrupted. GPUs and CPUs round
    differently, so neither uses the other's checkpoints. The parameters depend neither on the number of
    checkpoints nor on scores that are only shown.

    Args:
        inputs: data and settings of the model.
        output: folder of the model.
        threads: number of threads. With autograd, it changes the last digits; with the fused engine, none.
        begin: makes the encoder before training; Transformers have a function of their own.
        development: how to score the model. The time of scores does not count in the history.
        watching: checkpoints, and who else gets the history.
    """
    if inputs.settings.early_stopping and not development:
        raise ValueError("early stopping needs development data")
    settings = _settled(inputs.settings, inputs.architecture)
    _prepare_torch(settings, inputs.architecture, threads)
    with (
        PairDataset(inputs.dataset, inputs.teacher) as pairs,
        ExitStack() as opened,
        closing(Workers(threads)) as workers,
        held_device("cpu" if settings.device == "cpu" else "cuda") as device,
    ):
        if not (pairs.n_trained if settings.epochs else len(pairs)):
            raise InputError(f"{inputs.dataset}: contains no pairs")
        started = time.monotonic()
        beginning = begin(pairs, inputs, threads)
        for cut in (coarser := coarser_cuts(inputs)):
            opened.enter_context(cut)
        config = _config(inputs, settings, pairs.n_trained, beginning.words)
        model = _Model(beginning.files, config, settings.dimension, pairs, coarser)
        identity = _identity(inputs, settings, pairs, beginning.digests, threads, development)
        engine_of = _engines(
            [beginning.encoder, *(_encoder_of_cut(cut, inputs, begin, threads) for cut in coarser)],
            settings,
            partial(
                build_engine,
                workers=workers,
                device=device,
                anchors=beginning.anchors,
                steps=_steps(settings, pairs.n_trained),
            ),
        )
        # Free the memory of its encoder, since the fused engine has its own copy of the parameters.
        del beginning
        checkpoints = Checkpoints(output / CHECKPOINTS, identity=identity)
        run = TrainingRun([pairs, *coarser], settings, workers, engine_of, checkpoints, started=started)
        report = Report(
            checkpoints.folder / HISTORY,
            run.progress,
            n_pairs=pairs.n_trained,
            epochs=settings.all_epochs,
            name="/".join(output.parts[-2:]),
        )
        with closing(report):
            weights = run.finish(
                report,
                partial(model.score, development=development) if development else None,
                every=_epochs_between_scores(settings, development),
                seconds_between_checkpoints=60 * watching.checkpoint_minutes,
            )
        model.files(weights).write(output)
    with atomic_output(output / HISTORY) as temporary:
        shutil.copyfile(checkpoints.folder / HISTORY, temporary)
    shutil.rmtree(checkpoints.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Model:
    """The model that a run trains, as files, whichever cut of the text its parameters were trained on.

    Attributes:
        files_of: makes the files from parameters and from entries of `config.json`.
        config: these entries.
        dimension: dimension of its vectors.
        pairs: the pairs as they are.
        coarser: the pairs in the smaller vocabularies, which are the cuts from number 1 on.
    """

    files_of: Callable[[Weights, Mapping[str, Any]], Any]
    config: Mapping[str, Any]
    dimension: int
    pairs: PairDataset
    coarser: "Sequence[CoarserPairs]"

    def files(self, trained: Sequence[Weights]) -> Any:
        """The files of the model, from the parameters that were trained on each cut."""
        weights = trained[0]
        if len(trained) > 1:
            from paraphrastic_pipeline.training.coarser import join_tables

            tables = [self._unfolded(weights, cut)[_TABLE] for cut, weights in enumerate(trained)]
            weights = {_TABLE: join_tables(tables, self.pairs, self.dimension)}
        return self.files_of(weights, self.config)

    def score(self, weights: Weights, cut: int, *, development: Development) -> float:
        """Score parameters that were trained on a cut."""
        return development.score(self.files_of(self._unfolded(weights, cut), self.config))

    def _unfolded(self, weights: Weights, cut: int) -> Weights:
        """The parameters of a cut as rows of the model's own pieces."""
        return {_TABLE: self.coarser[cut - 1].fold(weights[_TABLE])} if cut else weights


def _prepare_torch(settings: TrainingSettings, architecture: Architecture, threads: int) -> None:
    """Give torch its threads, and let it refuse what is not deterministic if the run is to be exact."""
    torch.set_num_threads(threads if settings.engine == "autograd" else 1)
    # `DeviceEngine` is deterministic by itself, and this mode would slow it down.
    # `use_deterministic_algorithms` sets the same mode, but first imports torch's compiler.
    # Some of a Transformer's kernels on a GPU have no deterministic form.
    exact = settings.device == "cpu" or (settings.engine == "autograd" and not architecture.transformer)
    torch.set_deterministic_debug_mode("error" if exact else "default")


def _config(
    inputs: TrainingInputs, settings: TrainingSettings, pairs: int, words: Mapping[str, int]
) -> dict[str, Any]:
    """The entries of `config.json`; `words` counts those that begin with a vector, if any do."""
    counted = {"initial_vectors": words} if words else {}
    return {**inputs.config, "training": asdict(settings), "pairs": pairs, **counted}


def _encoder_of_cut(cut: "CoarserPairs", inputs: TrainingInputs, begin: Begin, threads: int) -> nn.Module:
    """The encoder that training on a coarser cut begins with."""
    with TemporaryDirectory() as folder:
        model = Path(folder, "sentencepiece.model")
        model.write_bytes(cut.model)
        return begin(cut, replace(inputs, sentencepiece=[model]), threads).encoder


def _engines(
    encoders: list[nn.Module],
    settings: TrainingSettings,
    build: Callable[[nn.Module, TrainingSettings], Engine | DeviceEngine],
) -> Callable[[int], Engine | DeviceEngine]:
    """The function that makes the engine of each training, by number, from the encoders of the cuts."""
    # Engines and files change the encoder, so trainings that begin with the same one need copies of it.
    several = settings.soup > 1 or len(encoders) > 1
    begun = [copy.deepcopy(encoders[0]) if several else encoders[0], *encoders[1:]]

    def engine_of(training: int) -> Engine | DeviceEngine:
        encoder = copy.deepcopy(begun[training // settings.soup]) if several else begun.pop()
        return build(encoder, replace(settings, seed=settings.seed + training * SEEDS))

    return engine_of


def _epochs_between_scores(settings: TrainingSettings, development: Development | None) -> float:
    """How many epochs lie between one score and the next."""
    if settings.early_stopping:
        return settings.early_stopping.every
    return development.every if development else 1.0


def _settled(settings: TrainingSettings, architecture: Architecture) -> TrainingSettings:
    """The settings with the engine, the device and the precisions that they stand for here."""
    kind = choose_device(settings.device, key="training.device")
    if kind == "cpu" and not has_instructions(settings.mining_precision):
        log.warning(
            "training.mining_precision: this processor has no instructions for %s, so `leading` is faster",
            settings.mining_precision,
        )
    settings = replace(
        settings,
        engine=choose_engine(settings, architecture),
        device=kind,
        mining_precision=precision_on(kind, settings.mining_precision),
        precision=choose_precision(settings.precision, kind),
    )
    if architecture.averaged and (init_std := architecture.parts[0].init_std) is not None:
        # `config.json` may describe no parts, so its settings say what the embeddings began with.
        return replace(settings, init_std=init_std)
    return settings


def _steps(settings: TrainingSettings, pairs: int) -> int:
    """The number of steps on so many pairs; if they are too few for the mega-batch, there is a warning."""
    steps = settings.epochs * math.ceil(pairs / settings.batch_size)
    reached = megabatch_size(steps, settings)
    if settings.epochs and reached < settings.megabatch:
        log.warning("M grows only to %d instead of %d in %d mini-batches", reached, settings.megabatch, steps)
    return steps


def _identity(
    inputs: TrainingInputs,
    settings: TrainingSettings,
    pairs: PairDataset,
    digests: Mapping[str, str],
    threads: int,
    development: Development | None,
) -> str:
    """A digest of everything that the trained parameters depend on.

    `digests` are those of the files that the parameters begin with. None stands for what does not matter.
    """
    others = {
        "architecture": inputs.architecture.to_json(),
        "code": code_version(f"{__name__}.{train_model.__name__}"),
        **pairs.digests,
        **digests,
        # The number of threads decides the order of sums.
        "threads": threads if settings.engine == "autograd" else None,
        "development": [*map(sha256, development.data)] if settings.early_stopping and development else None,
    }
    counted = {key: value for key, value in others.items() if value is not None}
    return hashlib.sha256(json.dumps({**asdict(settings), **counted}, sort_keys=True).encode()).hexdigest()


def coarser_cuts(inputs: TrainingInputs) -> "list[CoarserPairs]":
    """The pairs in each of the smaller vocabularies that the settings ask for; none without training."""
    if not inputs.settings.coarser or not inputs.settings.epochs:
        return []
    # Imported here, since the libraries for it take a second.
    from paraphrastic_pipeline.training.coarser import CoarserPairs

    processor = load_sentencepiece(*inputs.sentencepiece)
    return [CoarserPairs(inputs.dataset, processor, size) for size in inputs.settings.coarser]


def choose_engine(settings: TrainingSettings, architecture: Architecture) -> EngineName:
    """Choose the engine that the settings ask for; `auto` is `fused` if that can train the encoder."""
    fused = settings.trains_fused(architecture)
    if settings.engine == "fused" and not fused:
        raise ValueError("the fused engine trains one averaged part with the margin loss and no penalty")
    return "fused" if fused else "autograd"


def build_engine(
    encoder: nn.Module,
    settings: TrainingSettings,
    workers: Workers,
    *,
    device: torch.device = CPU,
    anchors: Mapping[str, Tensor] | None = None,
    steps: int,
) -> Engine | DeviceEngine:
    """Build the engine that the settings name, `fused` or `autograd`, on `device`.

    `anchors` maps names of parameters to the values that the penalty pulls them towards. A learning rate that
    falls does so over `steps`, the steps of the whole run.
    """
    if settings.engine == "autograd":
        return AutogradEngine(encoder, settings, device=device, anchors=anchors, steps=steps)
    table = encoder.get_parameter(_TABLE).detach()
    if device.type == "cpu":
        return FusedEngine(table, settings, workers, steps=steps)
    return DeviceEngine(table, settings, device, steps=steps)
