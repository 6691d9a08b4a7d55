"""What corpora of OPUS will cost in disk, memory and time, given their numbers of pairs."""

from collections.abc import Sequence
from dataclasses import replace

from paraphrastic_pipeline.registry.opus import OpusCorpus
from paraphrastic_pipeline.workflow.model_needs import training_need, vocabulary_need
from paraphrastic_pipeline.workflow.need import ARCHIVED_PAIR, MERGING, NEEDS

# With fewer bytes per pair than this, an archive's size cannot be true.
_ARCHIVE_LEAST = 20


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
    needs = [NEEDS["extract_corpus"].of(pairs * ARCHIVED_PAIR)]
    for step in ("score_pairs", "select_pairs", "merge_pairs", "encode_dataset"):
        needs.append(NEEDS[step].of(needs[-1].disk_mb))
    *_, selected, merged, encoded = (need.disk_mb for need in needs)
    written = sum(need.disk_mb for need in needs)
    # Imported here, since listing corpora needs none of it.
    from paraphrastic_pipeline.settings.check import complete_definition

    # One epoch of a model with the default settings on all pairs.
    definition = complete_definition({"languages": list(corpora[0].languages)})
    settings = replace(next(iter(definition.runs.values())), epochs=1)
    vocabulary = vocabulary_need(definition, merged)
    training = training_need(definition, settings, encoded)
    seconds = sum(need.seconds for need in (*needs, vocabulary))
    return [
        *lines,
        f"estimate for {names}: {pairs:,} pairs",
        f"  disk    {size(archives)} to download, {size(archives + written)} in all, "
        f"and {size(selected * MERGING)} more while merging",
        f"  memory  {size(vocabulary.mb)} for the vocabulary, {size(training.mb)} for training, "
        "1 GB for other steps",
        f"  time    {duration(seconds)} on one core to make the training data, "
        f"{duration(training.seconds)} per epoch of training",
        f"  assumed: no filter drops a pair; sentences of 12 words, {settings.dimension} dimensions and "
        f"{definition.vocabulary.size:,} pieces",
    ]


def archive_bytes(corpus: OpusCorpus) -> int | None:
    """Return an archive's size, estimated from its pairs if the listed one is missing or cannot be true."""
    if corpus.pairs is None:
        return corpus.size
    if corpus.size is None or corpus.size < corpus.pairs * _ARCHIVE_LEAST:
        return round(corpus.pairs * ARCHIVED_PAIR * 1e6)
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
