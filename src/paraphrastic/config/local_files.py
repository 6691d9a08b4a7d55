"""Corpora that a configuration names beside the registry's: files that lie elsewhere, and corpora of OPUS.

An entry of `corpora` may be a mapping `{path: data/mine.tsv.gz}`, with `name`, `kind` and `columns` where
they are not to be taken from the file's name and content.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic.registry.datasets import Dataset, RemoteFile, members_fault
from paraphrastic.registry.kinds import KINDS
from paraphrastic.registry.opus import OpusCorpus, read_list

# Kinds that are one file, by the endings of their names.
ENDINGS = {ending: name for name, kind in KINDS.items() for ending in kind.endings}
_COMPRESSED = (".gz", ".bz2", ".zst")
DIGESTS = Path("resources/files")
# Training data of the original code, which a definition may have in the place of corpora.
DATASET_FILES = ("hdf5", "vocabulary", "sentencepiece")

Entry = Mapping[str, Any]


def corpus_name(entry: str | Entry) -> str:
    """Name of an entry of `corpora`: as given, or made of the file's name."""
    if isinstance(entry, str):
        return entry
    name = entry.get("name") or re.sub("[^a-z0-9_]+", "_", _plain_name(entry["path"])[0].lower()).strip("_")
    return str(name)


def looks_like_a_path(name: str) -> bool:
    """Whether a corpus's name is a file's, which is given as `{path: …}`."""
    return "/" in name or _plain_name(name)[1] in ENDINGS


def complete_entry(entry: Entry) -> dict[str, Any]:
    """An entry with a path as `{path, kind, columns}`; its kind is None where the name does not tell it."""
    return {
        "path": entry["path"],
        "kind": entry.get("kind") or ENDINGS.get(_plain_name(entry["path"])[1]),
        "columns": [str(column) for column in entry.get("columns", [])],
    }


def name_files(config: dict[str, Any], registry: Mapping[str, Dataset]) -> Iterator[str]:
    """Put names in the place of corpora with a path, and describe these under `files`; yield their faults."""
    known: dict[str, Any] = {}
    orders: dict[str, Any] = {}
    for section in ("definitions", "mined"):
        for key, definition in config[section].items():
            at, corpora, languages = (
                f"{section}.{key}.corpora",
                definition["corpora"],
                definition["languages"],
            )
            yield from _entry_faults(at, corpora, known, registry)
            files = {corpus_name(each): complete_entry(each) for each in corpora if not isinstance(each, str)}
            definition["corpora"] = [corpus_name(entry) for entry in corpora]
            definition["files"] = files
            known |= files
            for name, file in files.items():
                first = orders.setdefault(f"{name} {sorted(languages)}", languages)
                # Columns that are named by the languages need no order.
                if (file["kind"] == "tsv" or file["columns"]) and first != languages:
                    elsewhere = f"the columns of {name!r} are {'-'.join(first)} elsewhere"
                    yield f"{at}: {elsewhere}: give it another name and its columns here"
    for name in config["mined"]:
        if name in registry or name in known:
            owner = "the registry of data sets" if name in registry else "a file"
            yield f"mined.{name}: the name is taken by {owner}: give it another name"


def _entry_faults(
    key: str, corpora: Iterable[str | Entry], others: Mapping[str, Any], registry: Mapping[str, Dataset]
) -> Iterator[str]:
    """Faults of the entries with paths under `key`; `others` are completed ones of other definitions."""
    names = [corpus_name(entry) for entry in corpora]
    for number, entry in enumerate(corpora):
        if isinstance(entry, str):
            continue
        at, name, completed = f"{key}.{number}", names[number], complete_entry(entry)
        if not name:
            yield f"{at}: no name can be made of {entry['path']!r}: give it a name"
        elif name in registry:
            yield f"{at}: the name {name!r} is taken by the registry of data sets: give it another name"
        elif names.count(name) > 1 or others.get(name, completed) != completed:
            yield f"{at}: the name {name!r} is given to two corpora: give one of them another name"
        yield from path_faults(f"{at}.path", entry["path"])
        if completed["kind"] is None:
            known = ", ".join(ENDINGS)
            yield f"{at}.path: {entry['path']!r} has none of the endings {known}: give its kind"
        elif fault := members_fault(completed["kind"], tuple(completed["columns"])):
            yield f"{at}.columns: {fault}"


def path_faults(key: str, path: str, *, folder: bool = False) -> Iterator[str]:
    """What is wrong with a path under `key`, which is to be a file or a folder."""
    what = "folder" if folder else "file"
    if set("{}") & set(path):
        yield f"{key}: {path!r} has a brace, which is a wildcard's: rename the {what}"
    elif not (Path(path).is_dir() if folder else Path(path).is_file()):
        yield f"{key}: {path!r} is not a {what}"


def dataset_versions(model: str, files: Mapping[str, str]) -> dict[str, str]:
    """Digests of the files of `dataset`, by their names, as versions of what is made of them."""
    return {
        Path(files[name]).name: f"sha256:{_digest(f'{model}-{name}', Path(files[name]))}"
        for name in DATASET_FILES
    }


def named_datasets(config: Mapping[str, Any], registry: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Data sets that a checked configuration names beside the registry's.

    The version of a file is its digest, so that what was made of other content is made again.
    """
    datasets: dict[str, Dataset] = {}
    for definition in (*config["definitions"].values(), *config["mined"].values()):
        languages = tuple(definition["languages"])
        for name, entry in definition["files"].items():
            path = Path(entry["path"])
            version, members = f"sha256:{_digest(name, path)}", tuple(entry["columns"])
            file = RemoteFile(
                name, path.name, languages, (), members=members, version=version, path=entry["path"]
            )
            _add(datasets, entry["kind"], file)
        for corpus in opus_corpora(definition, {*registry, *config["mined"]}):
            _add(datasets, "opus", corpus.file())
    return datasets


def opus_corpora(definition: Mapping[str, Any], others: Iterable[str]) -> list[OpusCorpus]:
    """The corpora of a checked definition that are no files and none of `others`, as OPUS lists them."""
    names = [name for name in definition["corpora"] if name not in {*definition["files"], *others}]
    if not names or len(definition["languages"]) != 2:
        return []
    listed = read_list(definition["languages"]) or {}
    return [listed[name] for name in names if name in listed]


def _add(datasets: dict[str, Dataset], kind: str, file: RemoteFile) -> None:
    """Add a file to its data set, unless that has one in the same languages."""
    new = Dataset(file.dataset, file.version, kind, "see its source", ())
    dataset = datasets.setdefault(file.dataset, new)
    if not any(set(other.languages) == set(file.languages) for other in dataset.files):
        datasets[file.dataset] = replace(dataset, files=(*dataset.files, file))


def _plain_name(path: str) -> tuple[str, str]:
    """Stem and ending of a file's name without the ending of its compression, in lower case the latter."""
    file = Path(path)
    if file.suffix.lower() in _COMPRESSED:
        file = file.with_suffix("")
    return file.stem, file.suffix.lower()


def _digest(name: str, path: Path) -> str:
    """SHA-256 of a file; read from its record as long as size and times of the file are the recorded ones."""
    record = DIGESTS / f"{name}.json"
    try:
        status = path.stat()
        # The time of the last change of status, too: tools that copy files set the other one back.
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
