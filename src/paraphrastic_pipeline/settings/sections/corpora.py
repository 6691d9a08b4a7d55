"""Corpora by their path, data of the original code, and corpora that are mined or translated."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from paraphrastic.base.text_files import COMPRESSED_SUFFIXES
from paraphrastic_pipeline.registry.datasets import FILE_KINDS, KINDS, members_error
from paraphrastic_pipeline.settings.places import File, Folder, Place
from paraphrastic_pipeline.settings.sections.fields import (
    DISTINCT,
    LanguageCode,
    NotEmpty,
    Number,
    PlainName,
    Positive,
    Several,
    Whole,
    one_of,
    section,
)

# Kinds of single-file corpora, by the endings of their names.
ENDINGS = {ending: name for name, kind in KINDS.items() for ending in kind.endings}


def plain_name(path: str) -> tuple[str, str]:
    """The stem and lower-cased ending of a file's name, ignoring an ending for compression."""
    file = Path(path)
    if file.suffix.lower() in COMPRESSED_SUFFIXES:
        file = file.with_suffix("")
    return file.stem, file.suffix.lower()


def default_name_and_kind(path: str) -> tuple[str, str | None]:
    """The name of a corpus, which may be empty, and its kind if that follows from the name of its file."""
    stem, ending = plain_name(path)
    # Folders are called by it, so it must not be too long for a file system.
    return re.sub("[^a-z0-9_]+", "_", stem.lower())[:100].strip("_"), ENDINGS.get(ending)


def looks_like_a_path(name: str) -> bool:
    """Whether a corpus's name looks like a file, which should be given as `{path: …}`."""
    return "/" in name or plain_name(name)[1] in ENDINGS


@section
class FileCorpus:
    """The name of a corpus, or a file."""

    path: File
    """The file, plain or compressed with gzip, bzip2, xz or Zstandard, which is read from where it is."""
    target: File | None = None
    """The file with the other side, line by line; `path` is then text in the first of the `languages`."""
    name: PlainName | None = None
    """The name of the corpus, of a–z, 0–9 and _; by default it is made from the file's name."""
    kind: Annotated[str, Field(pattern=f"^({'|'.join((*FILE_KINDS, 'groups'))})$")] | None = None
    """`tsv`, `jsonl`, `parquet`, `tmx`, [`groups`](../docs/download.md#groups-of-sentences), or `text`."""
    columns: Annotated[list[NotEmpty | Positive], Field(min_length=1, max_length=100), DISTINCT] | None = None
    """The columns of source, target and scores; by default [found](../docs/download.md#tables-of-pairs)."""
    languages: Annotated[list[LanguageCode], Field(min_length=1, max_length=2), DISTINCT] | None = None
    """The language or the pair of languages of the file; by default those of the definition."""

    @model_validator(mode="before")
    @classmethod
    def _named_by_its_path(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not isinstance(given.get("path"), str):
            return given
        stated = {key: value for key, value in given.items() if value is not None}
        name, kind = default_name_and_kind(given["path"])
        return {"name": name or None, "kind": None if "target" in stated else kind, **stated}

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        fault = None
        if not self.name:
            fault = "needs a name, since none can be made from its path"
        elif self.target and (self.kind or self.columns or self.target == self.path):
            fault = "has a target, the other side line by line, so it goes with neither kind nor columns"
        elif not self.target and not self.kind:
            fault = f"has none of the endings {', '.join(ENDINGS)}: give its kind"
        if fault := fault or (self.kind and members_error(self.kind, tuple(map(str, self.columns or ())))):
            raise PydanticCustomError("file", "{fault}", {"fault": fault})
        return self


# The name of a corpus, or a file.
Corpus = Annotated[
    Annotated[str, Tag("a name")] | Annotated[FileCorpus, Tag("a file")],
    Discriminator(lambda corpus: "a name" if isinstance(corpus, str) else "a file"),
]


class WithCorpora:
    """What has corpora, each of which has a name."""

    corpora: list[Corpus]

    @property
    def names(self) -> list[str]:
        """The names of the corpora."""
        return [corpus if isinstance(corpus, str) else corpus.name or "" for corpus in self.corpora]


def files_in_languages(entry: Any) -> Any:
    """A definition whose files have its own languages, if there are at most two and the file has none."""
    match entry:
        case {"languages": [_] | [_, _] as own, "corpora": list(corpora)}:
            corpora = [{"languages": own, **each} if isinstance(each, dict) else each for each in corpora]
            return {**entry, "corpora": corpora}
    return entry


# The ways to say where somebody else's encoder is.
SYSTEM_KINDS = ("path", "sentence_transformers", "model2vec")


@section
class OtherEncoder:
    """An encoder that is not one of the definitions, by `path` or by `sentence_transformers`."""

    path: Folder | None = None
    """A model folder of this project or of sentence-transformers."""
    sentence_transformers: Place | None = None
    """A folder, or a name on the Hugging Face Hub, `OWNER/NAME` or `hf://OWNER/NAME`."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        return one_of(self, *(kind for kind in SYSTEM_KINDS if hasattr(self, kind)))

    @property
    def kind(self) -> str:
        """How the encoder is given, which is the name of a setting."""
        return next(kind for kind in SYSTEM_KINDS if getattr(self, kind, None))

    @property
    def place(self) -> str:
        """The folder or the name."""
        return str(getattr(self, self.kind))


@section
class Translator:
    """The model that translates the first language into the second (ParaNMT-50M); null for an encoder."""

    model: Place
    """A folder, or a name on the Hugging Face Hub, such as `Helsinki-NLP/opus-mt-cs-en`."""
    beam: Annotated[Whole, Field(ge=1, le=1000)] = 12
    """The number of hypotheses of the beam search."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where it runs; `auto` uses a GPU if torch finds one."""


@section
class Mined(WithCorpora):
    """Paraphrases that are made from bitext, by an `encoder` of both languages or by a `translator`."""

    languages: Annotated[list[LanguageCode], Field(min_length=2, max_length=2), DISTINCT]
    """The language of the sentences that recur, and the language of the paraphrases."""
    corpora: Several[Corpus]
    """The bitexts in these languages, named as in a definition."""
    encoder: str | OtherEncoder | None = None
    """The encoder that tells which pairs are translations, a definition or another; null for a translator."""
    min_similarity: Annotated[Number, Field(ge=-1, le=1)] = 0.7
    """Only pairs of the bitext with a higher cosine are kept."""
    translator: Translator | None = None
    _files = model_validator(mode="before")(files_in_languages)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        return one_of(self, "encoder", "translator")

    @property
    def system(self) -> str:
        """The system that its encoder is, in the form that `open_encoder` accepts."""
        if isinstance(self.encoder, OtherEncoder):
            return self.encoder.place
        return f"results/models/{self.encoder}"
