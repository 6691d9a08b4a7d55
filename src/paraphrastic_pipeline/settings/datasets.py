"""The data sets of a configuration (of the registry, files, of OPUS, and mined), and what needs them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256 as hashed
from itertools import combinations
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic_pipeline.registry.datasets import Dataset, RemoteFile
from paraphrastic_pipeline.registry.opus import OpusCorpus, read_list
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.corpora import FileCorpus, Mined, OtherEncoder

# What has corpora, and a section of the configuration with a name within it.
Entry = Definition | Mined
Key = tuple[str, str]
Datasets = Mapping[str, Dataset]
# Where digests of the user's own files are kept, so that none is computed twice.
DIGESTS = Path("resources/files")


def datasets_of(config: Configuration, registry: Datasets) -> dict[str, Dataset]:
    """All data sets that a configuration can name.

    The version of a file is its digest; that of a mined corpus names what it is mined from.
    """
    datasets = {**registry}

    def add(kind: str, files: list[RemoteFile]) -> None:
        # A data set has one file or pair of files for each pair of languages.
        name, version, languages = files[0].dataset, files[0].version, {*files[0].languages}
        dataset = datasets.setdefault(name, Dataset(name, version, kind, "see its source", ()))
        if not any({*file.languages} == languages for file in dataset.files):
            datasets[name] = replace(dataset, files=(*dataset.files, *files))

    definitions: list[Entry] = [*config.definitions.values(), *config.mined.values()]
    for definition in definitions:
        for corpus in definition.corpora:
            if isinstance(corpus, FileCorpus):
                add(*_described(corpus))
        for listed in opus_corpora(definition, {*registry, *config.mined}):
            add("opus", [listed.file()])
    for name, mined in config.mined.items():
        source, language = mined.languages
        bitexts = [f"{corpus} {datasets[corpus].version}" for corpus in mined.names if corpus in datasets]
        encoder = mined.encoder.place if isinstance(mined.encoder, OtherEncoder) else mined.encoder
        how = f"by the encoder {encoder} at {mined.min_similarity}"
        if translator := mined.translator:
            how = f"translated by {translator.model} with a beam of {translator.beam}"
        version = f"{source}-{language} of {' and '.join(bitexts)}, {how}"
        file = RemoteFile(name, f"{language}-{language}.parquet", (language,), (), version=version)
        datasets[name] = Dataset(name, version, "mined", "as its bitexts'", (file,))
    return datasets


def _described(corpus: FileCorpus) -> tuple[str, list[RemoteFile]]:
    """The kind of a file as a data set, and the file; or both files with a side each."""
    languages = tuple(corpus.languages or ())

    def file(path: str, languages: tuple[str, ...], members: tuple[str, ...] = ()) -> RemoteFile:
        name, version = corpus.name or "", _version(path)
        return RemoteFile(name, Path(path).name, languages, (), members=members, version=version, path=path)

    if corpus.target:
        # In one language, aligned files are like captions.
        kind = "aligned" if len(languages) > 1 else "captions"
        return kind, [file(corpus.path, languages[:1]), file(corpus.target, languages[-1:])]
    # Groups are read by the reader of tables with a group in each row.
    table = ("table",) if corpus.kind == "groups" else ()
    columns = (*table, *map(str, corpus.columns or ()))
    return corpus.kind or "", [file(corpus.path, languages, columns)]


def opus_corpora(definition: Entry, others: Iterable[str]) -> list[OpusCorpus]:
    """OPUS's entries for the corpora of a checked definition that are neither files nor among `others`."""
    names = [name for name in definition.corpora if isinstance(name, str) and name not in {*others}]
    lists = [read_list(pair) or {} for pair in combinations(definition.languages, 2) if names]
    return [listed[name] for name in names for listed in lists if name in listed]


def pairs_of(definition: Entry, name: str, datasets: Datasets) -> list[tuple[str, str]]:
    """The pairs of languages that a definition takes from a corpus.

    Raises:
        InputError: the corpus has nothing in the definition's languages.
    """
    for corpus in definition.corpora:
        if isinstance(corpus, FileCorpus) and corpus.name == name and corpus.languages:
            return [(corpus.languages[0], corpus.languages[-1])]
    return datasets[name].pairs_among(definition.languages)


def selection_kind(pair: Sequence[str]) -> str:
    """The section of the selection that applies to pairs in these languages."""
    return "bitext" if len(set(pair)) > 1 else "paraphrase"


def _version(path: str) -> str:
    """The SHA-256 of a file, from its record if the file's size and times have not changed since."""
    record = DIGESTS / f"{hashed(path.encode()).hexdigest()[:16]}.json"
    try:
        status = Path(path).stat()
        # Also the time of the last status change, since tools that copy files restore the other one.
        state = [path, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        known = read_json(record) if record.is_file() else {}
        if known.get("state") != state:
            known = {"state": state, "sha256": sha256(Path(path))}
            write_json(record, known)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return f"sha256:{known['sha256']}"


def needed(config: Configuration, keys: Iterable[Key]) -> dict[Key, Entry]:
    """The entries under these keys, and all that they need, such as the encoders of mined corpora."""
    waiting, found = [*keys], dict[Key, Entry]()
    while waiting:
        key = waiting.pop()
        if key not in found:
            section, name = key
            found[key] = config.definitions[name] if section == "definitions" else config.mined[name]
            waiting += needs(config, found[key])
    return found


def needs(config: Configuration, entry: Entry) -> list[Key]:
    """What an entry needs: a definition its teachers and mined corpora, a mined corpus its encoder."""
    mined, models = [], [entry.encoder] if isinstance(entry, Mined) else entry.teachers
    if isinstance(entry, Definition):
        mined = [("mined", name) for name in entry.names if name in config.mined]
    return [("definitions", str(model)) for model in models if model in config.definitions] + mined
