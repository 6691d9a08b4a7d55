"""Score sentence pairs: measure once everything that a selection may depend on."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

import pyarrow as pa

from paraphrastic.base.arrays import Float32, Int32
from paraphrastic.base.text import prepare_text, segment
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier, as_read
from paraphrastic_pipeline.corpus.overlap import compare_words
from paraphrastic_pipeline.corpus.tokens import count_tokens, count_words, open_treebank

_SIDES = ("source", "target")
_OF_LANGUAGE = {"language": pa.string(), "confidence": pa.float32(), "probability": pa.float32()}
# Tokens, and how many of them are characters of a script without spaces.
_MEASURES = {"tokens": pa.int32(), "characters": pa.int32(), **_OF_LANGUAGE}
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
    knows = LanguageIdentifier(identifier) if identifier else None
    split = open_treebank(punkt) if punkt else None
    segmentation, folding, lowercase = (
        preparation[name] for name in ("segmentation", "folding", "lowercase")
    )
    with write_blocks(scored, SCORED_SCHEMA, dictionary=[f"{side}_language" for side in _SIDES]) as writer:
        for block in read_blocks(pairs, shard=shard):
            columns = {field.name: pa.nulls(block.num_rows, field.type) for field in SCORED_SCHEMA}
            columns |= {name: block[name] for name in block.schema.names}
            compared = []
            for side, language in zip(_SIDES, languages, strict=True):
                original = block[side].to_pylist()
                texts = prepare_text(original, folding=folding, lowercase=lowercase)
                if knows:
                    seen = original if identify == "original" else as_read(texts)
                    columns |= _identified(side, knows.identify(seen, language))
                segmenter = segmentation.get(language, "none")
                compared.append(texts if segmenter == "none" else segment(texts, language, segmenter))
                # A segmenter's spaces do not matter where characters are counted.
                counts = count_words(texts) if words == "script" else count_tokens(compared[-1])
                columns[f"{side}_tokens"], columns[f"{side}_characters"] = counts
            if languages[0] == languages[1]:
                columns["trigram_overlap"], columns["changed_words"] = _compare(compared, words, split)
            writer.write(pa.RecordBatch.from_pydict(columns, schema=SCORED_SCHEMA))


def _identified(side: str, found: tuple[list[str], Float32, Float32]) -> dict[str, pa.Array]:
    """The columns of a side's languages."""
    arrays = (pa.array(found[0], pa.string()), *(pa.array(each, from_pandas=True) for each in found[1:]))
    return dict(zip((f"{side}_{name}" for name in _OF_LANGUAGE), arrays, strict=True))


def _compare(
    sides: Sequence[list[str]], words: str, split: Callable[[Sequence[str]], list[str]] | None
) -> tuple[Float32, Int32]:
    """Trigram overlap and changed words of the sides of paraphrases."""
    if split:
        return compare_words(*map(split, sides), tokenizer="split")
    # The original takes a letter and its mark as they are written.
    composed = ([normalize("NFC", text) for text in side] for side in sides)
    return compare_words(*composed, tokenizer="word" if words == "script" else "white_space")
