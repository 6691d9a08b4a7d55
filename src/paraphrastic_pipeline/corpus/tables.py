"""Tables of sentence pairs: TSV, CSV, JSON lines and Parquet.

`columns` names the columns: one for each side, then optionally the paraphrase score and the translation
score. In TSV and CSV, these may be numbers from 1. Without `columns`, the first line of TSV and CSV, the
first record of JSON lines and the schema of Parquet are searched for known names: the two languages (also
inside `translation`), `source` and `target`, and others in `_SIDES`. In TSV and CSV without such a header,
the two or three columns are source, target and paraphrase score. A header is never a row.

A column of labels says whether the sides of a row are the same; rows with 0, false or no are no pairs. One
with such a name that holds other numbers has scores.
"""

import csv
import functools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

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
# Names of columns that are found without `columns`, in lower case without spaces and `_`: of the two sides,
# and of labels and scores.
_SIDES = (
    ("source", "target"), ("src", "tgt"), ("sentence1", "sentence2"), ("text1", "text2"),
    ("question1", "question2"), ("sentencea", "sentenceb"), ("anchor", "positive"), ("query", "positive"),
    ("question", "answer"), ("query", "passage"), ("query", "document"),
)  # fmt: skip
_ROLES = {
    **dict.fromkeys(("label", "labels", "isduplicate", "duplicate", "isparaphrase", "paraphrase"), "label"),
    **dict.fromkeys(("score", "similarity", "similarityscore", "relatednessscore"), "paraphrase_score"),
    "translationscore": "translation_score",
}
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

# Labels in lower case, and whether the sides of such a pair are the same.
_LABELS = {
    **dict.fromkeys(("1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "0.0", "false", "no"), False),
}
# Rows at the beginning of a table that tell labels from scores, and the share of them that labels must be.
_FIRST, _MOSTLY = 1000, 0.9

# Numbers and cells of rows.
Rows = Iterator[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class PairRows:
    """Rows `source, target, line`, followed by one number for each of `scores`."""

    rows: Iterator[tuple[Any, ...]]
    scores: Sequence[str] = ()


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
    if not (header := _header(kind, path)):
        return PairRows(iter(()))
    has_names = kind in ("jsonl", "parquet")
    places, scores, is_header = _find_columns(header, languages, columns, str(path), has_names)
    if kind == "tsv":
        rows = tabbed_rows(Text(path), (len(header),), places, unreadable)
    else:
        names = [header[place] if has_names else str(place + 1) for place in places]
        rows = table_rows(path, names, unreadable)
    if is_header and not has_names:
        next(rows, None)
    first = [*islice(rows, _FIRST)]
    rows = chain(first, rows)
    if scores[:1] == ["label"]:
        scores = scores[1:]
        seen = Counter(_LABELS.get(cells[2].lower()) for _, cells in first)
        # Scores may begin with many ones, so a column without a name must have both labels.
        can_be = _ROLES.get(_plain(header[places[2]])) == "label" or (seen[True] and seen[False])
        if can_be and seen[None] <= (1 - _MOSTLY) * len(first):
            rows = _of_same(rows, path, unreadable)
        elif "paraphrase_score" in scores:
            rows = ((number, (*cells[:2], *cells[3:])) for number, cells in rows)
        else:
            scores = ["paraphrase_score", *scores]
    pairs = scored(rows, path, unreadable)
    if "paraphrase_score" in scores:
        pairs = _scaled(pairs, path, score_range, unreadable.name)
    return PairRows(pairs, scores)


def _of_same(rows: Rows, path: Path, unreadable: Unreadable) -> Rows:
    """The rows whose label says that both sides are the same, without the label."""
    for number, (source, target, label, *cells) in rows:
        is_same = _LABELS.get(label.lower())
        if is_same:
            yield number, (source, target, *cells)
        elif is_same is None:
            unreadable.add(path, number, f"the label {shown(label)} is neither 0 nor 1")
        else:
            unreadable.different += 1


def _scaled(rows: Iterator[Any], path: Path, scale: Sequence[float], name: str) -> Iterator[tuple[Any, ...]]:
    """Rows of the corpus of this name, whose paraphrase scores are scaled to 0 to 1."""
    low, high = scale
    for source, target, number, score, *others in rows:
        if not low <= score <= high:
            raise InputError(
                f"{path}:{number}: the score {score:g} does not lie between {low:g} and {high:g}; give the "
                f"scale by `extraction: {{score_range: {{{name}: [LOW, HIGH]}}}}`, or --score-range LOW HIGH"
            )
        yield source, target, number, (score - low) / (high - low), *others


def column_roles(
    kind: str, path: Path, languages: tuple[str, str], columns: Sequence[str]
) -> dict[str, list[str]]:
    """The columns of a table by what they are taken for, such as `source` or `not used`.

    Without a header, columns are numbers. An `InputError` says if it cannot be known what they are.
    """
    header, has_names = _header(kind, path), kind in ("jsonl", "parquet")
    if not header:
        return {}
    places, scores, is_header = _find_columns(header, languages, columns, str(path), has_names)
    if not is_header and not columns and len(header) > 2:
        wanted = "name those of source, target and perhaps a score or label by --columns"
        raise InputError(f"{path}: has {len(header)} columns and no known header: {wanted}")
    named = header if is_header else [str(place + 1) for place in range(len(header))]
    roles = {role: [named[place]] for role, place in zip(("source", "target", *scores), places, strict=True)}
    others = [name for place, name in enumerate(named) if place not in places]
    return {**roles, "not used": others} if others else roles


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


def scored(rows: Rows, label: object, unreadable: Unreadable) -> Iterator[tuple[Any, ...]]:
    """Rows `source, target, line` and scores, from numbers and cells of source, target and scores."""
    for number, (source, target, *cells) in rows:
        try:
            yield source, target, number, *map(read_number, cells)
        except ValueError as error:
            unreadable.add(label, number, f"the score {error}")


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


def _find_columns(
    header: Sequence[str], languages: tuple[str, str], columns: Sequence[str], label: str, has_names: bool
) -> tuple[list[int], Sequence[str], bool]:
    """Where source, target and scores are, from 0; which scores; and whether the first row is a header."""
    names = cut(", ".join(map(shown, header)))
    if not columns:
        if sides := find_sides(header, languages):
            found = {_ROLES.get(_plain(name)): place for place, name in enumerate(header)}
            scores = [role for role in ("label", *_SCORES) if role in found]
            return [*sides, *(found[role] for role in scores)], scores, True
        if not has_names and len(header) in (2, 3):
            return list(range(len(header))), ["label"][: len(header) - 2], False
        wanted = "name those of source, target and perhaps a score or label by `columns`, or --columns"
        raise InputError(f"{label}: {wanted}; the first row has {len(header)}: {names}")
    scores = [score for score, column in zip(_SCORES, columns[2:], strict=False) if column != _NO_COLUMN]
    columns = [column for column in columns if column != _NO_COLUMN]
    are_numbers = not has_names and all(map(is_count, columns))
    cells = [str(place) for place in range(1, len(header) + 1)] if are_numbers else header
    for column in columns:
        if (count := cells.count(column)) != 1:
            raise InputError(f"{label}: {count or 'no'} columns {shown(column)}; the first row has {names}")
    places = [cells.index(column) for column in columns]
    is_header = not are_numbers or find_sides([header[place] for place in places[:2]], languages) is not None
    if scores[:1] == ["paraphrase_score"] and _ROLES.get(_plain(header[places[2]])) != "paraphrase_score":
        # It may be a label, unless its name says otherwise.
        scores = ["label", *scores[1:]]
    return places, scores, is_header


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
