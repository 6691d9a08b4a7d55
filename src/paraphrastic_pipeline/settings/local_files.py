"""Corpora that a configuration names outside the registry: the user's own files, and corpora of OPUS.

An entry of `corpora` may be a mapping `{path: data/mine.tsv.gz}`. It may also give `name`, `kind` and
`columns`, which otherwise follow from the file's name and content, and `languages`, if these are not all of
the definition's languages. If each side has a file of its own, the second one is its `target`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json, sha256, write_json
from paraphrastic.base.text_files import COMPRESSED_SUFFIXES
from paraphrastic_pipeline.base.hub_names import hub_name, place_fault
from paraphrastic_pipeline.registry.datasets import KINDS, Dataset, RemoteFile, members_error
from paraphrastic_pipeline.registry.opus import OpusCorpus, read_list
from paraphrastic_pipeline.settings.declared import as_json
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.corpora import Mined, OriginalDataset

# Kinds of single-file corpora, by the endings of their names.
ENDINGS = {ending: name for name, kind in KINDS.items() for ending in kind.endings}
DIGESTS = Path("resources/files")
# The kind of two files, aligned by line, with text in two languages. In one language, they are like captions.
PARALLEL = "aligned"

# Names of folders that the pipeline makes of a default name must not be too long for a file system.
_LONGEST = 100
# The longest path that Linux takes is one byte shorter.
_MOST_BYTES = 4096

Entry = Mapping[str, Any]


def looks_like_a_path(name: str) -> bool:
    """Whether a corpus's name looks like a file, which should be given as `{path: …}`."""
    return "/" in name or plain_name(name)[1] in ENDINGS


def default_name_and_kind(path: str) -> tuple[str, str | None]:
    """The name and kind that a corpus has by default, which follow from the name of its file.

    The name may be empty. The kind is None if the file's ending is none of `ENDINGS`.
    """
    stem, ending = plain_name(path)
    return re.sub("[^a-z0-9_]+", "_", stem.lower())[:_LONGEST].strip("_"), ENDINGS.get(ending)


def _described(entry: str | Entry) -> tuple[str, Json | None]:
    """Name of an entry of `corpora`, and for a file its paths, kind (None if unknown), columns and languages.

    If the entry does not give languages, there are none.
    """
    if isinstance(entry, str):
        return entry, None
    name, kind = default_name_and_kind(entry["path"])
    if "target" in entry:
        kind = PARALLEL
    return entry.get("name") or name, {
        "path": entry["path"],
        "target": entry.get("target"),
        "kind": entry.get("kind") or kind,
        "columns": [str(column) for column in entry.get("columns", [])],
        "languages": list(entry.get("languages", [])),
    }


def name_files(config: Json, registry: Mapping[str, Dataset]) -> Iterator[str]:
    """Replace corpora with a path by their names, describe them under `files`, and yield their errors."""
    known: Json = {}
    orders: Json = {}
    for section in ("definitions", "mined"):
        for key, definition in config[section].items():
            at = f"{section}.{key}.corpora"
            described = [_described(entry) for entry in definition["corpora"]]
            definition["corpora"] = names = [name for name, _ in described]
            definition["files"] = files = {name: file for name, file in described if file is not None}
            for number, (name, file) in enumerate(described):
                if file is not None:
                    yield from _language_errors(f"{at}.{number}.languages", file, definition["languages"])
                    # A file may have several pairs of languages.
                    same = {**file, "languages": None}
                    taken = names.count(name) > 1 or known.get(name, same) != same
                    known[name] = same
                    yield from _entry_errors(f"{at}.{number}", name, file, name in registry, taken)
            for name, file in files.items():
                languages: list[str] = file["languages"]
                first: list[str] = orders.setdefault(f"{name} {sorted(languages)}", languages)
                # The order of the languages matters unless the columns are named after them.
                if (file["kind"] in (PARALLEL, "tsv", "csv") or file["columns"]) and first != languages:
                    what = "languages" if file["target"] else "columns"
                    elsewhere = f"the {what} of {name!r} are {'-'.join(first)} elsewhere"
                    yield f"{at}: {elsewhere}: give it another name and its {what} here"
    for name in config["mined"]:
        if name in registry or name in known:
            owner = "the registry of data sets" if name in registry else "a file"
            yield f"mined.{name}: the name is taken by {owner}: give it another name"


def _entry_errors(at: str, name: str, file: Json, in_registry: bool, taken: bool) -> Iterator[str]:
    """Errors in an entry with a path; its name may already belong to the registry or another corpus."""
    if not name:
        yield f"{at}: no name can be made from {file['path']!r}: give it a name"
    elif in_registry:
        yield f"{at}: the name {name!r} is taken by the registry of data sets: give it another name"
    elif taken:
        yield f"{at}: the name {name!r} is given to two corpora: give one of them another name"
    yield from path_errors(f"{at}.path", file["path"])
    if file["target"]:
        yield from path_errors(f"{at}.target", file["target"])
        if file["target"] == file["path"]:
            yield f"{at}.target: is the same file as its path; give the file with the other side"
        if file["columns"] or file["kind"] != PARALLEL:
            yield f"{at}.target: two aligned files have no kind and no columns: leave them out"
    elif file["kind"] is None:
        endings = ", ".join(ENDINGS)
        yield f"{at}.path: {file['path']!r} has none of the endings {endings}: give its kind"
    elif error := members_error(file["kind"], tuple(file["columns"])):
        yield f"{at}.columns: {error}"


def _language_errors(key: str, file: Json, languages: Sequence[str]) -> Iterator[str]:
    """Give a file the languages of its definition unless it has its own, and yield errors in these."""
    codes = file["languages"] = file["languages"] or list(languages)
    if file["kind"] == "text" and len(codes) > 1:
        yield f"{key}: are missing: text without pairs is in one of {', '.join(languages)}"
    elif len(codes) > 2:
        yield f"{key}: are missing: a file has one or two of {', '.join(languages)}"
    for code in codes:
        if code not in languages:
            yield f"{key}: {code!r} is not a language of the definition, which has {', '.join(languages)}"


def path_errors(key: str, path: str, *, folder: bool = False) -> Iterator[str]:
    """Errors in a path under `key`, which must be a file or a folder."""
    what = "folder" if folder else "file"
    if cause := name_fault(path):
        yield f"{key}: {path!r} {cause}: rename the {what}"
    elif not (Path(path).is_dir() if folder else Path(path).is_file()):
        yield f"{key}: {path!r} is not a {what}"


def name_fault(path: str) -> str | None:
    """Why a configuration cannot name a file by this path; None if it can."""
    if set("{}") & set(path):
        return "contains a brace, which Snakemake reads as a wildcard"
    if any("\ud800" <= character <= "\udfff" for character in path):
        return "is not UTF-8"
    if len(path.encode()) >= _MOST_BYTES or any(len(part.encode()) > 255 for part in path.split("/")):
        return "is longer than a file system allows"
    return None


def place_errors(key: str, place: str) -> Iterator[str]:
    """Errors in the place of a model under `key`: a folder, or a name on the Hugging Face Hub."""
    if hub_name(place) is None and (cause := name_fault(place)):
        yield f"{key}: {place!r} {cause}: rename the folder"
    elif fault := place_fault(place):
        yield f"{key}: {place!r} {fault}"


def dataset_versions(model: str, files: OriginalDataset) -> dict[str, str]:
    """Digests of the files of `dataset`, by file name, as versions of the results made from them."""
    return {
        Path(path).name: f"sha256:{_digest(f'{model}-{name}', Path(path))}"
        for name, path in as_json(files).items()
    }


def named_datasets(config: Configuration, registry: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Data sets that a checked configuration names outside the registry.

    The version of a file is its digest, so that results are rebuilt when its content changes.
    """
    datasets: dict[str, Dataset] = {}
    definitions: list[Definition | Mined] = [*config.definitions.values(), *config.mined.values()]
    for definition in definitions:
        for name, entry in definition.files.items():
            languages = tuple(entry.languages)
            if not entry.target:
                # Groups are read by the reader of tables with a group in each row.
                columns = ["table", *entry.columns] if entry.kind == "groups" else entry.columns
                _add(datasets, entry.kind, [_file(name, name, entry.path, languages, columns)])
                continue
            first, last = languages[:1], languages[-1:]
            files = [_file(name, name, entry.path, first), _file(name, f"{name}-target", entry.target, last)]
            _add(datasets, PARALLEL if first != last else "captions", files)
        for corpus in opus_corpora(definition, {*registry, *config.mined}):
            _add(datasets, "opus", [corpus.file()])
    return datasets


def _file(
    dataset: str, record: str, path: str, languages: tuple[str, ...], columns: Sequence[str | int] = ()
) -> RemoteFile:
    """A user's own file; `record` names the record of its digest."""
    version = f"sha256:{_digest(record, Path(path))}"
    members = tuple(map(str, columns))
    return RemoteFile(dataset, Path(path).name, languages, (), members=members, version=version, path=path)


def opus_corpora(definition: Definition | Mined, others: Iterable[str]) -> list[OpusCorpus]:
    """OPUS's entries for the corpora of a checked definition that are neither files nor among `others`."""
    names = [name for name in definition.corpora if name not in {*definition.files, *others}]
    lists = [read_list(pair) or {} for pair in combinations(definition.languages, 2) if names]
    return [listed[name] for name in names for listed in lists if name in listed]


def _add(datasets: dict[str, Dataset], kind: str, files: Sequence[RemoteFile]) -> None:
    """Add files to their data set, unless the data set has a file in the same languages as the first one."""
    first, *_ = files
    new = Dataset(first.dataset, first.version, kind, "see its source", ())
    dataset = datasets.setdefault(first.dataset, new)
    if not any(set(other.languages) == set(first.languages) for other in dataset.files):
        datasets[first.dataset] = replace(dataset, files=(*dataset.files, *files))


def plain_name(path: str) -> tuple[str, str]:
    """The stem and lower-cased ending of a file's name, ignoring an ending for compression."""
    file = Path(path)
    if file.suffix.lower() in COMPRESSED_SUFFIXES:
        file = file.with_suffix("")
    return file.stem, file.suffix.lower()


def _digest(name: str, path: Path) -> str:
    """SHA-256 of a file, from its record if the file's path, size and times have not changed since."""
    record = DIGESTS / f"{name}.json"
    try:
        status = path.stat()
        # Also record the time of the last status change, since tools that copy files restore the other one.
        times = {"mtime_ns": status.st_mtime_ns, "ctime_ns": status.st_ctime_ns}
        state = {"path": str(path), "size": status.st_size, **times}
        if record.is_file():
            known = read_json(record)
            if isinstance(known, dict) and {**known, **state} == known and "sha256" in known:
                return str(known["sha256"])
        digest = sha256(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    write_json(record, {**state, "sha256": digest})
    return digest
