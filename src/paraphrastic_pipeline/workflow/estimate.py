"""What corpora of OPUS will cost in disk, memory and time, given their numbers of pairs.

The time and memory of each step come from `resources`. Sizes are for pairs of 12 words per side, measured on
the sample and on `config/small.yaml`. They follow from step to step, as MB written per MB read.
"""

from collections.abc import Sequence
from dataclasses import replace

from paraphrastic_pipeline.registry.opus import OpusCorpus
from paraphrastic_pipeline.workflow.resources import NEEDS, training_need, vocabulary_need

# Bytes per pair, compressed as published and after merging.
ARCHIVE_BYTES, MERGED_BYTES = 40, 51
# With fewer bytes per pair than this, an archive's size cannot be true.
_ARCHIVE_LEAST = 20
# Bytes that merging has on the disk besides its output, per pair that it reads.
MERGING_BYTES = 130
# MB that a step writes per MB that it reads. The selection leaves out columns of scores; `ENCODED` is for
# 50,000 pieces.
EXTRACTED, SCORED, SELECTED, MERGED, ENCODED = 1.25, 1.08, 0.9, 1.08, 2.4


def estimate(corpora: Sequence[OpusCorpus]) -> list[str]:
    """Return lines that say what it takes to make training data from `corpora` and to train on it.

    Corpora are named and left out if OPUS does not say how many pairs they have.
    """
    known = [(corpus, corpus.pairs) for corpus in corpora if corpus.pairs]
    lines = []
    if unknown := [corpus.name for corpus in corpora if not corpus.pairs]:
        lines.append(f"not in the estimate, because OPUS does not say their size: {', '.join(unknown)}")
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
    # Imported here, since listing corpora needs none of it.
    from paraphrastic_pipeline.settings.check import complete_definition

    # One epoch of a model with the default settings on all pairs.
    definition = complete_definition({"languages": list(corpora[0].languages)})
    settings = replace(next(iter(definition.runs.values())), epochs=1)
    vocabulary = vocabulary_need(definition, read / ENCODED)
    training = training_need(definition, settings, read)
    merging = pairs * MERGING_BYTES / 1e6
    return [
        *lines,
        f"estimate for {names}: {pairs:,} pairs",
        f"  disk    {size(archives)} to download, {size(archives + written)} in all, "
        f"and {size(merging)} more while merging",
        f"  memory  {size(vocabulary.mb)} for the vocabulary, {size(training.mb)} for training, "
        "1 GB for other steps",
        f"  time    {duration(seconds + vocabulary.seconds)} on one core to make the training data, "
        f"{duration(training.seconds)} per epoch of training",
        f"  assumed: no filter drops a pair; sentences of 12 words, {settings.dimension} dimensions and "
        f"{definition.vocabulary.size:,} pieces",
    ]


def archive_bytes(corpus: OpusCorpus) -> int | None:
    """Return an archive's size, estimated from its pairs if the listed one is missing or cannot be true."""
    if corpus.pairs is None:
        return corpus.size
    if corpus.size is None or corpus.size < corpus.pairs * _ARCHIVE_LEAST:
        return corpus.pairs * ARCHIVE_BYTES
    return corpus.size


def in_columns(rows: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """Return the lines of a table whose first `left` columns are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def size(mb: float) -> str:
    """Format a number of MB in a unit that is easy to read."""
    for unit, scale in (("GB", 1000.0), ("MB", 1.0)):
        if mb >= scale:
            return f"{mb / scale:,.1f} {unit}"
    return f"{1000 * mb:,.1f} kB"


def duration(seconds: float) -> str:
    """Format a number of seconds in a unit that is easy to read."""
    for unit, scale in (("h", 3600), ("min", 60)):
        if seconds >= 2 * scale:
            return f"{seconds / scale:,.1f} {unit}"
    return f"{seconds:,.1f} s"
