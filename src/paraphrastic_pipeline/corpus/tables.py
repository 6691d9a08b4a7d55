"""Tables of sentence pairs: TSV, CSV, JSON lines and Parquet.

`columns` names the columns: one for each side, then optionally the paraphrase score and the translation
score. In TSV and CSV, these may be numbers from 1. Without `columns`, the first line of TSV and CSV, the
first record of JSON lines and the schema of Parquet are searched for known names: the two languages (also
inside `translation`), `source` and `target`, and others in `_SIDES`. In TSV and CSV without such a header,
the two or three columns are source, target and paraphrase score. A header is never a row.

A label, 1 or 0, true or false, is a score, too.
"""

import csv
import functools
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError, cut, shown
from paraphrastic.base.numbers import is_count, read_number
from paraphrastic.base.rows import BadRow, Source
from paraphrastic.base.text import clean
from paraphrastic.base.text_files import open_text
from paraphrastic_pipeline.corpus.lines import Text, Unreadable
from paraphrastic_pipeline.registry.language_labels import labels_of

# Scores that a corpus can contain, in the order of `columns`.
_SCORES = ("paraphrase_score", "translation_score")
# Takes the place of the paraphrase score in `columns` if there is only a translation score.
_NO_COLUMN = "-"
# Names of columns that are found without `columns`, in lower case without spaces and `_`.
_SIDES = (
    ("source", "target"), ("src", "tgt"), ("sentence1", "sentence2"), ("text1", "text2"),
    ("question1", "question2"), ("sentencea", "sentenceb"), ("anchor", "positive"), ("query", "positive"),
    ("question", "answer"), ("query", "passage"), ("query", "document"),
)  # fmt: skip
_SCORE_NAMES = {
    "paraphrase_score": (
        "label", "labels", "isduplicate", "isparaphrase", "score", "similarity", "similarityscore",
        "relatednessscore",
    ),
    "translation_score": ("translationscore",),
}  # fmt: skip
# Languages as headers call them.
_LANGUAGES = {
    "ar": "arabic", "bg": "bulgarian", "bn": "bengali", "ca": "catalan", "cs": "czech", "da": "danish",
    "de": "german", "el": "greek", "en": "english", "es": "spanish", "et": "estonian", "fa": "persian",
    "fi": "finnish", "fr": "french", "he": "hebrew", "hi": "hindi", "hr": "croatian", "hu": "hungarian",
    "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean", "lt": "lithuanian",
    "lv": "latvian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sk": "slovak", "sl": "slovenian", "sr": "serbian", "sv": "swedish", "th": "thai",
    "tr": "turkish", "uk": "ukrainian", "ur": "urdu", "vi": "vietnamese", "zh": "chinese",
}  # fmt: skip
# Labels that are scores.
_LABELS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
# Kinds of tables in which each record or the schema names the columns.
_WITH_NAMES = ("jsonl", "parquet")

# Numbers and cells of rows.
Rows = Iterator[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class PairRows:
    """Rows `source, target, line`, followed by one number for each of `scores`."""

    rows: Iterator[tuple[Any, ...]]
    scores: Sequence[str] = ()


class Columns(NamedTuple):
    """Where a table has source, target and `scores`: `places`, from 0, among the `names` of all columns.

    Without a header, the names are numbers from 1.
    """

    names: Sequence[str]
    places: Sequence[int]
    scores: Sequence[str]
    is_header: bool

    def roles(self) -> dict[str, str]:
        """The names of columns by what they are taken for, such as `source` or `not used`."""
        roles = zip(("source", "target", *self.scores), self.places, strict=True)
        others = ", ".join(name for place, name in enumerate(self.names) if place not in self.places)
        return {role: self.names[place] for role, place in roles} | ({"not used": others} if others else {})


def pair_rows(
    kind: str,
    path: Path,
    languages: tuple[str, str],
    columns: Sequence[str],
    unreadable: Unreadable,
    score_range: Sequence[float],
) -> PairRows:
    """The rows of a table of this kind; none if it is empty. Paraphrase scores are scaled to 0 to 1.

    Raises:
        InputError: the file cannot be read, has no such columns, or its name does not end as its kind wants;
            or later, a score is not in the range.
    """
    if not (found := find_columns(kind, path, languages, columns)):
        return PairRows(iter(()))
    names, places, scores, is_header = found
    if kind == "tsv":
        rows = tabbed_rows(Text(path), (len(names),), places, unreadable)
    else:
        has_names = kind in _WITH_NAMES
        rows = table_rows(
            path, [names[place] if has_names else str(place + 1) for place in places], unreadable
        )
    if is_header and kind not in _WITH_NAMES:
        next(rows, None)
    scale = score_range if "paraphrase_score" in scores else None
    return PairRows(scored(rows, path, unreadable, scale), scores)


def table_rows(path: str | Path, columns: Sequence[str], unreadable: Unreadable) -> Rows:
    """The first line of each row, from 1, and its cells in these columns, by their names or numbers.

    The ending of the file's name says which kind of table it is.
    """

    def reject(row: BadRow) -> None:
        unreadable.rows += 1
        unreadable.add(row.path, row.first, row.cause)

    for batch in Source(str(path), columns, texts=len(columns), on_bad=reject).batches():
        unreadable.rows += len(batch.first)
        for number, *cells in zip(batch.first, *batch.columns, strict=True):
            yield number, [clean(cell) for cell in cells]


def tabbed_rows(text: Text, widths: Sequence[int], places: Sequence[int], unreadable: Unreadable) -> Rows:
    """The numbers of lines with so many cells between tabs, and the cells in some places, from 0."""
    chosen = itemgetter(*places)
    for number, line in text.lines(unreadable):
        cells = line.split("\t")
        if len(cells) in widths:
            yield number, chosen(cells)
        else:
            expected = " or ".join(map(str, widths))
            unreadable.add(text, number, f"{len(cells)} columns, where {expected} are expected")


def scored(
    rows: Rows, label: object, unreadable: Unreadable, scale: Sequence[float] | None = None
) -> Iterator[tuple[Any, ...]]:
    """Rows `source, target, line` and scores, from numbers and cells of source, target and scores.

    With a `scale`, the first score is scaled from its lowest and highest value to 0 and 1.
    """
    for number, (source, target, *cells) in rows:
        try:
            scores = [read_number(_LABELS.get(cell.lower(), cell)) for cell in cells]
        except ValueError as error:
            unreadable.add(label, number, f"the score {error}")
            continue
        if scale:
            low, high = scale
            if not low <= scores[0] <= high:
                raise InputError(
                    f"{label}:{number}: the score {scores[0]:g} does not lie between {low:g} and {high:g}; "
                    f"give the scale by `extraction: {{score_range: {{{unreadable.name}: [LOW, HIGH]}}}}`, "
                    "or to `paraphrastic new` by --score-range LOW HIGH"
                )
            scores[0] = (scores[0] - low) / (high - low)
        yield source, target, number, *scores


def csv_separator(lines: Sequence[str]) -> str:
    """What stands between the cells of a CSV file that begins with these lines: a comma or a semicolon."""
    return max(",;", key=lambda mark: len(next(csv.reader(lines, delimiter=mark), [])))


@functools.cache
def is_language(name: str, code: str) -> bool:
    """Whether a name or code, such as `english`, `en-US` or `no`, is one of a language, such as `nb`."""
    name = name.strip().lower().replace("_", "-").split("-")[0]
    return name in (code, _LANGUAGES.get(code)) or not {*labels_of(name)}.isdisjoint(labels_of(code))


def _header(kind: str, path: Path) -> list[str]:
    """The names or cells in the first row of a table, or of the first record; none if it is empty."""
    if kind == "parquet":
        try:
            return list(pq.read_schema(path).empty_table().flatten().column_names)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: not readable as Parquet: {error}") from None
    with open_text(str(path)) as file:
        if kind == "jsonl":
            return next(filter(None, map(_names_of_record, file)), [])
        # A cell in quotes may have several lines.
        lines = [line.rstrip("\r\n").replace("\r", " ") for line in islice(file, 20)]
    if kind == "tsv":
        return lines[0].split("\t") if lines else []
    return next(csv.reader(lines, delimiter=csv_separator(lines)), [])


def _names_of_record(line: str) -> list[str]:
    """The names in a JSON object; one in a nested object stands behind a dot: `translation.en`."""
    with suppress(ValueError, RecursionError, AttributeError):
        items = json.loads(line).items()
        objects = [(name, value) for name, value in items if isinstance(value, dict)]
        return [*(name for name, _ in items), *(f"{name}.{key}" for name, value in objects for key in value)]
    return []


def find_columns(kind: str, path: Path, languages: tuple[str, str], columns: Sequence[str]) -> Columns | None:
    """The columns of a table, by their names or numbers if they are given; None if the table is empty."""
    if not (header := _header(kind, path)):
        return None
    names, has_names = cut(", ".join(map(shown, header))), kind in _WITH_NAMES
    numbers = [str(place + 1) for place in range(len(header))]
    if not columns:
        if sides := find_sides(header, languages):
            plain = [*map(_plain, header)]
            # The first of the known names is taken.
            found = {
                score: plain.index(name)
                for score, known in _SCORE_NAMES.items()
                for name in reversed(known)
                if name in plain
            }
            return Columns(header, [*sides, *found.values()], [*found], True)
        if not has_names and len(header) in (2, 3):
            return Columns(numbers, range(len(header)), _SCORES[: len(header) - 2], False)
        wanted = "name those of source, target and perhaps a score or label by `columns`, or --columns"
        raise InputError(f"{path}: {wanted}; the first row has {len(header)}: {names}")
    scores = [score for score, column in zip(_SCORES, columns[2:], strict=False) if column != _NO_COLUMN]
    columns = [column for column in columns if column != _NO_COLUMN]
    are_numbers = not has_names and all(map(is_count, columns))
    cells = numbers if are_numbers else header
    for column in columns:
        if (count := cells.count(column)) != 1:
            raise InputError(f"{path}: {count or 'no'} columns {shown(column)}; the first row has {names}")
    places = [cells.index(column) for column in columns]
    is_header = not are_numbers or find_sides([header[place] for place in places[:2]], languages) is not None
    return Columns(header if is_header else numbers, places, scores, is_header)


def find_sides(header: Sequence[str], languages: tuple[str, str]) -> tuple[int, int] | None:
    """The columns of both sides if a header names them; a language must be named once."""
    names = [name.strip().lower().removeprefix("translation.") for name in header]
    plain = [*map(_plain, header)]
    named = [[place for place, name in enumerate(names) if is_language(name, code)] for code in languages]
    if languages[0] != languages[1] and [len(places) for places in named] == [1, 1]:
        return named[0][0], named[1][0]
    found = (sides for sides in _SIDES if {*sides} <= {*plain})
    return next(((plain.index(source), plain.index(target)) for source, target in found), None)


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "").replace("_", "")
