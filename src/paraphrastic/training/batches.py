"""Mini-batches, gathered into mega-batches whose size is annealed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paraphrastic.dataset import PairDataset, Sentences
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
    dataset: PairDataset, settings: TrainingSettings, *, epoch: int, batches_read: int
) -> Iterator[MegaBatch]:
    """One epoch of mega-batches.

    The order depends on the seed and the epoch alone, so that an epoch can be repeated after a kill.
    Only the last mini-batch of the epoch can be shorter than `batch_size`.
    """
    generator = np.random.default_rng([settings.seed, epoch])
    source, target = dataset.read(0, 0)
    for new_source, new_target in dataset.shuffled(generator, window=settings.shuffle_window):
        source = Sentences.concatenate([source, new_source])
        target = Sentences.concatenate([target, new_target])
        start = 0
        while True:
            size = megabatch_size(batches_read, settings)
            stop = start + size * settings.batch_size
            if stop > len(source):
                break
            yield MegaBatch(source.part(start, stop), target.part(start, stop), size)
            start = stop
            batches_read += size
        source, target = source.part(start, len(source)), target.part(start, len(target))
    if len(source):
        yield MegaBatch(source, target, megabatch_size(batches_read, settings))
