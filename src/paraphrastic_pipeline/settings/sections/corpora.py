"""Corpora by their path, data of the original code, and corpora that are mined or translated."""

from collections.abc import Mapping
from typing import Annotated, Literal

from paraphrastic_pipeline.base.limits import Also, Length, OneOf, Range
from paraphrastic_pipeline.registry.datasets import FILE_KINDS
from paraphrastic_pipeline.settings.declared import derived, internal, section
from paraphrastic_pipeline.settings.sections.names import LanguageCode, NotEmpty, PlainName


@section
class FileCorpus:
    """The name of a corpus, or a file."""

    path: NotEmpty
    """The file, plain or compressed with gzip, bzip2, xz or Zstandard. It is read from where it is, and its
    path may not contain braces.
    """
    target: NotEmpty = derived()
    """The file with the other side, line by line, if each side has a file of its own. `path` is then text in
    the first of the `languages`, and this is text in the second; with one language, both are paraphrases.
    """
    name: PlainName = derived()
    """The name of the corpus, of a–z, 0–9 and _; by default it is made from the file's name."""
    kind: Annotated[str, OneOf((*FILE_KINDS, "groups"))] = derived()
    """`tsv`, `jsonl`, `parquet` or `tmx`, for which the ending of the file's name decides by default,
    `groups`, whose rows have [sentences that mean the same](../docs/download.md#groups-of-sentences), or
    `text`, which has no pairs: a sentence on each line, or in the `columns` of a table.
    """
    columns: Annotated[list[NotEmpty | Annotated[int, Range(1)]], Length(1, 100, distinct=True)] = derived()
    """The columns of source, target and optionally the paraphrase score (`-` for none) and the translation
    score: names, or in TSV also numbers from 1. By default they are [found in the
    file](../docs/download.md#tables-of-pairs). For `groups` and `text`, the columns with sentences.
    """
    languages: Annotated[list[LanguageCode], Length(1, 2, distinct=True)] = derived()
    """The language of the file's paraphrases, or its pair of languages; by default those of the definition,
    if it has at most two.
    """


# The name of a corpus; in a configuration, also a file.
CorpusName = Annotated[str, Also(FileCorpus)]


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


@section
class OtherEncoder:
    """An encoder that is not one of the definitions, by `path` or by `sentence_transformers`."""

    path: NotEmpty = derived()
    """A model folder of this project or of sentence-transformers."""
    sentence_transformers: NotEmpty = derived()
    """A folder, or a name on the Hugging Face Hub, `OWNER/NAME` or `hf://OWNER/NAME`."""


@section
class Translator:
    """The model that translates the sentences of the first language into the second (ParaNMT-50M, section 3);
    null if there is an encoder.
    """

    model: NotEmpty
    """A sequence-to-sequence model of transformers: a folder, or a name on the Hugging Face Hub, such as
    `Helsinki-NLP/opus-mt-cs-en`.
    """
    beam: Annotated[int, Range(1, 1000)] = 12
    """The number of hypotheses of the beam search."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where it runs; `auto` uses a GPU if torch finds one."""


@section
class Mined:
    """A corpus of paraphrases that is made from bitext. With an `encoder`, translations of the same sentence
    are paraphrases of each other; with a `translator`, a sentence and the translation of its translation.
    """

    languages: Annotated[list[LanguageCode], Length(2, 2, distinct=True)]
    """The language of the sentences that recur, and the language of the paraphrases."""
    corpora: Annotated[list[CorpusName], Length(1, distinct=True)]
    """The bitexts in these languages, named as in a definition."""
    encoder: str | Annotated[OtherEncoder, Length(1, 1)] | None = None
    """The encoder that tells which pairs are translations: the name of a definition, `{path: FOLDER}`, or
    `{sentence_transformers: NAME}`. Null if there is a translator.
    """
    min_similarity: Annotated[float, Range(-1, 1)] = 0.7
    """Only pairs of the bitext with a higher cosine are kept."""
    translator: Translator | None = None

    files: Mapping[str, FileCorpus] = internal(dict)
    """The corpora that are files, by name."""
