"""CSV and TSV files, which programs read back and people open in spreadsheets.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, even if it is a sentence of a
corpus. Unless it is a number, such a cell is written with an apostrophe before it, which reading takes away.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.base.numbers import NUMBER
from paraphrastic.base.text import clean

# A beginning that can make a cell a formula: one of the four characters, as ASCII, in full width or small,
# also behind white space, apostrophes, quotation marks or invisible characters, which a spreadsheet may
# remove; or a tab or a line end.
_FORMULA = re.compile(
    "['\"\\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2060-\u2064\ufeff]*"
    "[=+@\\-\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]|'*[\t\r\n]"
)


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and not NUMBER.fullmatch(text)


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if _is_formula(text) else text


def write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the named columns of rows as CSV with a header; one that a row lacks is empty there."""
    with atomic_output(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)


def read_csv(path: str | Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file with a header; a missing or damaged one is an `InputError`."""
    return read_csv_with_header(path)[1]


def read_csv_with_header(path: str | Path) -> tuple[list[str], list[dict[str, str]]]:
    """Read the names of the columns and the rows of a CSV file; a damaged one is an `InputError`."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            lines = [
                [cell[1:] if cell[:1] == "'" and _is_formula(cell[1:]) else cell for cell in line]
                for line in csv.reader(file, strict=True)
                if line
            ]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: not readable: {error}") from None
    columns, *rows = lines or [[]]
    if any(len(row) > len(columns) for row in rows):
        raise InputError(f"{path}: a row has more entries than the header")
    # Entries at the end of a row may be missing.
    return columns, [{**dict.fromkeys(columns, ""), **dict(zip(columns, row, strict=False))} for row in rows]


def write_tsv(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows for people to read: tab-separated, with a header; see `tsv_line`."""
    with atomic_output(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(map(tsv_line, (columns, *rows)))


def tsv_line(cells: Iterable[Any]) -> str:
    """A line of a TSV file: white space in cells is collapsed, and floats have four decimals."""
    texts = (
        f"{cell:.4f}" if isinstance(cell, float) else clean("" if cell is None else str(cell))
        for cell in cells
    )
    return "\t".join(_cell(" ".join(text.split())) for text in texts) + "\n"
