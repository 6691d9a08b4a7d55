"""CSV and TSV files, which programs read back and people open in spreadsheets.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, even if it is a sentence of a
corpus. Unless it is a number, such a cell is written with an apostrophe before it. The readers of this module
take the apostrophe away again, so every text comes back as it was.
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
_QUOTED = re.compile('[",\r\n]')


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and not NUMBER.fullmatch(text)


def _guarded(text: str) -> str:
    return f"'{text}" if _is_formula(text) else text


def _restored(text: str) -> str:
    return text[1:] if text.startswith("'") and _is_formula(text[1:]) else text


def write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV with a header, in UTF-8 and with LF line ends.

    A column that a row lacks stays empty, and keys that are not columns are left out.
    """
    with atomic_output(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(_csv_line(columns))
        file.writelines(_csv_line([row.get(name, "") for name in columns]) for row in rows)


def _csv_line(cells: Sequence[Any]) -> str:
    # Python's own writer does not quote a carriage return, at which a reader ends the row.
    texts = [_guarded("" if cell is None else str(cell)) for cell in cells]
    quoted = [f'"{text.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(text) else text for text in texts]
    return ('""' if quoted == [""] else ",".join(quoted)) + "\n"


def read_csv(path: str | Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file with a header; a missing or damaged one is an `InputError`."""
    return read_csv_with_header(path)[1]


def read_csv_with_header(path: str | Path) -> tuple[list[str], list[dict[str, str]]]:
    """Read the names of the columns and the rows of a CSV file; a damaged one is an `InputError`."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            lines = [[*map(_restored, line)] for line in csv.reader(file, strict=True) if line]
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
    """A line of a TSV file for people to read.

    White space in cells is collapsed, floats have four decimals, and None becomes an empty cell.
    """
    return "\t".join(map(_tsv_cell, cells)) + "\n"


def _tsv_cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else _guarded(" ".join(clean(str(value)).split()))


def read_tsv(path: str | Path) -> list[dict[str, str]]:
    """Read the rows of a file of `write_tsv`; a missing or damaged one is an `InputError`."""
    try:
        columns, *lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        rows = [[*map(_restored, line.split("\t"))] for line in lines]
        return [dict(zip(columns.split("\t"), row, strict=True)) for row in rows]
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable: {error}") from None
