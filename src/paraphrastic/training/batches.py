"""Mini-batches, gathered into mega-batches whose size is annealed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paraphrastic.training.dataset import PairDataset, Sentences
from paraphrastic.training.settings import TrainingSettings


@dataclass(frozen=True, slots=True)
class MegaBatch:
    """Pairs among which negatives are looked for; mini-batches are its consecutive slices."""

    source: Sentences
    target: Sentences
    size: int
    """The number M of mini-batches that it was to hold; the last of an epoch may hold fewer."""

    def __len__(self) -> int:
        return len(self.source)


def megabatch_size(batches_read: int, settings: TrainingSettings) -> int:
    """M after so many mini-batches: 1, and 1 more for each `megabatch_anneal` of them, up to `megabatch`."""
    return min(settings.megabatch, 1 + batches_read // settings.megabatch_anneal)


def megabatches(
    dataset: PairDataset, settings: TrainingSettings, *, epoch: int, pairs_read: int = 0, batches_read: int
) -> Iterator[MegaBatch]:
    """One epoch of mega-batches, or what is left of it after a mega-batch.

    The order depends on the seed and the epoch (from 0) alone, so that an epoch can be repeated after a kill.
    Only the last mini-batch of the epoch can be shorter than `batch_size`; none is empty. `pairs_read` are
    the first pairs of the epoch, which are left out; `batches_read` are the mini-batches of the whole run.
    """
    generator = np.random.default_rng([settings.seed, epoch])
    waiting: list[tuple[Sentences, Sentences]] = []
    n_waiting = 0
    for block in dataset.shuffled(generator, window=settings.shuffle_window, skip=pairs_read):
        waiting.append(block)
        n_waiting += len(block[0])
        start = 0
        size = megabatch_size(batches_read, settings)
        if n_waiting < size * settings.batch_size:
            continue
        source, target = _joined(waiting)
        while (stop := start + size * settings.batch_size) <= n_waiting:
            yield MegaBatch(source.part(start, stop), target.part(start, stop), size)
            start = stop
            batches_read += size
            size = megabatch_size(batches_read, settings)
        n_waiting -= start
        waiting = [(source.part(start, len(source)), target.part(start, len(target)))]
    if n_waiting:
        yield MegaBatch(*_joined(waiting), megabatch_size(batches_read, settings))


def _joined(blocks: list[tuple[Sentences, Sentences]]) -> tuple[Sentences, Sentences]:
    source, target = (Sentences.concatenate(list(side)) for side in zip(*blocks, strict=True))
    return source, target
