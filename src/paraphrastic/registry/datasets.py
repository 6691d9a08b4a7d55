"""The registry of data sets: what each is, where its files are, and how to know them again.

`config/datasets.tsv` has one row a file, or one row a family of files (one file a language pair); its
first lines explain the columns. This module imports little but the standard library, because every dry
run of the pipeline reads the registry.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paraphrastic.base.errors import InputError
from paraphrastic.registry.kinds import FILE_KINDS, KINDS

# The folder of all downloads, one folder a data set.
DOWNLOADS = "resources/downloads"
COLUMNS = (
    "name",
    "version",
    "kind",
    "languages",
    "file",
    "addresses",
    "sha256",
    "size",
    "members",
    "licence",
)

# What a cell that is not empty must match, and what is said of one that does not.
_CELLS = {
    "name": (r"[a-z0-9_]+", "is not made of a-z, 0-9 and _"),
    "kind": ("|".join(KINDS), f"is not one of {', '.join(KINDS)}"),
    "sha256": (r"[0-9a-f]{64}", "is not 64 lower-case hexadecimal digits"),
    "size": (r"0*[1-9][0-9]*", "is not a number of bytes"),
}
_NEEDED = ("name", "version", "kind", "addresses", "licence")
_CODE = re.compile(r"[a-z]{2,3}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a data set.

    `languages` are those of its text, in the order of its members or columns. `sha256` and `size` (bytes)
    are None where the upstream bytes are not known. `members` are the names in the archive that hold the
    text, or for tables its columns. `name_is_shared` says that another data set downloads a file of this
    name. `path` is set for a file that is used from where it lies.
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
        """Where the pipeline reads the file."""
        return self.path or f"{DOWNLOADS}/{self.dataset}/{self.name}"

    @property
    def shipped(self) -> bool:
        """Whether the file comes with the repository, so that there is nothing to download."""
        return all(address.lower().startswith("file:") for address in self.addresses)


@dataclass(frozen=True, slots=True)
class Dataset:
    """All files under one name, of one version, kind and licence."""

    name: str
    version: str
    kind: str
    licence: str
    files: tuple[RemoteFile, ...]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Language pairs with aligned text, each once; none for monolingual data."""
        if self.kind == "aligned":
            return tuple(combinations([file.languages[0] for file in self.files], 2))
        found = {frozenset(file.languages): file.languages for file in self.files}
        return tuple((pair[0], pair[1]) for pair in found.values() if len(pair) == 2)

    def file(self, name: str) -> RemoteFile:
        """The file of this name."""
        for file in self.files:
            if file.name == name:
                return file
        raise InputError(f"data set {self.name!r} has no file {name!r}")

    def select(self, languages: tuple[str, ...]) -> tuple[RemoteFile, ...]:
        """Files that a corpus of `languages` needs; the order of a pair does not matter.

        `opus`, `manythings`, `tmx` and tables give the one file of the languages; `aligned` one file a
        language, in the order asked; `paranmt` and `captions` all files of the language; `file` all files
        of exactly these, those whose first language was asked first coming first. Where there is nothing, an
        `InputError` says what the data set has.
        """
        if self.kind == "aligned":
            of_language = {file.languages[0]: file for file in self.files}
            files = [of_language[language] for language in languages if language in of_language]
            found = len(files) == len(languages) > 0
        else:
            files = [file for file in self.files if set(file.languages) == set(languages)]
            files.sort(key=lambda file: [languages.index(language) for language in file.languages])
            found = bool(files)
        if not found:
            have = dict.fromkeys("-".join(file.languages) or "no language" for file in self.files)
            asked = "-".join(languages) or "no language"
            raise InputError(f"data set {self.name!r} has nothing in {asked}; it has {', '.join(have)}")
        return tuple(files)


def read_registry(path: str | Path) -> dict[str, Dataset]:
    """Read the registry: data sets by name, in the order of their first rows.

    The first thing that is wrong is an `InputError` that says `PATH:LINE: column: cause`.
    """
    datasets: dict[str, Dataset] = {}
    lines: dict[str, int] = {}
    for number, row in _rows(path):
        try:
            for file in _files(row):
                name = file.dataset
                first = Dataset(name, row["version"], row["kind"], row["licence"], ())
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
    """A column, and why its cell cannot be used; the caller knows the line."""


def _rows(path: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and cells by column of every row; empty lines and lines with `#` in front are notes."""
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
    """Refuse a file that cannot stand beside the others of its data set, whose first row is in `line`."""
    for column in ("version", "kind", "licence"):
        if row[column] != getattr(dataset, column):
            first = f"line {line} says {getattr(dataset, column)!r}"
            raise _CellError(column, f"{row[column]!r}, but {first} for the same data set")
    for other in dataset.files:
        if dataset.kind in FILE_KINDS and set(other.languages) == set(file.languages):
            pair = "-".join(file.languages)
            raise _CellError("languages", f"data set {dataset.name!r} has another file in {pair}")
        if other.name == file.name:
            raise _CellError("file", f"{file.name!r} is listed twice for data set {dataset.name!r}")


def _files(row: dict[str, str]) -> list[RemoteFile]:
    """The files of one row: one, or one a pair of a family."""
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
    """The file of `languages`, with their codes in the place of {a} and {b}."""
    cells = {}
    for column in ("file", "addresses", "members"):
        cell = row[column]
        if len(languages) == 2:
            cell = cell.replace("{a}", languages[0]).replace("{b}", languages[1])
        if set("{}") & set(cell):
            cause = "only {a} and {b}, for a pair's codes, are replaced"
            raise _CellError(column, f"{row[column]!r}: {cause}")
        cells[column] = cell
    if not _FILE.fullmatch(cells["file"]):
        raise _CellError("file", f"{cells['file']!r} is not a plain file name")
    addresses, members = (tuple(cells[column].split()) for column in ("addresses", "members"))
    for address in addresses:
        if fault := address_fault(address):
            raise _CellError("addresses", f"{address!r}: {fault}")
    for member in members:
        if member.startswith("/") or ".." in member.split("/"):
            raise _CellError("members", f"{member!r} leaves the archive's folder")
    if fault := members_fault(row["kind"], members):
        raise _CellError("members", fault)
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


def members_fault(kind: str, members: tuple[str, ...]) -> str | None:
    """Why `members` cannot name the sides in an archive or a file of `kind`; None where they can."""
    named = KINDS[kind].members
    if named == "sides" and (not members or len(members) % 2):
        return f"kind {kind!r} needs one member a language, in the order of the languages"
    if named == "lines" and not members:
        return f"kind {kind!r} needs the name of the member with the lines"
    if not members or kind not in FILE_KINDS:
        return None
    if named != "columns":
        return f"kind {kind!r} has no columns"
    if len(members) not in (2, 3, 4) or len(set(members)) < len(members):
        scores = "source, target, paraphrase score, translation score"
        return f"kind {kind!r} needs two to four different columns: {scores}"
    # A paraphrase score that is not there leaves its place to be filled.
    columns = [*members[:2], *members[3:]] if len(members) == 4 and members[2] == "-" else members
    if "-" in columns:
        return "'-' can only stand for the paraphrase score, before a translation score"
    numbers = [column for column in columns if column.isdecimal()]
    if kind == "tsv" and numbers and (len(numbers) < len(columns) or "0" in numbers):
        return "columns of kind 'tsv' are numbers from 1, or all of them names from its header"
    return None


def address_fault(address: str) -> str | None:
    """Why `address` cannot be fetched from; None where it is a well-formed http, https or file address."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # refused when it is asked for
    except ValueError as error:
        return f"not a usable address: {error}"
    if parts.scheme not in ("http", "https", "file"):
        return "not an http, https or file address"
    if parts.scheme == "file":
        return "a file address with a host" if parts.netloc else None if parts.path else "has no path"
    if not parts.hostname:
        return "names no host"
    path = unquote(parts.path)
    return "has no plain path" if not path.strip("/") or ".." in path.split("/") else None
