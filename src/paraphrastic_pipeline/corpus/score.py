"""Score sentence pairs: measure once everything that a selection may depend on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from paraphrastic.base.text import prepare_text, segment
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier
from paraphrastic_pipeline.corpus.overlap import compare_words
from paraphrastic_pipeline.corpus.text import as_read, composed
from paraphrastic_pipeline.corpus.tokens import Tokenizer, count_tokens, count_words, open_treebank

_SIDES = ("source", "target")
_MEASURES = {
    "tokens": pa.int32(),
    # How many of them are characters of a script without spaces.
    "characters": pa.int32(),
    "language": pa.string(),
    "confidence": pa.float32(),
    "probability": pa.float32(),
}
SCORED_SCHEMA = pa.schema(
    [
        *PAIR_SCHEMA,
        *((f"{side}_{name}", kind) for name, kind in _MEASURES.items() for side in _SIDES),
        ("trigram_overlap", pa.float32()),
        ("changed_words", pa.int32()),
        ("paraphrase_score", pa.float64()),
        ("translation_score", pa.float64()),
    ]
)
Words = Literal["script", "white_space"]
Identify = Literal["model", "original"]
_TOKENIZERS: Mapping[Words, Tokenizer] = {"script": "word", "white_space": "white_space"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSettings:
    """How text is prepared, counted, identified and compared.

    Attributes:
        segmentation: mode of `text.segment` by language.
        folding: mode of `text.fold` by language; words count as equal if they are equal after folding.
        lowercase: whether text is lower-cased before it is identified and segmented.
        words: `script` counts words in scripts with spaces, and characters in those without (see
            `tokens.count_words`); `white_space` counts what is between white space, as the papers do.
        identify: whether languages are identified on the text that the `model` sees, or on the `original`, as
            the papers do.
        overlap_tokenizer: tokenizer for the trigram overlap: `word`, see `tokens.tokenize`, which with
            `words: white_space` leaves text without spaces whole, or `treebank`, see `tokens.open_treebank`.
    """

    segmentation: Mapping[str, str]
    folding: Mapping[str, str]
    lowercase: bool
    words: Words = "script"
    identify: Identify = "model"
    overlap_tokenizer: Literal["word", "treebank"] = "word"


def score_pairs(
    pairs: str | Path,
    scored: str | Path,
    *,
    languages: Sequence[str],
    identifier: Path | None = None,
    punkt: Path | None = None,
    text: Mapping[str, Any],
    shard: tuple[int, int] = (1, 1),
) -> None:
    """Write the pairs with their scores (`SCORED_SCHEMA`), in the same order.

    Each side is cleaned, folded and lower-cased, as a model will see it, and then identified, counted and
    compared; text in a language of `segmentation` is also segmented. The text itself is written as the corpus
    has it. Each side has its most likely language, the confidence in it, and the probability of the language
    that the corpus says, which is null if the identifier does not know that language; all are null without an
    identifier. Trigram overlap and changed words are null if the two languages differ. Paraphrase score and
    translation score are the corpus's own, or null.

    Args:
        pairs: a Parquet file made by `extract_corpus`.
        scored: the Parquet file.
        languages: languages of the sources and of the targets, according to the corpus.
        identifier: a fastText model.
        punkt: the archive that the tokenizer `treebank` needs.
        text: the fields of `TextSettings`.
        shard: `(i, n)` scores the i-th (from 1) of n parts of the corpus; a part may be empty.

    Raises:
        InputError: the identifier cannot be read, or the disk is full.
    """
    scorer = _Scorer(languages, TextSettings(**text), identifier, punkt)
    with write_blocks(scored, SCORED_SCHEMA, dictionary=[f"{side}_language" for side in _SIDES]) as writer:
        for block in read_blocks(pairs, shard=shard):
            nulls = {field.name: pa.nulls(block.num_rows, field.type) for field in SCORED_SCHEMA}
            columns = nulls | scorer.columns(block)
            writer.write(pa.RecordBatch.from_pydict(columns, schema=SCORED_SCHEMA))


class _Scorer:
    """Scores the blocks of a corpus."""

    def __init__(
        self, languages: Sequence[str], text: TextSettings, identifier: Path | None, punkt: Path | None
    ) -> None:
        self.text, self.languages = text, languages
        self.identifier = None if identifier is None else LanguageIdentifier(identifier)
        self.are_paraphrases = languages[0] == languages[1]
        self.count = count_words if text.words == "script" else count_tokens
        self.tokenizer = _TOKENIZERS[text.words]
        self.split = None
        if self.are_paraphrases and punkt and text.overlap_tokenizer == "treebank":
            self.tokenizer, self.split = "split", open_treebank(punkt)
        # The original takes a letter and its mark as they are written.
        self.compose = composed if self.are_paraphrases and not self.split else list

    def columns(self, block: pa.RecordBatch) -> dict[str, pa.Array]:
        """The columns of a block that have a value."""
        own = ("source", "target", "line", "paraphrase_score", "translation_score")
        columns: dict[str, pa.Array] = {name: block[name] for name in own if name in block.schema.names}
        compared = []
        for side, language in zip(_SIDES, self.languages, strict=True):
            texts, measures = self._side(block[side], language)
            columns |= {f"{side}_{name}": array for name, array in measures.items()}
            compared.append(texts)
        if self.are_paraphrases:
            if self.split:
                compared = [pa.array(self.split(texts.to_pylist()), pa.string()) for texts in compared]
            overlap, changed = compare_words(*compared, tokenizer=self.tokenizer)
            columns |= {"trigram_overlap": pa.array(overlap), "changed_words": pa.array(changed)}
        return columns

    def _side(self, texts: pa.Array, language: str) -> tuple[pa.Array, dict[str, pa.Array]]:
        """The texts of a side as they are compared, and its lengths and languages by column."""
        measures, original = {}, texts.to_pylist()
        prepared = prepare_text(original, folding=self.text.folding, lowercase=self.text.lowercase)
        if self.identifier is not None:
            seen = original if self.text.identify == "original" else as_read(prepared)
            identified = self.identifier.identify(seen, language)
            measures = {
                "language": pa.array(identified.codes, pa.string()),
                "confidence": pa.array(identified.confidences),
                "probability": pa.array(identified.probabilities, from_pandas=True),
            }
        counted = compared = pa.array(self.compose(prepared), pa.string())
        segmenter = self.text.segmentation.get(language, "none")
        if segmenter != "none":
            compared = pa.array(self.compose(segment(prepared, language, segmenter)), pa.string())
            # A segmenter's spaces do not matter where characters are counted.
            counted = counted if self.text.words == "script" else compared
        measures["tokens"], measures["characters"] = self.count(counted)
        return compared, measures
