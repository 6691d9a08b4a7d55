"""Corpora by their path, data of the original code, and corpora that are mined or translated."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from paraphrastic_pipeline.registry.datasets import FILE_KINDS
from paraphrastic_pipeline.settings.sections.fields import (
    DISTINCT,
    LanguageCode,
    NotEmpty,
    Number,
    PlainName,
    Positive,
    Whole,
    one_of,
    section,
)


def _known_kind(kind: str) -> str:
    if kind not in (known := (*FILE_KINDS, "groups")):
        raise PydanticCustomError("kind", f"Input should be one of {', '.join(known)}")
    return kind


@section
class FileCorpus:
    """The name of a corpus, or a file."""

    path: NotEmpty
    """The file, plain or compressed with gzip, bzip2, xz or Zstandard. It is read from where it is, and its
    path may not contain braces.
    """
    target: NotEmpty | None = None
    """The file with the other side, line by line, if each side has a file of its own. `path` is then text in
    the first of the `languages`, and this is text in the second; with one language, both are paraphrases.
    """
    name: PlainName | None = None
    """The name of the corpus, of a–z, 0–9 and _; by default it is made from the file's name."""
    kind: Annotated[str, AfterValidator(_known_kind)] | None = None
    """`tsv`, `jsonl`, `parquet` or `tmx`, for which the ending of the file's name decides by default,
    `groups`, whose rows have [sentences that mean the same](../docs/download.md#groups-of-sentences), or
    `text`, which has no pairs: a sentence on each line, or in the `columns` of a table.
    """
    columns: Annotated[list[NotEmpty | Positive], Field(min_length=1, max_length=100), DISTINCT] | None = None
    """The columns of source, target and optionally the paraphrase score (`-` for none) and the translation
    score: names, or in TSV also numbers from 1. By default they are [found in the
    file](../docs/download.md#tables-of-pairs). For `groups` and `text`, the columns with sentences.
    """
    languages: Annotated[list[LanguageCode], Field(min_length=1, max_length=2), DISTINCT] | None = None
    """The language of the file's paraphrases, or its pair of languages; by default those of the definition,
    if it has at most two.
    """


# The name of a corpus, or a file.
Corpus = str | FileCorpus


def name_of(corpus: Corpus) -> str:
    """The name of a corpus; a file of a checked configuration has one."""
    return corpus if isinstance(corpus, str) else corpus.name or ""


@section
class OriginalDataset:
    """Training data of the original code instead of corpora; see [the authors' models and
    data](../docs/papers.md#the-authors-own-models-and-data).
    """

    hdf5: NotEmpty
    """Pairs of sentences as variable-length arrays of rows in the data set `data`."""
    vocabulary: NotEmpty
    """Text with a piece, a tab and its row on each line."""
    sentencepiece: NotEmpty
    """The sentencepiece model that cut the text."""


# The ways to say where somebody else's encoder is.
SYSTEM_KINDS = ("path", "sentence_transformers", "model2vec")


@section
class OtherEncoder:
    """An encoder that is not one of the definitions, by `path` or by `sentence_transformers`."""

    path: NotEmpty | None = None
    """A model folder of this project or of sentence-transformers."""
    sentence_transformers: NotEmpty | None = None
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
    """The model that translates the sentences of the first language into the second (ParaNMT-50M, section 3);
    null if there is an encoder.
    """

    model: NotEmpty
    """A sequence-to-sequence model of transformers: a folder, or a name on the Hugging Face Hub, such as
    `Helsinki-NLP/opus-mt-cs-en`.
    """
    beam: Annotated[Whole, Field(ge=1, le=1000)] = 12
    """The number of hypotheses of the beam search."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where it runs; `auto` uses a GPU if torch finds one."""


@section
class Mined:
    """A corpus of paraphrases that is made from bitext. With an `encoder`, translations of the same sentence
    are paraphrases of each other; with a `translator`, a sentence and the translation of its translation.
    """

    languages: Annotated[list[LanguageCode], Field(min_length=2, max_length=2), DISTINCT]
    """The language of the sentences that recur, and the language of the paraphrases."""
    corpora: Annotated[list[Corpus], Field(min_length=1), DISTINCT]
    """The bitexts in these languages, named as in a definition."""
    encoder: str | OtherEncoder | None = None
    """The encoder that tells which pairs are translations: the name of a definition, `{path: FOLDER}`, or
    `{sentence_transformers: NAME}`. Null if there is a translator.
    """
    min_similarity: Annotated[Number, Field(ge=-1, le=1)] = 0.7
    """Only pairs of the bitext with a higher cosine are kept."""
    translator: Translator | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        return one_of(self, "encoder", "translator")

    @property
    def names(self) -> list[str]:
        """The names of the corpora."""
        return list(map(name_of, self.corpora))
