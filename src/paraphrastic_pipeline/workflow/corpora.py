"""The files of data sets and corpora and how to read them, for the rules of the pipeline.

A method that takes `wildcards` serves a rule as an input or params function: its argument is the job's
wildcards, an object with an attribute for each of them. All paths are relative to the working directory.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.files import Json
from paraphrastic_pipeline.registry.datasets import CORPUS_KINDS, Dataset, RemoteFile
from paraphrastic_pipeline.settings.sections.configuration import Configuration
from paraphrastic_pipeline.settings.sections.fields import as_json

# The wildcards of a job, each of which is an attribute.
Wildcards = Any
# A function that a rule uses as an input or params function.
OfWildcards = Callable[[Wildcards], Any]

# The number of random sentences of a corpus on which IDF and entropies are measured.
DESCRIBED_SENTENCES = 100_000
# The data set with what NLTK has learned about the ends of English sentences.
PUNKT = "punkt"
# The files of a model, and those of a Transformer, which has its modules in the folder `pooling` besides.
MODEL_FILES = ("model.safetensors", "sentencepiece.model", "config.json")
TRANSFORMER_FILES = (
    "model.safetensors", "config.json", "modules.json", "config_sentence_transformers.json",
    "sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json",
)  # fmt: skip


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression that matches any of the names, or nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def languages_of(pair: str) -> tuple[str, ...]:
    """Return the languages in a pair's name, each once."""
    return tuple(dict.fromkeys(pair.split("-")))


def sides_of(wildcards: Wildcards) -> list[str]:
    """Return the languages of both sides of the job's pairs."""
    return str(wildcards.pair).split("-")


def shard_of(wildcards: Wildcards) -> tuple[int, ...]:
    """Return the number of the job's shard, from 1, and the number of shards."""
    return tuple(map(int, wildcards.scatteritem.split("-of-")))


def optional(**files: OfWildcards) -> OfWildcards:
    """Return an input function, to be unpacked, for single files that may be missing.

    Args:
        **files: functions that return a list of one file or none, by the name of the input.
    """

    def given(wildcards: Wildcards) -> dict[str, str]:
        found = {name: of(wildcards) for name, of in files.items()}
        return {name: paths[0] for name, paths in found.items() if paths}

    return given


def folder_files(folder: str | Path) -> list[str]:
    """List all files below a folder."""
    return sorted(str(file) for file in Path(folder).rglob("*") if file.is_file())


class Corpora:
    """What a checked configuration says about data sets and corpora.

    Args:
        config: the configuration that `check_config` returns.
        datasets: the data sets by name that `check_config` returns.
        ancient: Snakemake's function of that name. It marks the path of a file that is known by its digest,
            so that the file's time is no reason to run a step again.
    """

    def __init__(
        self, config: Configuration, datasets: Mapping[str, Dataset], ancient: Callable[[str], str] = str
    ) -> None:
        self.config, self.datasets, self.ancient = config, datasets, ancient
        # Names of all corpora, in the registry or only in the configuration.
        self.corpora = [name for name, dataset in datasets.items() if dataset.kind in CORPUS_KINDS]

    def locations(self, files: Iterable[RemoteFile]) -> list[str]:
        """Return the paths of files; if a file lies outside the project, its time does not matter."""
        return [self.ancient(file.location) if file.path else file.location for file in files]

    def downloads(self, name: str | None, languages: tuple[str, ...] = ()) -> list[str]:
        """Return the files of a data set, all or those of the languages; none if there is no data set."""
        if name is None:
            return []
        dataset = self.datasets[name]
        return self.locations(dataset.select(languages) if languages else dataset.files)

    def expected_file(self, wildcards: Wildcards) -> tuple[str, str | None] | None:
        """Return the version and digest that the registry has for the file that the job downloads."""
        files = self.datasets[wildcards.dataset].files
        return next(((file.version, file.sha256) for file in files if file.name == wildcards.file), None)

    def described_files(self, name: str, languages: tuple[str, ...]) -> list[Json]:
        """Return the fields of `readers.CorpusFile` of each file, but the path."""
        scale = {"score_range": given} if (given := self.config.extraction.score_range.get(name)) else {}
        files = self.datasets[name].select(languages)
        return [{"languages": file.languages, "members": file.members, **scale} for file in files]

    def is_text(self, name: str) -> bool:
        """Whether a corpus has sentences without pairs."""
        return self.datasets[name].kind == "text"

    def punkt(self, wildcards: Wildcards) -> list[str]:
        """Return the archive that NLTK's tokenizer needs for the overlap of paraphrases, if it is used."""
        is_paraphrase = len(languages_of(wildcards.pair)) == 1
        is_needed = is_paraphrase and self.config.text.overlap_tokenizer == "treebank"
        return self.downloads(PUNKT) if is_needed else []

    def preparation(self, languages: Iterable[str]) -> Json:
        """Return how text in these languages is prepared, as `text.prepare_text` takes it."""
        text = as_json(self.config.text)
        modes = {
            setting: {
                code: mode for code, mode in text[setting].items() if code in languages and mode != "none"
            }
            for setting in ("segmentation", "folding")
        }
        return {"lowercase": self.config.text.lowercase, **modes}

    def bitext(self, wildcards: Wildcards) -> str:
        """Return the pairs of the bitext to mine paraphrases from, such as de-en for English ones."""
        pair = "-".join(self.config.mined[wildcards.mined].languages)
        return f"results/pairs/{wildcards.corpus}/{pair}.parquet"

    def model_file_names(self, model: str) -> tuple[str, ...]:
        """Return the names of the files of a model, without the folder with a Transformer's other modules."""
        return TRANSFORMER_FILES if self._is_transformer(model) else MODEL_FILES

    def model_files(self, model: str, folder: str) -> list[str]:
        """Return all that a model consists of in a folder of results."""
        others = ["pooling"] if self._is_transformer(model) else []
        return [f"{folder}/{name}" for name in [*self.model_file_names(model), *others]]

    def _is_transformer(self, model: str) -> bool:
        return self.config.definitions[model].encoder.transformer is not None

    def mined_by(self, maker: str) -> list[str]:
        """Return the mined corpora that have a `maker`, either `encoder` or `translator`."""
        return [name for name, mined in self.config.mined.items() if getattr(mined, maker)]

    def mined_shards(self, wildcards: Wildcards, kind: str, gather: Callable[[str], list[str]]) -> list[str]:
        """Return the shards of all bitexts of a mined corpus; `kind` is the folder of the results."""
        name = wildcards.mined
        return [
            shard
            for corpus in self.config.mined[name].names
            for shard in gather(f"results/{kind}/{name}/{corpus}/{{scatteritem}}.parquet")
        ]

    def mining_system_files(self, wildcards: Wildcards) -> list[str]:
        """Return the files of the encoder or translator of a mined corpus; none if it has only a name."""
        mined = self.config.mined[wildcards.mined]
        if isinstance(mined.encoder, str):
            return self.model_files(mined.encoder, f"results/models/{mined.encoder}")
        place = mined.encoder.path if mined.encoder else mined.translator and mined.translator.model
        return folder_files(place) if place and Path(place).is_dir() else []
