"""Sentences on steps that drop many pairs, for the terminal, logs, the report and model cards."""

import logging
from collections.abc import Iterator, Mapping

# The reason of the extraction, and the name of its number in Parquet files and counts.
UNREADABLE = "unreadable"
# A step that drops a larger share of its pairs says so.
LARGE = 0.3
# How a sentence calls a filter, if not by its name.
_FILTERS = {"empty": "a side without text", "near_copy": "near copies"}
_MERGE = {
    "duplicates": ("duplicates", "duplicates"),
    "near_duplicates": ("near duplicates", "near_duplicates"),
    "contaminated": ("sentences of test sets", "contamination.drop"),
    "held_out": ("pairs that are held out", "held_out"),
    "capped": ("the largest number of pairs that is allowed", "max_pairs"),
}
# Filters that only paraphrases have, and counts that are no reasons.
_OF_PARAPHRASES = {"rank", "trigram_overlap", "near_copy", "paraphrase_score"}
_NO_REASONS = {"read", "kept", UNREADABLE, *_MERGE}


def extraction_loss(name: str, read: int, unreadable: int) -> str | None:
    """A sentence on rows of a corpus that cannot be read; None if they are few.

    Args:
        name: the corpus.
        read: its pairs.
        unreadable: rows that were left out.
    """
    faults = ("faults, the first of which its log names", "extraction.max_unreadable")
    reasons = {UNREADABLE: faults}
    return _loss("The extraction drops", name, read + unreadable, {UNREADABLE: unreadable}, reasons)


def filter_loss(name: str, read: int, dropped: Mapping[str, int], section: str | None = None) -> str | None:
    """A sentence on pairs that the filters of a selection drop, all together; None if they are few.

    Args:
        name: the corpus.
        read: its pairs.
        dropped: pairs dropped by each filter as the first to reject them; filters that are off are left out.
        section: the filters' section of the configuration; None guesses it from the filters.
    """
    section = section or f"selection.{'paraphrase' if _OF_PARAPHRASES & dropped.keys() else 'bitext'}"
    reasons = {
        reason: (_FILTERS.get(reason, f"their {reason.replace('_', ' ')}"), f"{section}.{reason}")
        for reason in dropped
    }
    # No setting keeps pairs without text.
    reasons["empty"] = (_FILTERS["empty"], "")
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
        counts: rows `read` and pairs `kept`, and those dropped for each reason of the extraction, the filters
            and the merge.
    """
    unreadable = counts.get(UNREADABLE, 0)
    extracted = counts["read"] - unreadable
    filtered = {reason: count for reason, count in counts.items() if reason not in _NO_REASONS}
    merged = {reason: counts[reason] for reason in _MERGE if reason in counts}
    steps = (
        extraction_loss(name, extracted, unreadable),
        filter_loss(name, extracted, filtered),
        merge_loss(name, extracted - sum(filtered.values()), merged),
    )
    yield from filter(None, steps)


def warn(sentence: str | None) -> None:
    """Write a sentence, if there is one, into the log of the step; the run shows it on the terminal."""
    if sentence:
        logging.warning("warning: %s", sentence)


def _loss(
    what: str, name: str, read: int, dropped: Mapping[str, int], reasons: Mapping[str, tuple[str, str]]
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
