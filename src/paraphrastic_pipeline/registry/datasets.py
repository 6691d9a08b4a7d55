"""The registry of data sets: their kinds, and the addresses and digests of their files.

`config/datasets.tsv` has one row per file, or one row for a family of files with one file per language pair;
its first lines explain the columns. This module imports little but the standard library, since every dry run
reads the registry.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from paraphrastic.base.errors import InputError
from paraphrastic.base.numbers import is_count
from paraphrastic_pipeline.base.addresses import address_error, hide_secrets
from paraphrastic_pipeline.registry.group_layouts import LayoutError, group_layout, text_layout


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of data set, in the registry or in a user's own file.

    To add a kind of corpus, add it to `KINDS` and write a reader in `corpus/readers.py`. The configuration's
    schema, its validation and the registry take their knowledge of kinds from here.

    Attributes:
        languages: possible numbers of languages of a registry row: two (a pair), one (paraphrases), or none.
        is_corpus: whether the data set contains training pairs.
        endings: lower-case endings of the names of such files. Only kinds whose corpora are a single file,
            which a configuration can name by its path, have endings.
        members: meaning of the column `members`: an archive member for each side (`sides`), one with lines of
            both (`lines`), columns of source, target and scores (`columns`), or words of a `layout`.
        scores: scores that a corpus may contain: `paraphrase_score`, `translation_score`.
        grouped: whether all sentences of the pairs from one line mean the same.
    """

    languages: tuple[int, ...]
    is_corpus: bool = False
    endings: tuple[str, ...] = ()
    members: Literal["", "sides", "lines", "columns", "layout"] = ""
    scores: tuple[str, ...] = ()
    grouped: bool = False


_SCORES = ("paraphrase_score", "translation_score")

KINDS = {
    # A zip in Moses layout: one member per language, aligned by line.
    "opus": Kind((2,), is_corpus=True, members="sides"),
    # A zip with lines `text TAB translation [TAB attribution]`, the pair in that order.
    "manythings": Kind((2,), is_corpus=True, members="lines"),
    # One file per language, aligned by line with the data set's other files.
    "aligned": Kind((1,), is_corpus=True),
    # A zip with lines `reference TAB paraphrase TAB score`.
    "paranmt": Kind((1,), is_corpus=True, members="lines", scores=_SCORES[:1]),
    # Several files of one language, aligned by line, whose lines are paraphrases.
    "captions": Kind((1,), is_corpus=True, grouped=True),
    # Sentences of one language in groups that mean the same; see `registry.group_layouts`.
    "groups": Kind((1,), is_corpus=True, members="layout", grouped=True),
    # Text without pairs, a sentence on each line, or where the words of a layout say.
    "text": Kind((1,), is_corpus=True, members="layout"),
    # Lines `source TAB target [TAB score]`, or the columns that `members` names; see `corpus.pair_tables`.
    "tsv": Kind((1, 2), is_corpus=True, endings=(".tsv", ".txt"), members="columns", scores=_SCORES),
    # The same with commas, and cells that may be in quotes.
    "csv": Kind((1, 2), is_corpus=True, endings=(".csv",), members="columns", scores=_SCORES),
    # One JSON object per line, with keys named after the languages or in `members`.
    "jsonl": Kind((1, 2), is_corpus=True, endings=(".jsonl", ".ndjson"), members="columns", scores=_SCORES),
    # Columns named after the languages or in `members`.
    "parquet": Kind((1, 2), is_corpus=True, endings=(".parquet",), members="columns", scores=_SCORES),
    # A translation memory.
    "tmx": Kind((1, 2), is_corpus=True, endings=(".tmx",)),
    # A language-identification model.
    "fasttext": Kind((0,)),
    # Word vectors as text.
    "vectors": Kind((0, 1)),
    # The archive of the STS test sets.
    "sts": Kind((0,)),
    # Distances between languages, in the format of lang2vec's archives.
    "uriel": Kind((0,)),
    # Any other file, read by the step that names it.
    "file": Kind((0, 1, 2)),
}
# Kinds whose corpora are single files, which a configuration can name by their path.
FILE_KINDS = (*(name for name, kind in KINDS.items() if kind.endings), "text")
# Kinds that contain training pairs; the pipeline itself makes mined pairs, which are in no registry.
CORPUS_KINDS = (*(name for name, kind in KINDS.items() if kind.is_corpus), "mined")

# The folder of all downloads, with one folder per data set.
DOWNLOADS = "resources/downloads"
COLUMNS = (
    "name", "version", "kind", "languages", "file", "addresses", "sha256", "size", "members", "licence",
    "commercial",
)  # fmt: skip

# The pattern that a cell must match unless it is empty, and the message if it does not.
_CELLS = {
    "name": (r"[a-z0-9_]+", "is not made of a-z, 0-9 and _"),
    "kind": ("|".join(KINDS), f"is not one of {', '.join(KINDS)}"),
    "sha256": (r"[0-9a-f]{64}", "is not 64 lower-case hexadecimal digits"),
    "size": (r"0*[1-9][0-9]*", "is not a number of bytes"),
    "commercial": ("yes|no", "is not yes, no or -"),
}
_NEEDED = ("name", "version", "kind", "addresses", "licence")
_CODE = re.compile(r"[a-z]{2,3}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a data set.

    `languages` are the languages of its text, in the order of its members or columns. `sha256` and `size`
    (bytes) are None if the upstream file is not known so precisely. `members` are the archive members with
    the text, or the columns of a table. `name_is_shared` means that another data set downloads a file with
    the same name. `path` is set for a user's own file, which is read in place.
    """

    dataset: str
    name: str
    languages: tuple[str, ...]
    addresses: tuple[str, ...]
    sha256: str | None = None
    size: int | None = None
    members: tuple[str, ...] = ()
    version: str = ""
    name_is_shared: bool = False
    path: str | None = None

    @property
    def location(self) -> str:
        """The path at which the pipeline reads the file."""
        return self.path or f"{DOWNLOADS}/{self.dataset}/{self.name}"

    @property
    def shipped(self) -> bool:
        """Whether the file comes with the repository and needs no download."""
        return all(address.lower().startswith("file:") for address in self.addresses)

    @property
    def on_request(self) -> str | None:
        """Where the user puts a file that is given on request; None if it is shipped or can be downloaded."""
        paths = [unquote(urlsplit(address).path) for address in self.addresses]
        is_given = self.shipped and all(path.startswith("resources/") for path in paths)
        return paths[0] if paths and is_given else None


@dataclass(frozen=True, slots=True)
class Dataset:
    """All files under one name, with one version, kind and licence.

    `commercial` says whether the licence allows commercial use: `yes`, `no`, or `unknown`.
    """

    name: str
    version: str
    kind: str
    licence: str
    files: tuple[RemoteFile, ...]
    commercial: str = "unknown"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Language pairs with aligned text, each once; none for monolingual data."""
        if self.kind == "aligned":
            return tuple(combinations([file.languages[0] for file in self.files], 2))
        by_languages = {frozenset(file.languages): file.languages for file in self.files}
        return tuple((pair[0], pair[1]) for pair in by_languages.values() if len(pair) == 2)

    def file(self, name: str) -> RemoteFile:
        """The file with this name."""
        for file in self.files:
            if file.name == name:
                return file
        raise InputError(f"data set {self.name!r} has no file {name!r}")

    def pairs_among(self, languages: Sequence[str]) -> list[tuple[str, str]]:
        """The pairs of these languages that a corpus has, or else its paraphrases in any of them.

        Paraphrases are pairs of a language with itself. If there is neither, an `InputError` says what the
        data set has.
        """
        pairs = [pair for pair in combinations(languages, 2) if self._find(pair)]
        # Lines of aligned files are sentences of one language each, not paraphrases.
        if not pairs and self.kind != "aligned":
            pairs = [(code, code) for code in languages if self._find((code,))]
        if not pairs:
            raise self._lacks(languages)
        return pairs

    def select(self, languages: tuple[str, ...]) -> tuple[RemoteFile, ...]:
        """Files that a corpus in `languages` needs; the order of a pair does not matter.

        `opus`, `manythings`, `tmx` and tables give the one file in these languages. `aligned` gives one file
        per language, in the order of `languages`. `paranmt` and `captions` give all files in the language.
        `file` gives all files in exactly these languages, sorted by the order of `languages`. If there is
        none, an `InputError` says what the data set has.
        """
        if not (files := self._find(languages)):
            raise self._lacks(languages)
        return tuple(files)

    def _lacks(self, languages: Sequence[str]) -> InputError:
        have = dict.fromkeys("-".join(file.languages) or "no language" for file in self.files)
        asked = "-".join(languages) or "no language"
        present = f"pairs of {', '.join(have)}" if self.kind == "aligned" else ", ".join(have)
        return InputError(f"data set {self.name!r} has nothing in {asked}; it has {present}")

    def _find(self, languages: tuple[str, ...]) -> list[RemoteFile]:
        """The files that `select` returns; none if there are none."""
        if self.kind == "aligned":
            of_language = {file.languages[0]: file for file in self.files}
            chosen = [of_language[language] for language in languages if language in of_language]
            return chosen if len(chosen) == len(languages) else []
        files = [file for file in self.files if set(file.languages) == set(languages)]
        return sorted(files, key=lambda file: [languages.index(language) for language in file.languages])


def read_registry(path: str | Path) -> dict[str, Dataset]:
    """Read the registry: data sets by name, in the order of their first rows.

    The first fault is an `InputError` of the form `PATH:LINE: column: cause`.
    """
    datasets: dict[str, Dataset] = {}
    lines: dict[str, int] = {}
    for number, row in _rows(path):
        try:
            for file in _files(row):
                name = file.dataset
                first = Dataset(
                    name, row["version"], row["kind"], row["licence"], (), row["commercial"] or "unknown"
                )
                dataset, line = datasets.setdefault(name, first), lines.setdefault(name, number)
                _check_agreement(row, file, dataset, line)
                datasets[name] = replace(dataset, files=(*dataset.files, file))
        except _CellError as error:
            raise InputError(f"{path}:{number}: {': '.join(error.args)}") from None
    everything = [file for dataset in datasets.values() for file in dataset.files]
    counts = Counter(file.name for file in everything if not file.shipped)
    return {
        name: replace(
            dataset,
            files=tuple(replace(file, name_is_shared=counts[file.name] > 1) for file in dataset.files),
        )
        for name, dataset in datasets.items()
    }


class _CellError(Exception):
    """A column, and the reason why its cell cannot be used; the caller adds the line."""


def _rows(path: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and cells by column of every row; blank lines and lines that begin with `#` are skipped."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as a registry of data sets: {error}") from None
    rows = [
        (number, [cell.strip() for cell in line.split("\t")])
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith("#")
    ]
    if not rows:
        raise InputError(f"{path}: header: the file is empty")
    if tuple(rows[0][1]) != COLUMNS:
        raise InputError(f"{path}:{rows[0][0]}: header: the columns must be {' '.join(COLUMNS)}")
    for number, cells in rows[1:]:
        if len(cells) != len(COLUMNS):
            raise InputError(f"{path}:{number}: row: {len(cells)} columns, expected {len(COLUMNS)}")
        yield number, dict(zip(COLUMNS, ("" if cell == "-" else cell for cell in cells), strict=True))


def _check_agreement(row: dict[str, str], file: RemoteFile, dataset: Dataset, line: int) -> None:
    """Refuse a file that conflicts with the others of its data set, whose first row is in `line`."""
    for column in ("version", "kind", "licence"):
        if row[column] != getattr(dataset, column):
            first = f"line {line} says {getattr(dataset, column)!r}"
            raise _CellError(column, f"{row[column]!r}, but {first} for the same data set")
    for other in dataset.files:
        if KINDS[dataset.kind].endings and set(other.languages) == set(file.languages):
            pair = "-".join(file.languages)
            raise _CellError("languages", f"data set {dataset.name!r} has another file in {pair}")
        if other.name == file.name:
            raise _CellError("file", f"{file.name!r} is listed twice for data set {dataset.name!r}")


def _files(row: dict[str, str]) -> list[RemoteFile]:
    """The files of one row: a single file, or one per language pair of a family."""
    for column in _NEEDED:
        if not row[column]:
            raise _CellError(column, "is empty")
    for column, (pattern, cause) in _CELLS.items():
        if row[column] and not re.fullmatch(pattern, row[column]):
            raise _CellError(column, f"{row[column]!r} {cause}")
    groups = _languages(row)
    if len(groups) > 1 and (row["sha256"] or row["size"]):
        raise _CellError("sha256", "a row for several files cannot have one sha256 or size")
    return [_file(row, languages) for languages in groups]


def _languages(row: dict[str, str]) -> list[tuple[str, ...]]:
    groups = [tuple(group.split("-")) for group in row["languages"].split()] or [()]
    allowed = KINDS[row["kind"]].languages
    for group in groups:
        if not all(_CODE.fullmatch(code) for code in group):
            raise _CellError("languages", f"{'-'.join(group)!r} is not made of codes of 2 or 3 letters a-z")
        if len(set(group)) != len(group) or len(group) > 2:
            raise _CellError("languages", f"{'-'.join(group)!r} is not a language or a pair of two")
        if len(group) not in allowed:
            wanted = " or ".join(
                name for count, name in ((1, "one language"), (2, "a pair such as en-fr")) if count in allowed
            )
            raise _CellError("languages", f"kind {row['kind']!r} needs {wanted}, not {'-'.join(group)!r}")
    return groups


def _file(row: dict[str, str], languages: tuple[str, ...]) -> RemoteFile:
    """The file in `languages`, with the codes of a pair in place of {a} and {b}."""
    cells = {}
    for column in ("file", "addresses", "members"):
        cell = row[column]
        if len(languages) == 2:
            cell = cell.replace("{a}", languages[0]).replace("{b}", languages[1])
        if set("{}") & set(cell):
            cause = "the only placeholders are {a} and {b}, for the codes of a pair"
            raise _CellError(column, f"{row[column]!r}: {cause}")
        cells[column] = cell
    if not _FILE.fullmatch(cells["file"]):
        raise _CellError("file", f"{cells['file']!r} is not a plain file name")
    addresses, members = (tuple(cells[column].split()) for column in ("addresses", "members"))
    for address in addresses:
        if error := address_error(address):
            raise _CellError("addresses", f"{hide_secrets(address)!r}: {error}")
    for member in members:
        if member.startswith("/") or ".." in member.split("/"):
            raise _CellError("members", f"{member!r} leaves the archive's folder")
    if error := members_error(row["kind"], members):
        raise _CellError("members", error)
    return RemoteFile(
        dataset=row["name"],
        name=cells["file"],
        languages=languages,
        addresses=addresses,
        sha256=row["sha256"] or None,
        size=int(row["size"]) if row["size"] else None,
        members=members,
        version=row["version"],
    )


def members_error(kind: str, members: tuple[str, ...]) -> str | None:
    """Why `members` cannot name the sides in an archive or file of `kind`; None if they can."""
    named = KINDS[kind].members
    if named == "layout":
        try:
            text_layout(members) if kind == "text" else group_layout(members)
        except LayoutError as error:
            return str(error)
        return None
    if named == "sides" and (not members or len(members) % 2):
        return f"kind {kind!r} needs one member per language, in the order of the languages"
    if named == "lines" and not members:
        return f"kind {kind!r} needs the name of the member with the lines"
    if not members or kind not in FILE_KINDS:
        return None
    if named != "columns":
        return f"kind {kind!r} has no columns"
    if len(members) not in (2, 3, 4) or len(set(members)) < len(members):
        scores = "source, target, paraphrase score, translation score"
        return f"kind {kind!r} needs two to four different columns: {scores}"
    # '-' fills the place of a missing paraphrase score.
    columns = [*members[:2], *members[3:]] if len(members) == 4 and members[2] == "-" else members
    if "-" in columns:
        return "'-' can only stand for the paraphrase score, before a translation score"
    numbers = [column for column in columns if is_count(column)]
    if kind in ("tsv", "csv") and numbers and (len(numbers) < len(columns) or "0" in numbers):
        return f"columns of kind {kind!r} are numbers from 1, or all of them names from its header"
    return None
