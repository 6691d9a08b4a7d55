"""Data sets and corpora: their files, and how they are read, as the rules of the pipeline ask for them.

A method that takes `wildcards` serves a rule as an input or params function: its argument is the job's
wildcards, an object with an attribute for each of them. All paths are relative to the working directory.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.config.dependencies import definitions_needed
from paraphrastic.config.local_files import opus_corpora
from paraphrastic.registry.datasets import Dataset, RemoteFile, read_registry
from paraphrastic.registry.kinds import CORPUS_KINDS

Json = dict[str, Any]
# The wildcards of a job, each of which is an attribute.
Wildcards = Any
# A function that a rule takes for an input or a parameter.
OfWildcards = Callable[[Wildcards], Any]

MODEL_FILES = ("model.safetensors", "sentencepiece.model", "config.json")


def one_of(names: Iterable[str]) -> str:
    """A regular expression for one of the names; it matches nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def languages_of(pair: str) -> tuple[str, ...]:
    """The languages of a pair's name, each once."""
    return tuple(dict.fromkeys(pair.split("-")))


def is_paraphrase(wildcards: Wildcards) -> bool:
    """Whether both sides of the job's pairs are in one language."""
    return len(languages_of(wildcards.pair)) == 1


def folder_files(folder: str | Path) -> list[str]:
    """All files below a folder."""
    return sorted(str(file) for file in Path(folder).rglob("*") if file.is_file())


class Corpora:
    """What a checked configuration says of data sets and corpora.

    Args:
        config: the configuration that `check_config` returns.
        datasets: the data sets by name that it returns.
        ancient: marks the path of a file that is known by its digest, so that its time is no reason to run
            a step again; Snakemake's function of that name.

    Raises:
        InputError: a list of OPUS is damaged.
    """

    def __init__(
        self, config: Mapping[str, Any], datasets: Mapping[str, Dataset], ancient: Callable[[str], str] = str
    ) -> None:
        self.config, self.datasets, self.ancient = config, datasets, ancient
        # Corpora by name: those of the registry, and those that only the configuration names.
        self.corpora = [name for name, dataset in datasets.items() if dataset.kind in CORPUS_KINDS]
        # The corpora of OPUS that the models need and that only its list describes, by their paths.
        others = {*read_registry(config["registry"]), *config["mined"]}
        self.opus_corpora = {
            corpus.file().location: corpus
            for definition in definitions_needed(config)
            for corpus in opus_corpora(definition, others)
        }
        # The language-identification model: a download or one trained on a download; none if it is off.
        name = config["language_id"]
        is_trained = name is not None and datasets[name].kind == "labelled"
        self.language_id = [f"resources/language_id/{name}.bin"] if is_trained else self.downloads(name)

    def locations(self, files: Iterable[RemoteFile]) -> list[str]:
        """Where files are; the time of a file that lies outside the project does not matter."""
        return [self.ancient(file.location) if file.path else file.location for file in files]

    def downloads(self, name: str | None, languages: tuple[str, ...] = ()) -> list[str]:
        """Files of a data set: all of them, or those of the languages; none if there is no data set."""
        if name is None:
            return []
        dataset = self.datasets[name]
        return self.locations(dataset.select(languages) if languages else dataset.files)

    def expected_file(self, wildcards: Wildcards) -> tuple[str, str | None] | None:
        """Version and digest of the file that the job downloads, as the registry has them."""
        files = self.datasets[wildcards.dataset].files
        return next(((file.version, file.sha256) for file in files if file.name == wildcards.file), None)

    def described_files(self, name: str, languages: tuple[str, ...]) -> list[Json]:
        """Languages, members and version of each file; the version of a file with a path is its digest."""
        return [
            {"languages": file.languages, "members": file.members, "version": file.version}
            for file in self.datasets[name].select(languages)
        ]

    def paraphrase_vectors(self, wildcards: Wildcards) -> list[str]:
        """The word vectors that paraphrases are scored by; none for bitext."""
        return self.downloads(self.config["word_vectors"]) if is_paraphrase(wildcards) else []

    def overlap_tokenizer(self, wildcards: Wildcards) -> str:
        """How words are told apart for the trigram overlap of a corpus's pairs."""
        return str(self.config["text"]["overlap_tokenizer"]) if is_paraphrase(wildcards) else "word"

    def modes(self, setting: str, languages: Iterable[str]) -> dict[str, str]:
        """What a setting of the text says of languages; nothing of those that it leaves alone."""
        modes = self.config["text"][setting].items()
        return {language: mode for language, mode in modes if language in languages and mode != "none"}

    def bitext(self, wildcards: Wildcards) -> str:
        """The pairs of the bitext that paraphrases are mined from, such as de-en for English ones."""
        pair = "-".join(self.config["mined"][wildcards.mined]["languages"])
        return f"results/pairs/{wildcards.corpus}/{pair}.parquet"

    def mining_encoder_files(self, wildcards: Wildcards) -> list[str]:
        """The files of that encoder; none if it has only a name."""
        encoder = self.config["mined"][wildcards.mined]["encoder"]
        if isinstance(encoder, str):
            return [f"results/models/{encoder}/{name}" for name in MODEL_FILES]
        return folder_files(encoder["path"]) if "path" in encoder else []
