"""The training loop."""

import logging
import time
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from paraphrastic.base.arrays import Bool, Int64
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training.checkpoint import Checkpoint, Progress
from paraphrastic_pipeline.training.engine import Engine, Weights
from paraphrastic_pipeline.training.history import History
from paraphrastic_pipeline.training.mining import mine
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.same_meaning import SameMeaning
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers

log = logging.getLogger(__name__)


def train(
    engine: Engine,
    pairs: PairDataset,
    settings: TrainingSettings,
    workers: Workers,
    checkpoint: Checkpoint,
    history: History,
    score: Callable[[Weights], float] | None = None,
) -> Weights:
    """Train until the epochs are over, or until early stopping, and return the parameters.

    The run continues from its checkpoint if there is one. `score` scores parameters; higher is better.

    Raises:
        InputError: the loss is not finite.
    """
    progress, best = checkpoint.load(engine)
    history.start(progress)
    while progress.epoch < settings.epochs and not _is_over(progress, settings):
        for sentences, megabatch in megabatches(pairs, settings, progress):
            started, before = time.monotonic(), progress.pairs_read
            negatives = None
            if settings.loss == "margin":
                same = SameMeaning.of(sentences, exclude_duplicates=settings.exclude_duplicates)
                negatives = mine(engine.embed(sentences), same, workers, **settings.negative_search)
            n = len(sentences) // 2
            batches = np.split(np.arange(n), range(settings.batch_size, n, settings.batch_size))
            losses = [engine.step(sentences, *_choose(sentences, negatives, places)) for places in batches]
            for loss, places in zip(map(float, losses), batches, strict=True):
                progress.add(loss, len(places))
                if not np.isfinite(loss):
                    batch = -(-progress.pairs_read // settings.batch_size)
                    raise InputError(
                        f"{pairs.path}: the loss is not finite in epoch {progress.epoch + 1}, mini-batch "
                        f"{batch}: lower training.learning_rate ({settings.learning_rate})"
                    )
            progress.seconds += time.monotonic() - started
            value = None
            if score is not None and _is_due(progress, before, pairs.n_trained, settings):
                weights = engine.weights()
                value = score(weights)
                if settings.early_stopping and progress.is_best(value):
                    best = weights
            history.add(progress, megabatch=megabatch, before=before, score=value)
            ends_epoch = progress.pairs_read == pairs.n_trained
            if ends_epoch:
                progress.epoch, progress.pairs_read = progress.epoch + 1, 0
            if ends_epoch or checkpoint.is_due():
                checkpoint.save(engine, best, progress)
            if _is_over(progress, settings):
                break
    return best or engine.weights()


def megabatches(
    pairs: PairDataset, settings: TrainingSettings, progress: Progress
) -> Iterator[tuple[Sentences, int]]:
    """Yield what is left of the mega-batches of an epoch.

    The order depends only on the seed and the epoch, so an interrupted epoch can be repeated. Only the last
    mini-batch of the epoch can be shorter than `batch_size`; none is empty.

    Yields:
        The sentences of a mega-batch, first the sources and then the targets. Negatives are sought among
        them, and consecutive slices of the pairs are the mini-batches. With them comes M, the intended number
        of mini-batches; the last mega-batch of an epoch may hold fewer.
    """
    generator = np.random.default_rng([settings.run_seed, progress.epoch])
    batches_read, n_waiting = progress.batches_read, 0
    waiting: list[tuple[Sentences, ...]] = []
    for block in pairs.shuffled(generator, window=settings.shuffle_window, skip=progress.pairs_read):
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


def megabatch_size(batches_read: int, settings: TrainingSettings) -> int:
    """M after `batches_read` mini-batches: 1, plus 1 per `megabatch_anneal` of them, up to `megabatch`.

    If `megabatch_anneal` is 0, or nothing is mined, M is `megabatch` from the first mini-batch.
    """
    if not settings.megabatch_anneal or settings.loss != "margin":
        return settings.megabatch
    return min(settings.megabatch, 1 + batches_read // settings.megabatch_anneal)


def _choose(sentences: Sentences, negatives: Int64 | None, pairs: Int64) -> tuple[Int64, Bool]:
    """The sentences of a mini-batch, and which negatives count; see `Engine.step`.

    Without mined `negatives`, the other targets of the mini-batch are the negatives of each source.
    """
    places = np.concatenate([pairs, pairs + len(sentences) // 2])
    if negatives is None:
        return places, ~SameMeaning.of(sentences.take(places)).matrix() | np.eye(len(pairs), dtype=np.bool_)
    chosen = negatives[places]
    valid = chosen >= 0
    # A sentence without a negative gets itself as a placeholder, whose term of the loss is zero.
    return np.concatenate([places, np.where(valid, chosen, places)]), valid.reshape(2, -1)


def _is_due(progress: Progress, before: int, n: int, settings: TrainingSettings) -> bool:
    """Whether a score is due after a mega-batch, before which `before` of the n pairs had been read."""
    every = settings.early_stopping.every if settings.early_stopping else 1.0
    last = progress.pairs_read == n and progress.epoch + 1 == settings.epochs
    # The small number offsets rounding errors if scores are, say, a tenth of an epoch apart.
    scores = [int((progress.epoch + read / n) / every + 1e-9) for read in (before, progress.pairs_read)]
    return last or scores[1] > scores[0]


def _is_over(progress: Progress, settings: TrainingSettings) -> bool:
    """Whether early stopping ends the run."""
    stopping = settings.early_stopping
    return stopping is not None and progress.since_best >= stopping.patience
