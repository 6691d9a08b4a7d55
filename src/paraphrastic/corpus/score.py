"""Score sentence pairs: all that the selection may ask about a pair, measured once."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraphrastic.base.text import composed, prepare_text
from paraphrastic.corpus.blocks import read_blocks, write_blocks
from paraphrastic.corpus.language_id import LanguageIdentifier
from paraphrastic.corpus.overlap import compare_words
from paraphrastic.corpus.tokens import Tokenizer, count_tokens
from paraphrastic.corpus.word_vectors import WordVectors

SCORED_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("target", pa.string()),
        ("line", pa.int64()),
        ("source_tokens", pa.int32()),
        ("target_tokens", pa.int32()),
        ("source_language", pa.string()),
        ("target_language", pa.string()),
        ("source_confidence", pa.float32()),
        ("target_confidence", pa.float32()),
        ("trigram_overlap", pa.float32()),
        ("changed_words", pa.int32()),
        ("paraphrase_score", pa.float32()),
        ("translation_score", pa.float32()),
    ]
)
_LANGUAGE_COLUMNS = ("source_language", "target_language")


def score_pairs(
    pairs: str | Path,
    output: str | Path,
    *,
    languages: tuple[str, str],
    identifier: Path | None,
    word_vectors: Path | None,
    segmentation: Mapping[str, str],
    folding: Mapping[str, str],
    overlap_tokenizer: Tokenizer = "word",
    shard: tuple[int, int] = (1, 1),
) -> None:
    """Write the pairs with their scores (`SCORED_SCHEMA`), in the same order.

    The language of each side is identified on the text as it came; then text of a language in
    `segmentation` is segmented, which is the text that tokens are counted on and that is written. The
    trigram overlap and the changed words are null unless both sides are in one language; the paraphrase
    score is the word vectors' cosine, or without word vectors the corpus's own, or null; the translation
    score is the corpus's own, or null; languages and confidences are null without an identifier.

    Args:
        pairs: made by `extract_corpus`.
        output: the Parquet file.
        languages: of the sources and of the targets, as the corpus claims.
        identifier: a fastText model.
        word_vectors: a text file of word vectors.
        segmentation: mode of `text.segment` by language.
        folding: of characters, as in `text.fold`: what is written alike is the same in comparing the sides.
        overlap_tokenizer: of the trigram overlap; see `tokens.tokenize`.
        shard: `(i, n)`, the i-th (from 1) of n shards: that part of the corpus's row groups, which may be
            none.

    Raises:
        InputError: a damaged input; a full disk.
    """
    language_identifier = None if identifier is None else LanguageIdentifier(identifier)
    vectors = None if word_vectors is None else WordVectors(word_vectors)
    with write_blocks(output, SCORED_SCHEMA, dictionary=_LANGUAGE_COLUMNS) as writer:
        for block in read_blocks(pairs, shard=shard):
            scores = _score_block(
                block, languages, language_identifier, vectors, segmentation, folding, overlap_tokenizer
            )
            writer.write(scores)


def _score_block(
    block: pa.RecordBatch,
    languages: tuple[str, str],
    identifier: LanguageIdentifier | None,
    word_vectors: WordVectors | None,
    segmentation: Mapping[str, str],
    folding: Mapping[str, str],
    overlap_tokenizer: Tokenizer,
) -> pa.RecordBatch:
    columns: dict[str, pa.Array] = {"line": block["line"]}
    for side, language in zip(("source", "target"), languages, strict=True):
        texts = block[side]
        if identifier is not None:
            codes, confidences = identifier.identify(texts.to_pylist())
            columns[f"{side}_language"] = pa.array(codes, pa.string())
            columns[f"{side}_confidence"] = pa.array(confidences)
        if segmentation.get(language, "none") != "none":
            prepared = prepare_text(texts.to_pylist(), language=language, segmentation=segmentation)
            texts = pa.array(prepared, pa.string())
        columns[side] = texts
        columns[f"{side}_tokens"] = count_tokens(texts)
    if languages[0] == languages[1]:
        folded = (prepare_text(columns[side].to_pylist(), folding=folding) for side in ("source", "target"))
        sides = map(composed, folded)
        compared = compare_words(*sides, tokenizer=overlap_tokenizer)
        columns["trigram_overlap"], columns["changed_words"] = map(pa.array, compared)
    if word_vectors is not None:
        scores = word_vectors.paraphrase_score(columns["source"], columns["target"])
        columns["paraphrase_score"] = pa.array(scores, mask=np.isnan(scores))
    for name in ("paraphrase_score", "translation_score"):
        if name in block.schema.names and name not in columns:
            columns[name] = block[name]
    arrays = [columns.get(field.name, pa.nulls(block.num_rows, field.type)) for field in SCORED_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCORED_SCHEMA)
