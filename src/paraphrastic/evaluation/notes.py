"""What tables say about a figure beside its value: how sure it is, and whether it is the best."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paraphrastic.base.files import read_csv

# A figure of a table by system, source, row and column.
Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Note:
    """What a table says about a figure beside its value.

    Attributes:
        deviation: over training runs; empty without several.
        interval: low and high end, at 95 %; empty for a published figure.
        best: whether it is better than all others, and the difference holds.
        group: the paper and the table that a published figure is printed in.
    """

    deviation: str
    interval: tuple[str, ...]
    best: bool
    group: str

    def __str__(self) -> str:
        deviation = f" ± {self.deviation}" if self.deviation else ""
        return f"{deviation} [{', '.join(self.interval)}]" if self.interval else ""


def read_notes(intervals: Path) -> dict[Key, Note]:
    """What is known of the figures of a table, from the CSV file of intervals of `tabulate_systems`."""

    def rounded(number: str) -> str:
        return f"{float(number):.1f}" if number else ""

    return {
        (row["system"], row["source"], row["row"], row["column"]): Note(
            rounded(row["deviation"]),
            tuple(rounded(row[end]) for end in ("low", "high") if row[end]),
            row["best"] == "yes",
            row["group"],
        )
        for row in read_csv(intervals)
    }


def figure_key(row: Mapping[str, str], column: str) -> Key:
    """The key that `read_notes` has for the figure in this row and column of the table."""
    return row.get("system", ""), row.get("source", ""), row.get("pair", ""), column


def number(text: str) -> float | None:
    """The number that a cell holds; None for any other text."""
    try:
        return float(text)
    except ValueError:
        return None
