"""Read counts of pairs, which must add up: a step keeps or drops each pair that it reads."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json

# What the names of corpora without pairs end with in tables.
WITHOUT_PAIRS = " (text)"
AGAIN = "delete the file, and run the pipeline again"
# Entries of a merge's counts that are no reasons.
_NO_REASONS = ("file", "read", "kept", "corpora", "without_pairs")


@dataclass(frozen=True, slots=True)
class Counts:
    """Pairs that a step has `read`, `dropped` by reason, and `kept`, or sentences `without_pairs`."""

    read: int
    dropped: Mapping[str, int]
    kept: int
    without_pairs: bool = False


def read_selected(path: str | Path) -> tuple[Counts, Json]:
    """The counts that `select_pairs` wrote, and the whole content of the file.

    Raises:
        InputError: the file is damaged, or its counts do not add up.
    """
    content = read_json(path)
    try:
        counts = Counts(content["read"], content["dropped"], content["kept"])
        check_sum(path, counts)
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not the counts of a selection; {AGAIN}") from None
    return counts, content


def read_merged(path: str | Path) -> list[Counts]:
    """The counts that `merge_pairs` wrote for each corpus.

    Raises:
        InputError: the file is damaged, its counts do not add up, or its total is not that of its corpora.
    """
    content = read_json(path)
    try:
        total, *corpora = map(_merged, (content, *content["corpora"]))
        for counts in (total, *corpora):
            check_sum(path, counts)
        kept = sum(counts.kept for counts in corpora)
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not the counts of a merge; {AGAIN}") from None
    if kept != total.kept:
        raise InputError(f"{path}: all corpora have {kept:,} pairs, but the total is {total.kept:,}; {AGAIN}")
    return corpora


def read_before_merging(path: str | Path, results: Path) -> int | None:
    """How many pairs were read from the corpora of a merge; None if a corpus lacks its counts.

    Text without pairs does not count, nor do counts beside those of the merge's own files, which may be left
    from runs with other corpora.

    Args:
        path: the counts that `merge_pairs` wrote.
        results: the folder of results, which may have been moved since.
    """
    corpora = read_json(path)["corpora"]
    files = [Path(corpus["file"]) for corpus in corpora if not corpus.get("without_pairs")]
    selected = [results.joinpath(*file.parts[1:]).with_suffix(".counts.json") for file in files]
    if not all(file.is_file() for file in selected):
        return None
    return sum(read_selected(file)[0].read for file in selected)


def _merged(entry: Json) -> Counts:
    dropped = {name: count for name, count in entry.items() if name not in _NO_REASONS}
    return Counts(entry["read"], dropped, entry["kept"], bool(entry.get("without_pairs")))


def check_sum(path: str | Path, counts: Counts) -> None:
    """Raise an `InputError` that names the file if a pair is neither kept nor dropped, or both."""
    counted = counts.kept + sum(counts.dropped.values())
    if counted != counts.read:
        raise InputError(
            f"{path}: {counts.read:,} pairs were read, but {counted:,} were kept or dropped; {AGAIN}"
        )


def in_order(lists: Iterable[Iterable[str]]) -> list[str]:
    """All reasons that occur in any of the lists, in an order that keeps the order of each list."""
    ordered: list[str] = []
    for reasons in lists:
        place = 0
        for reason in reasons:
            if reason not in ordered:
                ordered.insert(place, reason)
            place = ordered.index(reason) + 1
    return ordered
