"""Score sentence pairs: measure once everything that a selection may depend on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

import pyarrow as pa

from paraphrastic.base.text import prepare_text, segment
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier, as_read
from paraphrastic_pipeline.corpus.overlap import compare_words
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


def score_pairs(
    pairs: str | Path,
    scored: str | Path,
    *,
    languages: Sequence[str],
    preparation: Mapping[str, Any],
    words: Literal["script", "white_space"] = "script",
    identify: Literal["model", "original"] = "model",
    identifier: Path | None = None,
    punkt: Path | None = None,
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
        preparation: `segmentation`, `folding` and `lowercase`, as `select_pairs` takes them.
        words: `script` counts words in scripts with spaces, and characters in those without (see
            `tokens.count_words`); `white_space` counts what is between white space, as the papers do, and
            leaves text without spaces whole.
        identify: whether languages are identified on the text that the `model` sees, or on the `original`, as
            the papers do.
        identifier: a fastText model.
        punkt: the archive of `tokens.open_treebank`, which then splits paraphrases into words for their
            overlap; without it, `tokens.tokenize` does.
        shard: `(i, n)` scores the i-th (from 1) of n parts of the corpus; a part may be empty.

    Raises:
        InputError: the identifier cannot be read, or the disk is full.
    """
    scorer = _Scorer(
        languages=languages,
        **preparation,
        words=words,
        identify=identify,
        identifier=identifier and LanguageIdentifier(identifier),
        split=punkt and open_treebank(punkt),
    )
    with write_blocks(scored, SCORED_SCHEMA, dictionary=[f"{side}_language" for side in _SIDES]) as writer:
        for block in read_blocks(pairs, shard=shard):
            nulls = {field.name: pa.nulls(block.num_rows, field.type) for field in SCORED_SCHEMA}
            columns = nulls | scorer.columns(block)
            writer.write(pa.RecordBatch.from_pydict(columns, schema=SCORED_SCHEMA))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scorer:
    """Scores the blocks of a corpus; see `score_pairs`."""

    languages: Sequence[str]
    segmentation: Mapping[str, str]
    folding: Mapping[str, str]
    lowercase: bool
    words: str
    identify: str
    identifier: LanguageIdentifier | None
    split: Callable[[Sequence[str]], list[str]] | None

    def columns(self, block: pa.RecordBatch) -> dict[str, pa.Array]:
        """The columns of a block that have a value."""
        own = ("source", "target", "line", "paraphrase_score", "translation_score")
        columns: dict[str, pa.Array] = {name: block[name] for name in own if name in block.schema.names}
        compared = []
        for side, language in zip(_SIDES, self.languages, strict=True):
            texts, measures = self._side(block[side].to_pylist(), language)
            columns |= {f"{side}_{name}": array for name, array in measures.items()}
            compared.append(texts)
        if len({*self.languages}) == 1:
            tokenizer: Tokenizer = "word" if self.words == "script" else "white_space"
            if self.split:
                compared, tokenizer = [self.split(texts) for texts in compared], "split"
            else:
                # The original takes a letter and its mark as they are written.
                compared = [[normalize("NFC", text) for text in texts] for texts in compared]
            overlap, changed = compare_words(*compared, tokenizer=tokenizer)
            columns |= {"trigram_overlap": pa.array(overlap), "changed_words": pa.array(changed)}
        return columns

    def _side(self, original: list[str], language: str) -> tuple[list[str], dict[str, pa.Array]]:
        """The texts of a side as they are compared, and its lengths and languages by column."""
        measures = {}
        counted = compared = prepare_text(original, folding=self.folding, lowercase=self.lowercase)
        if self.identifier is not None:
            seen = original if self.identify == "original" else as_read(compared)
            codes, confidences, probabilities = self.identifier.identify(seen, language)
            measures = {
                "language": pa.array(codes, pa.string()),
                "confidence": pa.array(confidences),
                "probability": pa.array(probabilities, from_pandas=True),
            }
        if (segmenter := self.segmentation.get(language, "none")) != "none":
            compared = segment(counted, language, segmenter)
            # A segmenter's spaces do not matter where characters are counted.
            counted = counted if self.words == "script" else compared
        count = count_words if self.words == "script" else count_tokens
        measures["tokens"], measures["characters"] = count(pa.array(counted, pa.string()))
        return compared, measures
