"""Corpora that a configuration names outside the registry: the user's own files, and corpora of OPUS."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic.base.text_files import COMPRESSED_SUFFIXES
from paraphrastic_pipeline.registry.datasets import KINDS, Dataset, RemoteFile, members_error
from paraphrastic_pipeline.registry.opus import OpusCorpus, read_list
from paraphrastic_pipeline.settings.places import path_mistakes
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.corpora import FileCorpus, Mined, OriginalDataset

# Kinds of single-file corpora, by the endings of their names.
ENDINGS = {ending: name for name, kind in KINDS.items() for ending in kind.endings}
DIGESTS = Path("resources/files")

# Names of folders that the pipeline makes of a default name must not be too long for a file system.
_LONGEST = 100


def looks_like_a_path(name: str) -> bool:
    """Whether a corpus's name looks like a file, which should be given as `{path: …}`."""
    return "/" in name or plain_name(name)[1] in ENDINGS


def default_name_and_kind(path: str) -> tuple[str, str | None]:
    """The name and kind that a corpus has by default, which follow from the name of its file.

    The name may be empty. The kind is None if the file's ending is none of `ENDINGS`.
    """
    stem, ending = plain_name(path)
    return re.sub("[^a-z0-9_]+", "_", stem.lower())[:_LONGEST].strip("_"), ENDINGS.get(ending)


def completed_file(corpus: Any, languages: Sequence[str]) -> Any:
    """An entry of `corpora`; one that is a file gets its name, kind and languages."""
    if not isinstance(corpus, Mapping):
        return corpus
    name, kind = default_name_and_kind(corpus["path"])
    stated = {key: value for key, value in corpus.items() if value is not None}
    follow = {"name": name or None, "kind": None if "target" in stated else kind, "languages": [*languages]}
    if "languages" not in stated and len(languages) > 2:
        del follow["languages"]
    return {**follow, **stated}


def file_mistakes(config: Configuration, registry: Mapping[str, Dataset]) -> Iterator[str]:
    """Mistakes in the corpora that are files, and in their names."""
    known: dict[str | None, FileCorpus] = {}
    sections = (("definitions", config.definitions), ("mined", config.mined))
    entries = [(f"{section}.{name}", entry) for section, of in sections for name, entry in of.items()]
    for where, entry in entries:
        for number, file in enumerate(entry.corpora):
            if isinstance(file, FileCorpus):
                at = f"{where}.corpora.{number}"
                yield from _file_mistakes(at, file, entry.languages)
                # A file may have several pairs of languages, but a column has one.
                first = known.setdefault(file.name, file)
                turned = (first.languages or [])[::-1] == file.languages != first.languages
                by_place = file.columns or file.kind in (None, "tsv", "csv")
                same = first == replace(file, languages=first.languages) and not (turned and by_place)
                if entry.names.count(file.name or "") > 1 or not same:
                    yield f"{at}.name: {file.name!r} is given to two corpora: give one of them another name"
    for taken in {*registry, *config.mined} & known.keys():
        yield f"definitions: {taken!r} is the name of a file and of another corpus: rename it"
    for taken in config.mined.keys() & registry.keys():
        yield f"mined.{taken}: the name is in the registry of data sets: give it another name"


def _file_mistakes(at: str, file: FileCorpus, languages: Sequence[str]) -> Iterator[str]:
    codes = file.languages or []
    if not file.name:
        yield f"{at}.name: is missing; none can be made from {file.path!r}"
    for key, path in (("path", file.path), ("target", file.target)):
        yield from path_mistakes(f"{at}.{key}", path) if path else ()
    if file.target and (file.columns or file.kind or file.target == file.path):
        yield f"{at}.target: is the other side of the file, line by line, without kind and columns"
    elif not file.target and not file.kind:
        yield f"{at}.kind: is missing; {file.path!r} has none of the endings {', '.join(ENDINGS)}"
    elif error := file.kind and members_error(file.kind, tuple(map(str, file.columns or ()))):
        yield f"{at}.columns: {error}"
    if not codes or (file.kind == "text" and len(codes) > 1):
        yield f"{at}.languages: is missing; text is in one language, and other files are in one or two"
    for code in {*codes} - {*languages}:
        yield f"{at}.languages: {code!r} is not one of the definition's, {', '.join(languages)}"


def dataset_versions(model: str, files: OriginalDataset) -> dict[str, str]:
    """Digests of the files of `dataset`, by file name, as versions of the results made from them."""
    return {
        Path(path).name: f"sha256:{_digest(f'{model}-{name}', Path(path))}"
        for name, path in asdict(files).items()
    }


def named_datasets(config: Configuration, registry: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Data sets that a checked configuration names outside the registry.

    The version of a file is its digest, so that results are rebuilt when its content changes.
    """
    datasets: dict[str, Dataset] = {}
    definitions: list[Definition | Mined] = [*config.definitions.values(), *config.mined.values()]
    for definition in definitions:
        for entry in definition.corpora:
            if isinstance(entry, str):
                continue
            name, languages = entry.name or "", tuple(entry.languages or ())
            if not entry.target:
                # Groups are read by the reader of tables with a group in each row.
                table = ["table"] if entry.kind == "groups" else []
                columns = (*table, *map(str, entry.columns or ()))
                _add(datasets, entry.kind or "", [_file(name, name, entry.path, languages, columns)])
                continue
            # In one language, aligned files are like captions.
            kind = "aligned" if len(languages) > 1 else "captions"
            source = _file(name, name, entry.path, languages[:1])
            _add(datasets, kind, [source, _file(name, f"{name}-target", entry.target, languages[-1:])])
        for corpus in opus_corpora(definition, {*registry, *config.mined}):
            _add(datasets, "opus", [corpus.file()])
    return datasets


def _file(
    dataset: str, record: str, path: str, languages: tuple[str, ...], members: tuple[str, ...] = ()
) -> RemoteFile:
    """A user's own file; `record` names the record of its digest."""
    version = f"sha256:{_digest(record, Path(path))}"
    return RemoteFile(dataset, Path(path).name, languages, (), members=members, version=version, path=path)


def opus_corpora(definition: Definition | Mined, others: Iterable[str]) -> list[OpusCorpus]:
    """OPUS's entries for the corpora of a checked definition that are neither files nor among `others`."""
    corpora = definition.corpora
    names = [name for name in corpora if isinstance(name, str) and name not in {*others}]
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
