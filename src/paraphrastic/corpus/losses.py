"""Sentences on steps that drop many pairs, for the terminal, logs, the report and model cards."""

import logging
from collections.abc import Iterator, Mapping

# A step that drops a larger share of its pairs says so.
LARGE = 0.3
# The words and the setting of each reason; those of the filters are in a section of `selection`.
_FILTERS = {
    "empty": ("a side without text", ""),
    "rank": ("their rank", "rank"),
    "length": ("their length", "length"),
    "language": ("their language", "language"),
    "trigram_overlap": ("their trigram overlap", "trigram_overlap"),
    "near_copy": ("near copies", "near_copy"),
    "paraphrase_score": ("their paraphrase score", "paraphrase_score"),
}
_MERGE = {
    "duplicates": ("duplicates", "duplicates"),
    "near_duplicates": ("near duplicates", "near_duplicates"),
    "contaminated": ("sentences of test sets", "contamination.drop"),
    "capped": ("the largest number of pairs that is allowed", "max_pairs"),
}
# Filters that only paraphrases have.
_OF_PARAPHRASES = {"rank", "trigram_overlap", "near_copy", "paraphrase_score"}


def filter_loss(name: str, read: int, dropped: Mapping[str, int]) -> str | None:
    """A sentence on pairs that the filters of a selection drop, all together; None if they are few.

    Args:
        name: the corpus.
        read: its pairs.
        dropped: pairs dropped by each filter as the first to reject them; filters that are off are left out.
    """
    section = "selection.paraphrase" if _OF_PARAPHRASES & dropped.keys() else "selection.bitext"
    reasons = {reason: (words, key and f"{section}.{key}") for reason, (words, key) in _FILTERS.items()}
    return _loss("The filters drop", name, read, dropped, reasons)


def merge_loss(name: str, read: int, dropped: Mapping[str, int]) -> str | None:
    """A sentence on pairs of a corpus that the merge drops; None if they are few.

    Args:
        name: the corpus.
        read: pairs that its selection has kept.
        dropped: pairs dropped for each reason.
    """
    return _loss("The merge drops", name, read, dropped, _MERGE)


def losses(name: str, counts: Mapping[str, int]) -> Iterator[str]:
    """Sentences on the steps that drop many pairs of a corpus.

    Args:
        name: the corpus.
        counts: pairs `read` and `kept`, and those dropped for each reason of the filters and of the merge.
    """
    filtered = {reason: counts[reason] for reason in _FILTERS if reason in counts}
    merged = {reason: counts[reason] for reason in _MERGE if reason in counts}
    left = counts["read"] - sum(filtered.values())
    yield from filter(None, (filter_loss(name, counts["read"], filtered), merge_loss(name, left, merged)))


def warn(sentence: str | None) -> None:
    """Write a sentence, if there is one, into the log of the step; the run shows it on the terminal."""
    if sentence:
        logging.warning("warning: %s", sentence)


def _loss(
    what: str,
    name: str,
    read: int,
    dropped: Mapping[str, int],
    reasons: Mapping[str, tuple[str, str]],
) -> str | None:
    total = sum(dropped.values())
    if total <= LARGE * read:
        return None
    reason = max(dropped, key=lambda reason: dropped[reason])
    words, setting = reasons[reason]
    most = f"{dropped[reason]:,} of them" if dropped[reason] < total else "all"
    change = f"; the setting is {setting}" if setting else ""
    pairs = f"{total:,} of {read:,} pairs"
    return f"{what} {total / read:.0%} of {name}, {pairs}: {most} because of {words}{change}."
