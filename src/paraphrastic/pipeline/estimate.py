"""What corpora of OPUS will cost: disk, memory and time, by the number of their pairs.

The time and memory of each step are those of `resources`. Sizes are of pairs of 12 words a side, measured on
the sample and on `config/small.yaml`; they follow from step to step, as MB written for each MB read.
"""

from collections.abc import Sequence

from paraphrastic.pipeline.resources import NEEDS, training_need, vocabulary_need
from paraphrastic.registry.opus import OpusCorpus

# Bytes of a pair, compressed as published, and merged.
ARCHIVE_BYTES, MERGED_BYTES = 40, 51
# An archive with fewer bytes a pair than this is not of so many pairs.
_ARCHIVE_LEAST = 20
# What merging has on the disk beside its output, in bytes for each pair that it reads.
MERGING_BYTES = 130
# MB that a step writes for each MB that it reads. The selection leaves out columns of scores; `ENCODED` is
# for 50,000 pieces.
EXTRACTED, SCORED, SELECTED, MERGED, ENCODED = 1.25, 1.08, 0.9, 1.08, 2.4
# What the estimate is for: the paper's model on all pairs, once.
_SETTINGS = {
    "dimension": 1024,
    "epochs": 1,
    "batch_size": 128,
    "megabatch": 60,
    "megabatch_anneal": 150,
    "dropout": 0.0,
    "shuffle_window": 1 << 20,
    "early_stopping": None,
}
_DEFINITION = {
    "encoder": {"parts": [{}]},
    "vocabulary": {"size": 50_000, "max_sentences": 10_000_000, "languages": "shared", "units": {}},
    "training": _SETTINGS,
}


def estimate(corpora: Sequence[OpusCorpus]) -> list[str]:
    """Lines that say what it takes to make training data of `corpora`, and to train on it.

    Corpora whose number of pairs OPUS does not say are named and left out.
    """
    known = [(corpus, corpus.pairs) for corpus in corpora if corpus.pairs]
    lines = []
    if unknown := [corpus.name for corpus in corpora if not corpus.pairs]:
        lines.append(f"not in the estimate, since OPUS does not say their size: {', '.join(unknown)}")
    if not known:
        return lines
    pairs = sum(number for _, number in known)
    archives = sum(archive_bytes(corpus) or 0 for corpus, _ in known) / 1e6
    names = ", ".join(f"{corpus.name} {corpus.version} {'-'.join(corpus.languages)}" for corpus, _ in known)
    read = pairs * ARCHIVE_BYTES / 1e6
    written, seconds = 0.0, 0.0
    for step, rate in (
        ("extract_corpus", EXTRACTED),
        ("score_pairs", SCORED),
        ("select_pairs", SELECTED),
        ("merge_pairs", MERGED),
        ("encode_dataset", ENCODED),
    ):
        seconds += NEEDS[step].of(read).seconds
        read *= rate
        written += read
    vocabulary = vocabulary_need(_DEFINITION, read / ENCODED)
    training = training_need(_DEFINITION, _SETTINGS, read)
    merging = pairs * MERGING_BYTES / 1e6
    return [
        *lines,
        f"estimate for {names}: {pairs:,} pairs",
        f"  disk    {size(archives)} to download, {size(archives + written)} in all, "
        f"and {size(merging)} more in merging",
        f"  memory  {size(vocabulary.mb)} for the vocabulary, {size(training.mb)} in training, 1 GB before",
        f"  time    {duration(seconds + vocabulary.seconds)} of one core to training data, "
        f"{duration(training.seconds)} an epoch of training",
        "  if no filter drops a pair; by rates for sentences of 12 words, 1024 dimensions and 50,000 pieces",
    ]


def archive_bytes(corpus: OpusCorpus) -> int | None:
    """Size of a corpus's archive; by its pairs where the list has none, or one that cannot be true."""
    if corpus.pairs is None:
        return corpus.size
    if corpus.size is None or corpus.size < corpus.pairs * _ARCHIVE_LEAST:
        return corpus.pairs * ARCHIVE_BYTES
    return corpus.size


def in_columns(rows: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """Lines of a table; so many of its columns, the first ones, begin at the left of theirs."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def size(mb: float) -> str:
    """MB in a unit that is easy to read."""
    for unit, scale in (("GB", 1000.0), ("MB", 1.0)):
        if mb >= scale:
            return f"{mb / scale:,.1f} {unit}"
    return f"{1000 * mb:,.1f} kB"


def duration(seconds: float) -> str:
    """Seconds in a unit that is easy to read."""
    for unit, scale in (("h", 3600), ("min", 60)):
        if seconds >= 2 * scale:
            return f"{seconds / scale:,.1f} {unit}"
    return f"{seconds:,.1f} s"
