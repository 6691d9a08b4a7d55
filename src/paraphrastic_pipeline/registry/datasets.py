"""The registry of data sets: their kinds, and the addresses and digests of their files.

The first lines of `config/datasets.tsv` explain its columns. Every dry run imports this module.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

from paraphrastic.base.errors import InputError
from paraphrastic.base.text_files import read_sentences
from paraphrastic_pipeline.registry.addresses import address_error


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of data set, in the registry or in a user's own file; docs/download.md describes each.

    Attributes:
        languages: possible numbers of languages of a registry row: two (a pair), one (paraphrases), or none.
        is_corpus: whether the data set contains training pairs.
        endings: lower-case endings of the names of such files. Only kinds whose corpora are a single file,
            which a configuration can name by its path, have endings.
        members: possible numbers of the column `members`, or of columns of a user's file.
        scores: scores that a corpus may contain: `paraphrase_score`, `translation_score`.
        grouped: whether all sentences of the pairs from one line mean the same.
    """

    languages: tuple[int, ...]
    is_corpus: bool = False
    endings: tuple[str, ...] = ()
    members: Sequence[int] = range(101)
    scores: tuple[str, ...] = ()
    grouped: bool = False


_SCORES = ("paraphrase_score", "translation_score")
_corpus = partial(Kind, is_corpus=True)
_table = partial(_corpus, (1, 2), members=(0, 2, 3, 4), scores=_SCORES)

# A new kind of corpus also needs a reader in `corpus/readers.py`. The configuration's schema and its
# validation take their knowledge of kinds from here.
KINDS = {
    # In OPUS, a member for each side, with all names that it may have; in others, the one with the lines.
    "opus": _corpus((2,), members=range(2, 101, 2)),
    "manythings": _corpus((2,), members=(1,)),
    "aligned": _corpus((1,)),
    "paranmt": _corpus((1,), members=(1,), scores=_SCORES[:1]),
    "captions": _corpus((1,), grouped=True),
    # Sentences of one language in groups that mean the same; the first member is a reader in `corpus.groups`.
    "groups": _corpus((1,), grouped=True),
    # Text without pairs: a sentence on each line, in columns of a table, or before the tabs of a member.
    "text": _corpus((1,)),
    "tsv": _table(endings=(".tsv", ".txt")),
    "csv": _table(endings=(".csv",)),
    "jsonl": _table(endings=(".jsonl", ".ndjson")),
    "parquet": _table(endings=(".parquet",)),
    "tmx": _corpus((1, 2), endings=(".tmx",), members=(0,)),
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
_PLAIN = ("[^{}]*", "has other placeholders than {a} and {b}, for the codes of a pair")
# The columns: the pattern of a cell whose placeholders are filled in, and what is wrong with another.
_CELLS = {
    "name": ("[a-z0-9_]+", "is not made of a-z, 0-9 and _"),
    "version": (".+", "is empty"),
    "kind": ("|".join(KINDS), f"is not one of {', '.join(KINDS)}"),
    "languages": ("(?:[a-z]{2,3}(?:-[a-z]{2,3})?)?", "is not made of codes of 2 or 3 letters a-z"),
    "file": ("[A-Za-z0-9_][A-Za-z0-9_.-]*", "is not a plain file name"),
    "addresses": _PLAIN,
    "sha256": ("(?:[0-9a-f]{64})?", "is not 64 lower-case hexadecimal digits"),
    "size": ("(?:0*[1-9][0-9]*)?", "is not a number of bytes"),
    "members": _PLAIN,
    "licence": (".+", "is empty"),
    "commercial": ("(?:yes|no)?", "is not yes, no or -"),
}
COLUMNS = tuple(_CELLS)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a data set.

    `languages` are the languages of its text, in the order of its members or columns. `sha256` and `size`
    (bytes) are None if the upstream file is not known so precisely. `members` are the archive members with
    the text, or the columns of a table. `path` is set for a user's own file, which is read in place.
    """

    dataset: str
    name: str
    languages: tuple[str, ...]
    addresses: tuple[str, ...]
    sha256: str | None = None
    size: int | None = None
    members: tuple[str, ...] = ()
    version: str = ""
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
        paths = (address.removeprefix("file:") for address in self.addresses)
        return next((path for path in paths if self.shipped and path.startswith("resources/")), None)


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

    def _find(self, languages: tuple[str, ...]) -> list[RemoteFile]:
        """The files that `select` returns; none if there are none."""
        wanted = [{code} for code in languages] if self.kind == "aligned" else [{*languages}]
        found = [[file for file in self.files if {*file.languages} == codes] for codes in wanted]
        files = [file for some in found for file in some if all(found)]
        return sorted(files, key=lambda file: [languages.index(code) for code in file.languages])

    def _lacks(self, languages: Sequence[str]) -> NoReturn:
        have = ", ".join(dict.fromkeys("-".join(file.languages) or "no language" for file in self.files))
        asked = "-".join(languages) or "no language"
        raise InputError(f"data set {self.name!r} has nothing in {asked}; it has {have}")


def read_registry(path: str | Path) -> dict[str, Dataset]:
    """Read the registry: data sets by name, in the order of their first rows.

    The first fault is an `InputError` of the form `PATH:LINE: column: cause`.
    """
    lines = enumerate(read_sentences(str(path)), start=1)
    rows = [(number, line.split("\t")) for number, line in lines if line.strip() and line[0] != "#"]
    first, header = rows[0] if rows else (1, [])
    if tuple(header) != COLUMNS:
        raise InputError(f"{path}:{first}: header: the columns must be {' '.join(COLUMNS)}")
    datasets: dict[str, Dataset] = {}
    for number, row in rows[1:]:
        cells = ["" if cell == "-" else cell for cell in map(str.strip, row)]
        try:
            _require(len(cells) == len(COLUMNS), "row", f"{len(cells)} columns, expected {len(COLUMNS)}")
            _add(datasets, dict(zip(COLUMNS, cells, strict=True)))
        except ValueError as error:
            raise InputError(f"{path}:{number}: {error}") from None
    return datasets


def _require(condition: object, column: str, cause: object) -> None:
    """Raise a `ValueError` if a cell cannot be used; the caller adds the line."""
    if not condition:
        raise ValueError(f"{column}: {cause}")


def _add(datasets: dict[str, Dataset], cells: dict[str, str]) -> None:
    """Add the files of a row: a single file, or one per language pair of a family."""
    row = SimpleNamespace(**cells)
    pairs = row.languages.split() or [""]
    several = len(pairs) > 1 and (row.sha256 or row.size)
    _require(not several, "sha256", "a row for several files cannot have one sha256 or size")
    for file in [_file({**cells, "languages": pair}) for pair in pairs]:
        new = Dataset(file.dataset, file.version, row.kind, row.licence, (), row.commercial or "unknown")
        dataset = datasets.get(file.dataset, new)
        for column in ("version", "kind", "licence"):
            own, other = cells[column], getattr(dataset, column)
            _require(own == other, column, f"{own!r}, but another row of the data set says {other!r}")
        for other in dataset.files:
            _require(other.name != file.name, "file", f"{file.name!r} is listed twice for the data set")
            is_second = KINDS[dataset.kind].endings and {*other.languages} == {*file.languages}
            _require(not is_second, "languages", f"{file.name!r} is a second file in the same languages")
        datasets[file.dataset] = replace(dataset, files=(*dataset.files, file))


def _file(cells: dict[str, str]) -> RemoteFile:
    """The file of a row for one language, pair, or none, whose codes take the place of {a} and {b}."""
    if languages := tuple(filter(None, cells["languages"].split("-"))):
        a, b = languages[0], languages[-1]
        cells = {column: cell.replace("{a}", a).replace("{b}", b) for column, cell in cells.items()}
    for column, (pattern, cause) in _CELLS.items():
        _require(re.fullmatch(pattern, cells[column]), column, f"{cells[column]!r} {cause}")
    row = SimpleNamespace(**cells)
    kind, allowed = row.kind, KINDS[row.kind].languages
    cause = f"kind {kind!r} has {' or '.join(map(str, allowed))} of them, not {row.languages!r}"
    _require(len(languages) in allowed and len({*languages}) == len(languages), "languages", cause)
    addresses, members = tuple(row.addresses.split()), tuple(row.members.split())
    error = next(filter(None, map(address_error, addresses or [""])), None)
    _require(error is None, "addresses", error)
    error = members_error(kind, members)
    _require(error is None, "members", error)
    digest, size = row.sha256 or None, int(row.size or 0) or None
    return RemoteFile(row.name, row.file, languages, addresses, digest, size, members, row.version)


def members_error(kind: str, members: Sequence[str]) -> str | None:
    """Why `members` cannot name the sides in an archive or file of `kind`; None if they can."""
    allowed = KINDS[kind].members
    if len(members) not in allowed:
        return f"kind {kind!r} has {' or '.join(map(str, allowed[:4]))} of them, not {len(members)}"
    # `-` stands for no paraphrase score alone, and columns are counted from 1.
    wrong = {"-", "0"} if kind in ("tsv", "csv") else {"-"}
    return next((f"{one!r} is no column" for one in (*members[:2], *members[3:]) if one in wrong), None)
