"""What is in a person's own files, as far as their names and first rows tell."""

import csv
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.numbers import NUMBER
from paraphrastic_pipeline.corpus.tables import csv_separator, find_sides
from paraphrastic_pipeline.registry.archive import open_stream
from paraphrastic_pipeline.registry.language_labels import shortest_code
from paraphrastic_pipeline.settings.sections.corpora import plain_name

_HEAD_BYTES = 1 << 16


def parallel_files(files: Sequence[str], languages: Sequence[str]) -> dict[str, str]:
    """The files that have one side each, by the file with the first side.

    These are two files whose names differ in nothing but the codes of two languages at their ends, such as
    `news.en` and `news.tur` or `news.en.txt` and `news.tur.txt`; the only two that are left with such a code,
    whatever else they are called; and any two other files of text without tabs, which follow each other.

    Raises:
        InputError: only one file of such a pair is given.
    """
    stems: dict[tuple[Path, str], dict[str, str]] = {}
    plain = []
    for file in files:
        stem, ending = plain_name(file)
        is_plain = ending == ".txt" and "\t" not in _head(file)
        if is_plain and shortest_code(Path(stem).suffix[1:]) in languages:
            stem, ending = Path(stem).stem, Path(stem).suffix
        code = shortest_code(ending[1:])
        if code in languages and len(languages) == 2:
            stems.setdefault((Path(file).parent, stem), {})[code] = file
        elif is_plain:
            plain.append(file)
    found = dict(zip(plain[::2], plain[1::2], strict=False))
    pairs = [sides for sides in stems.values() if len(sides) == 2]
    left = [*chain.from_iterable(sides.items() for sides in stems.values() if len(sides) < 2)]
    if len(left) == len(dict(left)) == 2:
        pairs.append(dict(left))
    elif left:
        raise InputError(f"{left[0][1]}: is in one language; give the file of the other language, too")
    for sides in pairs:
        found[sides[languages[0]]] = sides[languages[1]]
    return found


def text_columns(file: str, kind: str, languages: Sequence[str]) -> list[str | int] | None:
    """The columns of a table that have text, and its score; None if the reader finds or refuses them.

    The reader takes a third column for a score. Here, it is none if its cells are no numbers, and of several
    columns, two are chosen if only they have text. They have numbers, or names if the table has a header.
    """
    lines = _head(file).splitlines() if kind in ("tsv", "csv") else []
    rows: list[list[str]] = []
    if kind == "tsv":
        rows = [line.split("\t") for line in lines]
    else:
        # A cell may be cut off, and the reader says what is wrong with a file.
        with suppress(csv.Error):
            rows.extend(row for row in csv.reader(lines, delimiter=csv_separator(lines)) if row)
    if not rows or len(rows[0]) < 3 or find_sides(rows[0], (languages[0], languages[-1])):
        return None
    header = rows[0]
    width = len(header)
    body = [row for row in rows[1:] if len(row) == width] or [header]
    numeric = [2 * sum(_is_number(row[column]) for row in body) > len(body) for column in range(width)]
    empty = [2 * sum(not row[column].strip() for row in body) > len(body) for column in range(width)]
    texts = [column for column in range(width) if not numeric[column] and not empty[column]]
    named = len({*header}) == width and any(
        numeric[column] and not _is_number(header[column]) for column in range(width)
    )
    chosen = texts
    if width == 3 and len(texts) == 3:
        chosen = texts[:2]
    elif texts == [0, 1] and width == 3 and numeric[2]:
        if not named:
            return None
        chosen = [0, 1, 2]
    elif len(texts) != 2:
        return None
    return [header[column] if named else column + 1 for column in chosen]


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text.strip()) is not None


def _head(file: str) -> str:
    """The whole lines among the first bytes of a file, which may be compressed."""
    with open_stream(file, max_bytes=sys.maxsize) as stream:
        head = stream.read(_HEAD_BYTES)
    if len(head) == _HEAD_BYTES:
        head = head[: head.rfind(b"\n") + 1] or head
    return head.decode(errors="replace").lstrip("\ufeff")
