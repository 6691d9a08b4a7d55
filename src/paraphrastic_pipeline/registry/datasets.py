"""The registry of data sets: their kinds, and the addresses and digests of their files.

The first lines of `config/datasets.tsv` explain its columns. Every dry run imports this module.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal, NoReturn
from urllib.parse import unquote, urlsplit

from paraphrastic.base.errors import InputError
from paraphrastic.base.numbers import is_count
from paraphrastic_pipeline.registry.addresses import address_error


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of data set, in the registry or in a user's own file; docs/download.md describes each.

    Attributes:
        languages: possible numbers of languages of a registry row: two (a pair), one (paraphrases), or none.
        is_corpus: whether the data set contains training pairs.
        endings: lower-case endings of the names of such files. Only kinds whose corpora are a single file,
            which a configuration can name by its path, have endings.
        members: meaning of the column `members`: an archive member for each side (`sides`), one with lines of
            both (`lines`), columns of source, target and scores (`columns`), the `reader` of groups, or the
            member or columns with the `text`.
        scores: scores that a corpus may contain: `paraphrase_score`, `translation_score`.
        grouped: whether all sentences of the pairs from one line mean the same.
    """

    languages: tuple[int, ...]
    is_corpus: bool = False
    endings: tuple[str, ...] = ()
    members: Literal["", "sides", "lines", "columns", "reader", "text"] = ""
    scores: tuple[str, ...] = ()
    grouped: bool = False


def _table(*endings: str) -> Kind:
    scores = ("paraphrase_score", "translation_score")
    return Kind((1, 2), is_corpus=True, endings=endings, members="columns", scores=scores)


# A new kind of corpus also needs a reader in `corpus/readers.py`. The configuration's schema and its
# validation take their knowledge of kinds from here.
KINDS = {
    "opus": Kind((2,), is_corpus=True, members="sides"),
    "manythings": Kind((2,), is_corpus=True, members="lines"),
    "aligned": Kind((1,), is_corpus=True),
    "paranmt": Kind((1,), is_corpus=True, members="lines", scores=("paraphrase_score",)),
    "captions": Kind((1,), is_corpus=True, grouped=True),
    # Sentences of one language in groups that mean the same; see `corpus.groups`.
    "groups": Kind((1,), is_corpus=True, members="reader", grouped=True),
    # Text without pairs: a sentence on each line, in columns of a table, or before the tabs of a member.
    "text": Kind((1,), is_corpus=True, members="text"),
    "tsv": _table(".tsv", ".txt"),
    "csv": _table(".csv"),
    "jsonl": _table(".jsonl", ".ndjson"),
    "parquet": _table(".parquet"),
    "tmx": Kind((1, 2), is_corpus=True, endings=(".tmx",)),
    "fasttext": Kind((0,)),
    "vectors": Kind((0, 1)),
    "sts": Kind((0,)),
    "uriel": Kind((0,)),
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
        return next(file for file in self.files if file.name == name)

    def pairs_among(self, languages: Sequence[str]) -> list[tuple[str, str]]:
        """The pairs of these languages that a corpus has, or else its paraphrases in any of them.

        Paraphrases are pairs of a language with itself. If there is neither, an `InputError` says what the
        data set has.
        """
        pairs = [pair for pair in combinations(languages, 2) if self._find(pair)]
        # Lines of aligned files are sentences of one language each, not paraphrases.
        if not pairs and self.kind != "aligned":
            pairs = [(code, code) for code in languages if self._find((code,))]
        return pairs or self._lacks(languages)

    def select(self, languages: tuple[str, ...]) -> tuple[RemoteFile, ...]:
        """Files that a corpus in `languages` needs; the order of a pair does not matter.

        `aligned` gives one file per language. Other kinds give all files in exactly these languages, sorted
        by the order of `languages`. If there is none, an `InputError` says what the data set has.
        """
        return tuple(self._find(languages) or self._lacks(languages))

    def _lacks(self, languages: Sequence[str]) -> NoReturn:
        have = ", ".join(dict.fromkeys("-".join(file.languages) or "no language" for file in self.files))
        asked = "-".join(languages) or "no language"
        present = f"pairs of {have}" if self.kind == "aligned" else have
        raise InputError(f"data set {self.name!r} has nothing in {asked}; it has {present}")

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
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as a registry of data sets: {error}") from None
    datasets: dict[str, Dataset] = {}
    header: list[str] = []
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.split("\t")]
        try:
            if not line.strip() or line.startswith("#"):
                continue
            if not header:
                _require(tuple(cells) == COLUMNS, "header", f"the columns must be {' '.join(COLUMNS)}")
                header = cells
                continue
            _require(len(cells) == len(header), "row", f"{len(cells)} columns, expected {len(header)}")
            cells = ["" if cell == "-" else cell for cell in cells]
            _add(datasets, dict(zip(header, cells, strict=True)))
        except _CellError as error:
            raise InputError(f"{path}:{number}: {error}") from None
    if not header:
        raise InputError(f"{path}: header: the file is empty")
    counts = Counter(file.name for one in datasets.values() for file in one.files if not file.shipped)
    for name, dataset in datasets.items():
        files = (replace(file, name_is_shared=counts[file.name] > 1) for file in dataset.files)
        datasets[name] = replace(dataset, files=tuple(files))
    return datasets


class _CellError(Exception):
    """A column, and the reason why its cell cannot be used; the caller adds the line."""


def _require(condition: object, column: str, cause: str) -> None:
    if not condition:
        raise _CellError(f"{column}: {cause}")


def _add(datasets: dict[str, Dataset], row: dict[str, str]) -> None:
    """Add the files of a row: a single file, or one per language pair of a family."""
    for column in _NEEDED:
        _require(row[column], column, "is empty")
    for column, (pattern, cause) in _CELLS.items():
        _require(not row[column] or re.fullmatch(pattern, row[column]), column, f"{row[column]!r} {cause}")
    pairs = [tuple(pair.split("-")) for pair in row["languages"].split()] or [()]
    several = len(pairs) > 1 and (row["sha256"] or row["size"])
    _require(not several, "sha256", "a row for several files cannot have one sha256 or size")
    name = row["name"]
    dataset = datasets.get(name) or Dataset(
        name, row["version"], row["kind"], row["licence"], (), row["commercial"] or "unknown"
    )
    for column in ("version", "kind", "licence"):
        cause = f"{row[column]!r}, but another row of the data set says {getattr(dataset, column)!r}"
        _require(row[column] == getattr(dataset, column), column, cause)
    for languages in pairs:
        file, pair = _file(row, languages), "-".join(languages)
        for other in dataset.files:
            is_second = KINDS[dataset.kind].endings and set(other.languages) == set(languages)
            _require(not is_second, "languages", f"data set {name!r} has another file in {pair}")
            _require(other.name != file.name, "file", f"{file.name!r} is listed twice for data set {name!r}")
        dataset = replace(dataset, files=(*dataset.files, file))
    datasets[name] = dataset


def _file(row: dict[str, str], languages: tuple[str, ...]) -> RemoteFile:
    """The file in `languages`, with the codes of a pair in place of {a} and {b}."""
    pair, allowed = "-".join(languages), KINDS[row["kind"]].languages
    wanted = " or ".join(("no language", "one language", "a pair such as en-fr")[count] for count in allowed)
    is_allowed = len(languages) in allowed and len(set(languages)) == len(languages)
    _require(is_allowed, "languages", f"kind {row['kind']!r} needs {wanted}, not {pair!r}")
    are_codes = all(map(_CODE.fullmatch, languages))
    _require(are_codes, "languages", f"{pair!r} is not made of codes of 2 or 3 letters a-z")
    cells = {column: row[column] for column in ("file", "addresses", "members")}
    for column, cell in cells.items():
        if len(languages) == 2:
            cells[column] = cell.replace("{a}", languages[0]).replace("{b}", languages[1])
        cause = "the only placeholders are {a} and {b}, for the codes of a pair"
        _require(not set("{}") & set(cells[column]), column, f"{cell!r}: {cause}")
    _require(_FILE.fullmatch(cells["file"]), "file", f"{cells['file']!r} is not a plain file name")
    addresses, members = (tuple(cells[column].split()) for column in ("addresses", "members"))
    for error in map(address_error, addresses):
        _require(error is None, "addresses", str(error))
    error = members_error(row["kind"], members)
    _require(error is None, "members", str(error))
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
    if named == "sides" and (not members or len(members) % 2):
        return f"kind {kind!r} needs one member per language, in the order of the languages"
    if named == "lines" and not members:
        return f"kind {kind!r} needs the name of the member with the lines"
    if not members or named in ("reader", "text") or kind not in FILE_KINDS:
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
