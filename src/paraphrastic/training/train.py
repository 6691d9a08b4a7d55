"""The training loop."""

import hashlib
import json
import logging
import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import sentencepiece
import torch
from torch import Tensor

from paraphrastic.base.code_version import code_version
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, sha256
from paraphrastic.base.threads import Workers
from paraphrastic.config.architecture import Architecture
from paraphrastic.model.files import ModelFiles
from paraphrastic.training.batches import MegaBatch, megabatches
from paraphrastic.training.checkpoint import Checkpoints, Progress
from paraphrastic.training.dataset import PairDataset, Sentences
from paraphrastic.training.device.engine import DeviceEngine
from paraphrastic.training.device.selection import choose_device, held_device
from paraphrastic.training.encoder import (
    TrainableEncoder,
    initial_encoder,
    scale_by_frequency,
    use_word_vectors,
)
from paraphrastic.training.engine import Engine, build_engine, choose_engine
from paraphrastic.training.model_files import model_files
from paraphrastic.training.negative_mining import hardest_negatives, hardest_on_device
from paraphrastic.training.progress import HISTORY, Report
from paraphrastic.training.settings import TrainingSettings
from paraphrastic.training.vocabulary import load_sentencepiece

log = logging.getLogger(__name__)

CHECKPOINTS = "checkpoints"
# Prefix of the best parameters among the tensors of a checkpoint, if training stops early.
BEST = "best."
LINES_AN_EPOCH = 100

Float32 = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Weights = Mapping[str, Float32]
Score = Callable[[Weights], float]
Processors = dict[str, list[sentencepiece.SentencePieceProcessor]]


@dataclass(frozen=True, slots=True)
class Development:
    """How a model is scored while it is trained, and on which data; a higher score is better."""

    score: Callable[[ModelFiles, Path], float]
    data: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInputs:
    """What a model is trained from.

    Attributes:
        dataset: HDF5 file of `encode_dataset`.
        sentencepiece: the models that `dataset` was encoded with, in the order of units and languages.
        vectors: text file with the word vectors that tables of words begin with.
        settings: hyperparameters.
        architecture: that of the encoder.
        config: entries of the model's `config.json` beside those about training.
    """

    dataset: Path
    sentencepiece: Sequence[Path]
    vectors: Path | None = None
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
        """From the input files and the parameters of a rule; `vectors` are none or one file."""
        return cls(
            dataset=Path(files["dataset"]),
            sentencepiece=[Path(model) for model in files["sentencepiece"]],
            vectors=next(map(Path, files["vectors"]), None),
            settings=TrainingSettings(**settings),
            architecture=Architecture.from_json(architecture),
            config=about,
        )


def train_model(
    inputs: TrainingInputs,
    output: Path,
    *,
    threads: int,
    development: Development | None = None,
    checkpoint_minutes: float = 10.0,
    tensorboard: bool = False,
) -> None:
    """Train a model and write its folder to `output`, with the history of the run (`training.progress`).

    A run that was killed and is started again with the same data and settings goes on from its last
    checkpoint. It ends in the same parameters as one that was never interrupted. A GPU ends in other digits
    than a processor, so that neither uses a checkpoint of the other. Neither the number of
    checkpoints nor scores that are only shown change the parameters.

    Args:
        inputs: what the model is trained from.
        output: folder of the model.
        threads: their number changes no digit with the fused engine, and the last digits with autograd.
        development: scored after each epoch to be shown, or as `settings.early_stopping` says.
        checkpoint_minutes: time between checkpoints; there is one after each epoch, too.
        tensorboard: whether the history is written to `output/tensorboard` as well.
    """
    settings, architecture = inputs.settings, inputs.architecture
    if settings.early_stopping and not development:
        raise ValueError("early stopping needs development data")
    kind = choose_device(settings.device)
    settings = replace(settings, engine=choose_engine(settings, architecture), device=kind)
    torch.set_num_threads(threads if settings.engine == "autograd" else 1)
    # `DeviceEngine` has no operation with more than one result, and would be slower.
    torch.use_deterministic_algorithms(kind == "cpu" or settings.engine == "autograd")
    with (
        PairDataset(inputs.dataset) as pairs,
        closing(Workers(threads)) as workers,
        held_device(kind) as device,
    ):
        if not len(pairs):
            raise InputError(f"{inputs.dataset}: there are no pairs in it")
        processors = _processors(pairs, inputs)
        encoder, anchors, found = _initial(pairs, processors, inputs)
        steps = settings.epochs * math.ceil(len(pairs) / settings.batch_size)
        reached = 1 + steps // settings.megabatch_anneal
        if settings.epochs and reached < settings.megabatch:
            log.warning(
                "M grows to %d only, not to %d, in %d mini-batches", reached, settings.megabatch, steps
            )
        engine = build_engine(encoder, settings, workers, device=device, anchors=anchors, steps=steps)
        # The fused engine has its own copy of the parameters.
        del encoder, anchors
        config = {**inputs.config, "training": asdict(settings), "pairs": len(pairs)}
        # All that the run's parameters depend on.
        identity = {**asdict(settings), "architecture": architecture.to_json()}
        identity |= {"code": code_version(__name__), "pairs": sha256(pairs.path)}
        if inputs.vectors:
            config["initial_vectors"] = found
            identity["initial_vectors"] = sha256(inputs.vectors)
        if settings.engine == "autograd":
            # Another number of threads sums in another order.
            identity["threads"] = threads
        if settings.early_stopping and development:
            identity["development"] = sha256(development.data)

        def files_of(weights: Weights) -> ModelFiles:
            return model_files(
                weights, pairs.units, processors, architecture, config, dimension=settings.dimension
            )

        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        checkpoints = Checkpoints(output / CHECKPOINTS, identity=digest)
        run = _Run(pairs, settings, workers, engine, checkpoints)
        report = Report(
            checkpoints.folder / HISTORY,
            run.progress,
            n_pairs=len(pairs),
            epochs=settings.epochs,
            name="/".join(output.parts[-2:]),
            tensorboard=output / "tensorboard" if tensorboard else None,
        )
        with closing(report):
            weights = run.finish(
                report,
                (lambda own: development.score(files_of(own), development.data)) if development else None,
                seconds_between_checkpoints=60 * checkpoint_minutes,
            )
        files_of(weights).write(output)
    with atomic_output(output / HISTORY) as temporary:
        shutil.copyfile(checkpoints.folder / HISTORY, temporary)
    checkpoints.remove()


def untrained_model(inputs: TrainingInputs) -> ModelFiles:
    """The model that `train_model` starts from, with the same random parameters."""
    with PairDataset(inputs.dataset) as pairs:
        processors = _processors(pairs, inputs)
        encoder, *_ = _initial(pairs, processors, inputs)
        weights = {name: value.detach().numpy() for name, value in encoder.named_parameters()}
        dimension = inputs.settings.dimension
        return model_files(
            weights, pairs.units, processors, inputs.architecture, inputs.config, dimension=dimension
        )


def _initial(
    pairs: PairDataset, processors: Processors, inputs: TrainingInputs
) -> tuple[TrainableEncoder, dict[str, torch.Tensor], dict[str, int]]:
    """The encoder before training, the tables that began with word vectors, and how many words had one."""
    encoder = initial_encoder(pairs.units, inputs.settings, inputs.architecture)
    if inputs.settings.init_sif is not None:
        scale_by_frequency(encoder, pairs.counts(), inputs.settings.init_sif)
    if inputs.vectors is None:
        return encoder, {}, {}
    return encoder, *use_word_vectors(encoder, inputs.vectors, pairs.units, processors, inputs.architecture)


def _processors(pairs: PairDataset, inputs: TrainingInputs) -> Processors:
    """The sentencepiece models by unit, after a check that the data were encoded with them."""
    if tuple(unit.unit for unit in pairs.units) != inputs.architecture.units:
        raise InputError(f"{pairs.path}: was not encoded in {' and '.join(inputs.architecture.units)}")
    expected = [digest for unit in pairs.units for digest in unit.sentencepiece_sha256]
    if [sha256(model) for model in inputs.sentencepiece] != expected:
        raise InputError(f"{pairs.path}: was not encoded with {' and '.join(map(str, inputs.sentencepiece))}")
    loaded = iter(load_sentencepiece(model) for model in inputs.sentencepiece)
    return {unit.unit: [next(loaded) for _ in unit.sentencepiece_sha256] for unit in pairs.units}


class _Run:
    """One training run, from its last checkpoint on."""

    def __init__(
        self,
        pairs: PairDataset,
        settings: TrainingSettings,
        workers: Workers,
        engine: Engine | DeviceEngine,
        checkpoints: Checkpoints,
    ) -> None:
        self.pairs = pairs
        self.settings = settings
        self.workers = workers
        self.checkpoints = checkpoints
        self.engine = engine
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}
        if found := checkpoints.load():
            self.progress, state = found
            for key in [key for key in state if key.startswith(BEST)]:
                self.best[key.removeprefix(BEST)] = state.pop(key)
            self.engine.restore(state)
        self.seconds_before = self.progress.seconds
        self.started = self.last_checkpoint = time.monotonic()

    def finish(self, report: Report, score: Score | None, *, seconds_between_checkpoints: float) -> Weights:
        """Train the rest of the run and return the parameters by name.

        `score` scores parameters on the development data; it is None if there are none.
        """
        progress = self.progress
        while progress.epoch < self.settings.epochs and not self._stopped():
            epoch = progress.epoch
            read = {"pairs_read": progress.pairs_read, "batches_read": progress.batches_read}
            for megabatch in megabatches(self.pairs, self.settings, epoch=epoch, **read):
                self._train_megabatch(megabatch, report)
                self._tell(megabatch, report, score)
                waited = time.monotonic() - self.last_checkpoint
                if progress.epoch > epoch or waited >= seconds_between_checkpoints:
                    self._save()
                if self._stopped():
                    break
        if self.best:
            return {name: tensor.numpy() for name, tensor in self.best.items()}
        return self.engine.weights()

    def _train_megabatch(self, megabatch: MegaBatch, report: Report) -> None:
        progress, size = self.progress, self.settings.batch_size
        sentences = Sentences.concatenate([megabatch.source, megabatch.target])
        n = len(megabatch)
        batches = np.split(np.arange(n), range(size, n, size))
        for pairs, loss in zip(batches, self._losses(sentences, batches), strict=True):
            if not np.isfinite(loss):
                raise self._not_finite(f"the loss is {loss}")
            progress.batches_read += 1
            progress.pairs_read += len(pairs)
            progress.epoch_loss += loss * len(pairs)
            progress.line_loss += loss * len(pairs)
            progress.line_pairs += len(pairs)
            report.step(len(pairs))

    def _losses(self, sentences: Sentences, batches: Sequence[Rows]) -> Iterator[float]:
        """Train on the mini-batches of a mega-batch and yield the loss of each."""
        if isinstance(self.engine, DeviceEngine):
            losses, with_negative = self.engine.train(sentences)
            self.progress.with_negative += with_negative
            yield from losses
            return
        negatives = self._mine(sentences)
        self.progress.with_negative += int((negatives >= 0).sum())
        for pairs in batches:
            yield self._step(self.engine, sentences, negatives, pairs, n_pairs=len(sentences) // 2)

    def _mine(self, sentences: Sentences) -> Rows:
        """Negatives of all sentences of a mega-batch, by the present parameters without dropout."""
        vectors, fingerprints = self.engine.embed(sentences), sentences.fingerprints()
        if vectors.is_cuda:
            ids = torch.from_numpy(fingerprints).to(vectors.device)
            return hardest_on_device(vectors, ids, **self.settings.negative_search).cpu().numpy()
        return hardest_negatives(vectors, fingerprints, self.workers, **self.settings.negative_search)

    def _step(
        self, engine: Engine, sentences: Sentences, negatives: Rows, pairs: Rows, *, n_pairs: int
    ) -> float:
        """One mini-batch of the mega-batch; its loss."""
        own = np.concatenate([pairs, pairs + n_pairs])
        chosen = negatives[own]
        valid = chosen >= 0
        # A sentence without a negative is its own; its term of the loss is masked.
        chosen = np.concatenate([own, np.where(valid, chosen, own)])
        return engine.step(sentences, chosen, valid.reshape(2, -1))

    def _tell(self, megabatch: MegaBatch, report: Report, score: Score | None) -> None:
        """Score the model and write to the history if that is due after a mega-batch; end the epoch."""
        progress, n = self.progress, len(self.pairs)
        done = progress.epoch * n + progress.pairs_read
        before = done - len(megabatch)
        end_of_epoch = progress.pairs_read == n
        stopping = self.settings.early_stopping
        every = stopping["every"] * n if stopping else n
        last = end_of_epoch and progress.epoch + 1 == self.settings.epochs
        # The small number makes up for rounding in a sum of tenths.
        due = last or int(done / every + 1e-9) > int(before / every + 1e-9)
        scored = score is not None and due and self._score(score)
        progress.seconds = self.seconds_before + time.monotonic() - self.started
        report.show(progress, megabatch=megabatch.size, end_of_epoch=end_of_epoch)
        if scored or done * LINES_AN_EPOCH // n > before * LINES_AN_EPOCH // n:
            report.line(progress, megabatch=megabatch.size, scored=scored)
            progress.line_loss, progress.line_pairs, progress.line_seconds = 0.0, 0, progress.seconds
        if end_of_epoch:
            if not progress.with_negative:
                log.warning(
                    "%s: no sentence had a negative in epoch %d, so that nothing was learned",
                    self.pairs.path,
                    progress.epoch + 1,
                )
            progress.epoch += 1
            progress.pairs_read, progress.epoch_loss, progress.with_negative = 0, 0.0, 0

    def _score(self, score: Score) -> bool:
        """Score the present parameters and keep the best ones; return whether there is a score."""
        progress, weights = self.progress, self.engine.weights()
        try:
            value = score(weights)
        except InputError as error:
            if self.settings.early_stopping:
                raise
            # The score would only be shown.
            log.warning("no score: %s", error)
            return False
        progress.development = value
        if self.settings.early_stopping:
            if progress.best is None or value > progress.best:
                progress.best, progress.since_best = value, 0
                self.best = {name: torch.from_numpy(array) for name, array in weights.items()}
            else:
                progress.since_best += 1
            if self._stopped():
                log.info("stopped: %d scores were not above %.2f", progress.since_best, progress.best)
        return True

    def _stopped(self) -> bool:
        stopping = self.settings.early_stopping
        return stopping is not None and self.progress.since_best >= stopping["patience"]

    def _save(self) -> None:
        state = self.engine.state()
        for tensor in state.values():
            if tensor.is_floating_point() and not tensor.sum(dtype=torch.float64).isfinite():
                raise self._not_finite("the parameters are not finite")
        state |= {BEST + name: tensor for name, tensor in self.best.items()}
        self.checkpoints.save(state, self.progress)
        self.last_checkpoint = time.monotonic()

    def _not_finite(self, what: str) -> InputError:
        batch = self.progress.pairs_read // self.settings.batch_size + 1
        return InputError(
            f"{self.pairs.path}: {what} in epoch {self.progress.epoch + 1}, mini-batch {batch}: lower "
            f"training.learning_rate ({self.settings.learning_rate})"
        )
