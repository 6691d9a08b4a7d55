"""The training loop: the mega-batches of a run, its steps, scores and checkpoints."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import cast

import numpy as np
import torch
from torch import Tensor

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.batches import same_meaning, without_repetitions
from paraphrastic_pipeline.training.checkpoint import Checkpoints, Progress
from paraphrastic_pipeline.training.device.engine import DeviceEngine
from paraphrastic_pipeline.training.fingerprints import fingerprints
from paraphrastic_pipeline.training.fused import FusedEngine
from paraphrastic_pipeline.training.history import Report
from paraphrastic_pipeline.training.negative_mining import hardest_negatives
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers

log = logging.getLogger(__name__)

# With early stopping, a checkpoint also holds the best parameters, under names with this prefix.
BEST = "best."
# If there are several trainings, it holds the sums of the parameters of those that are done, by cut and name.
SOUP = "soup."
LINES_AN_EPOCH = 100

# Engines that take mini-batches; `DeviceEngine` takes whole mega-batches. All three hold the parameters and
# the optimizer of a run, embed sentences, return copies of the parameters (`weights`), and save and restore
# their state. Asking for weights or state does not change a digit of what follows.
Engine = FusedEngine | AutogradEngine
Indices = Int64
Weights = Mapping[str, Float32]
# Scores parameters that were trained on a cut of the text, by number.
Score = Callable[[Weights, int], float]


def megabatch_size(batches_read: int, settings: TrainingSettings) -> int:
    """M after `batches_read` mini-batches: 1, plus 1 per `megabatch_anneal` of them, up to `megabatch`.

    If `megabatch_anneal` is 0, or nothing is mined, M is `megabatch` from the first mini-batch.
    """
    if not settings.megabatch_anneal or settings.loss != "margin":
        return settings.megabatch
    return min(settings.megabatch, 1 + batches_read // settings.megabatch_anneal)


def megabatches(
    dataset: PairDataset, settings: TrainingSettings, *, epoch: int, pairs_read: int = 0, batches_read: int
) -> Iterator[tuple[Sentences, int]]:
    """Yield the mega-batches of an epoch, or those that are left of it.

    The order depends only on the seed and the epoch (from 0), so an interrupted epoch can be repeated. Only
    the last mini-batch of the epoch can be shorter than `batch_size`; none is empty. The first `pairs_read`
    pairs of the epoch are left out. `batches_read` counts the mini-batches of the whole run.

    Yields:
        The sentences of a mega-batch, first the sources and then the targets. Negatives are sought among
        them, and consecutive slices of the pairs are the mini-batches. With them comes M, the intended number
        of mini-batches; the last mega-batch of an epoch may hold fewer.
    """
    generator = np.random.default_rng([settings.seed, epoch])
    waiting: list[tuple[Sentences, ...]] = []
    n_waiting = 0
    for block in dataset.shuffled(generator, window=settings.shuffle_window, skip=pairs_read):
        waiting.append(block)
        n_waiting += len(block[0])
        size = megabatch_size(batches_read, settings)
        if n_waiting < size * settings.batch_size:
            continue
        sides = [Sentences.concatenate(list(side)) for side in zip(*waiting, strict=True)]
        start = 0
        while (stop := start + size * settings.batch_size) <= n_waiting:
            yield Sentences.concatenate([side.part(start, stop) for side in sides]), size
            start = stop
            batches_read += size
            size = megabatch_size(batches_read, settings)
        waiting = [tuple(side.part(start, n_waiting) for side in sides)]
        n_waiting -= start
    if n_waiting:
        rest = chain(*zip(*waiting, strict=True))
        yield Sentences.concatenate(list(rest)), megabatch_size(batches_read, settings)


class TrainingRun:
    """One training run, which continues from its last checkpoint if there is one.

    With `settings.soup`, it is several trainings one after the other, each of `settings.epochs` epochs. They
    begin with the same parameters and differ in the order of the pairs and in dropout. The result is the mean
    of their parameters (Wortsman et al. 2022, *Model soups*). For each coarser cut of the text, as many
    follow. `cuts` are the pairs as they are and in these cuts, and `engine_of` makes the engine of each
    training by number.
    """

    def __init__(
        self, cuts: Sequence[PairDataset], settings: TrainingSettings, workers: Workers,
        engine_of: Callable[[int], Engine | DeviceEngine], checkpoints: Checkpoints, *,
        started: float | None = None,
    ) -> None:  # fmt: skip
        self.cuts, self.settings, self.workers, self.engine_of = cuts, settings, workers, engine_of
        self.checkpoints = checkpoints
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}
        self.soup: dict[str, Tensor] = {}
        self.last_told = self.last_checkpoint = time.monotonic()
        checkpoint = checkpoints.load()
        if checkpoint:
            self.progress, state = checkpoint
        self.engine = engine_of(self._training)
        if checkpoint:
            for prefix, kept in ((BEST, self.best), (SOUP, self.soup)):
                for key in [key for key in state if key.startswith(prefix)]:
                    kept[key.removeprefix(prefix)] = state.pop(key)
            self.engine.restore(state)
        elif started is not None:
            # Only once, since a run that continues has these seconds in its progress.
            self.last_told = started

    def finish(
        self, report: Report, score: Score | None, *, every: float = 1.0, seconds_between_checkpoints: float
    ) -> list[Weights]:
        """Train the rest of the run and return the parameters of each cut by name.

        `score` scores parameters on the development data; it is None if there are none. `every` is the number
        of epochs from one score to the next.
        """
        progress = self.progress
        while progress.epoch < self.settings.all_epochs and not self._stopped():
            epoch, training = progress.epoch, self._training
            before = training * self.settings.epochs * -(-self.pairs.n_trained // self.settings.batch_size)
            read = {"pairs_read": progress.pairs_read, "batches_read": progress.batches_read - before}
            for sentences, megabatch in megabatches(self.pairs, self.settings, epoch=epoch, **read):
                before = progress.pairs_read
                self._train_megabatch(sentences, report)
                self._tell(report, score, every=every, before=before, megabatch=megabatch)
                if self._training > training:
                    self._add_to_soup(training)
                    self.engine = self.engine_of(self._training)
                waited = time.monotonic() - self.last_checkpoint
                if progress.epoch > epoch or waited >= seconds_between_checkpoints:
                    self._save()
                if self._stopped():
                    break
        if self.best:
            return [{name: tensor.numpy() for name, tensor in self.best.items()}]
        if not self.soup:
            return [self.engine.weights()]
        self._add_to_soup(self._training)
        return [
            {
                name.removeprefix(f"{cut}."): (tensor / self.settings.soup).numpy()
                for name, tensor in self.soup.items()
                if name.startswith(f"{cut}.")
            }
            for cut in range(len(self.cuts))
        ]

    @property
    def _training(self) -> int:
        """The number of the current training, from 0; the last one stays the current one."""
        trainings = self.settings.soup * len(self.cuts)
        return min(self.progress.epoch // max(1, self.settings.epochs), trainings - 1)

    @property
    def _cut(self) -> int:
        """The number of the cut that the current training reads."""
        return self._training // self.settings.soup

    @property
    def pairs(self) -> PairDataset:
        """The pairs that the current training reads."""
        return self.cuts[self._cut]

    def _add_to_soup(self, training: int) -> None:
        for key, array in self.engine.weights().items():
            name, added = f"{training // self.settings.soup}.{key}", torch.from_numpy(array)
            self.soup[name] = self.soup[name] + added if name in self.soup else added

    def _train_megabatch(self, sentences: Sentences, report: Report) -> None:
        progress, size, n = self.progress, self.settings.batch_size, len(sentences) // 2
        batches = np.split(np.arange(n), range(size, n, size))
        if self.settings.loss == "multiple_negatives":
            batches = without_repetitions(sentences, size)
        for pairs, loss in zip(batches, self._losses(sentences, batches), strict=True):
            if not np.isfinite(loss):
                raise self._not_finite(f"the loss is {loss}")
            progress.batches_read += 1
            progress.pairs_read += len(pairs)
            progress.epoch_loss += loss * len(pairs)
            progress.line_loss += loss * len(pairs)
            progress.line_pairs += len(pairs)
            report.step(len(pairs))

    def _losses(self, sentences: Sentences, batches: Sequence[Indices]) -> Iterator[float]:
        """Train on the mini-batches of a mega-batch and yield the loss of each."""
        if isinstance(self.engine, DeviceEngine):
            losses, with_negative = self.engine.train(sentences)
            self.progress.with_negative += with_negative
            yield from losses
            return
        if self.settings.loss == "cosines":
            # Every sentence counts, and none is a negative.
            self.progress.with_negative += len(sentences)
        negatives = self._mine(sentences) if self.settings.loss == "margin" else None
        for pairs in batches:
            yield self._step(self.engine, sentences, negatives, pairs)

    def _mine(self, sentences: Sentences) -> Indices:
        """Find the negatives of a mega-batch's sentences with the current parameters, without dropout."""
        vectors, search = self.engine.embed(sentences), self.settings.negative_search
        groups = sentences.pair_groups
        return hardest_negatives(vectors, fingerprints(sentences), self.workers, groups=groups, **search)

    def _step(self, engine: Engine, sentences: Sentences, negatives: Indices | None, pairs: Indices) -> float:
        """Train on one mini-batch of the mega-batch and return its loss.

        Without `negatives`, and without a teacher, the other targets of the mini-batch are the negatives of
        each source.
        """
        places = np.concatenate([pairs, pairs + len(sentences) // 2])
        # Only this engine is built for the losses without mined negatives.
        autograd = cast(AutogradEngine, engine)
        if self.settings.loss == "cosines":
            return autograd.step_of_teacher(sentences, places)
        if negatives is None:
            barred = same_meaning(sentences.take(places))
            # A source's own target is not barred, and is no negative either.
            self.progress.with_negative += int(((~barred).sum(axis=1) > 1).sum())
            return autograd.step_in_batch(sentences, places, barred)
        chosen = negatives[places]
        valid = chosen >= 0
        self.progress.with_negative += int(valid.sum())
        # A sentence without a negative gets itself as a placeholder; its term of the loss is masked.
        chosen = np.concatenate([places, np.where(valid, chosen, places)])
        return engine.step(sentences, chosen, valid.reshape(2, -1))

    def _tell(
        self, report: Report, score: Score | None, *, every: float, before: int, megabatch: int
    ) -> None:
        """After a mega-batch, score the model and write to the history if that is due; end a finished epoch.

        `before` is the number of pairs read in the epoch before the mega-batch, and `megabatch` is its M.
        """
        progress, n = self.progress, self.pairs.n_trained
        before, done = (progress.epoch * n + read for read in (before, progress.pairs_read))
        end_of_epoch = progress.pairs_read == n
        last = end_of_epoch and progress.epoch + 1 == self.settings.all_epochs
        # The small number offsets rounding errors if scores are, say, a tenth of an epoch apart.
        due = last or int(done / n / every + 1e-9) > int(before / n / every + 1e-9)
        progress.seconds += time.monotonic() - self.last_told
        scored = score is not None and due and self._score(score)
        # The time of a score is no time of training.
        self.last_told = time.monotonic()
        report.show(progress, megabatch=megabatch, end_of_epoch=end_of_epoch)
        if scored or done * LINES_AN_EPOCH // n > before * LINES_AN_EPOCH // n:
            report.line(progress, megabatch=megabatch, scored=scored)
            progress.line_loss, progress.line_pairs, progress.line_seconds = 0.0, 0, progress.seconds
        if end_of_epoch:
            if not progress.with_negative:
                message = "%s: no sentence had a negative in epoch %d, so nothing was learned"
                log.warning(message, self.pairs.path, progress.epoch + 1)
            progress.epoch += 1
            progress.pairs_read, progress.epoch_loss, progress.with_negative = 0, 0.0, 0

    def _score(self, score: Score) -> bool:
        """Score the current parameters and keep the best ones; return whether there is a score."""
        progress, weights = self.progress, self.engine.weights()
        try:
            value = score(weights, self._cut)
        except InputError as error:
            if self.settings.early_stopping:
                raise
            # The score would only be shown, so training goes on without it.
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
        return stopping is not None and self.progress.since_best >= stopping.patience

    def _save(self) -> None:
        state = self.engine.state()
        for tensor in state.values():
            if tensor.is_floating_point() and not tensor.sum(dtype=torch.float64).isfinite():
                raise self._not_finite("the parameters are not finite")
        state |= {BEST + name: tensor for name, tensor in self.best.items()}
        state |= {SOUP + name: tensor for name, tensor in self.soup.items()}
        self.checkpoints.save(state, self.progress)
        self.last_checkpoint = time.monotonic()

    def _not_finite(self, what: str) -> InputError:
        batch = self.progress.pairs_read // self.settings.batch_size + 1
        return InputError(
            f"{self.pairs.path}: {what} in epoch {self.progress.epoch + 1}, mini-batch {batch}: lower "
            f"training.learning_rate ({self.settings.learning_rate})"
        )
