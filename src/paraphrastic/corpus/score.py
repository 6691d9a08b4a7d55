"""Score sentence pairs: measure once everything that a selection may depend on."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraphrastic.base.text import composed, prepare_text
from paraphrastic.corpus.blocks import PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic.corpus.language_id import LanguageIdentifier
from paraphrastic.corpus.overlap import compare_words
from paraphrastic.corpus.raw_lines import RAW, raw_digests
from paraphrastic.corpus.tokens import Tokenizer, count_tokens
from paraphrastic.corpus.word_vectors import WordVectors

SCORED_SCHEMA = pa.schema(
    [
        *PAIR_SCHEMA,
        pa.field("source_tokens", pa.int32()),
        pa.field("target_tokens", pa.int32()),
        pa.field("source_language", pa.string()),
        pa.field("target_language", pa.string()),
        pa.field("source_confidence", pa.float32()),
        pa.field("target_confidence", pa.float32()),
        pa.field("trigram_overlap", pa.float32()),
        pa.field("changed_words", pa.int32()),
        pa.field("paraphrase_score", pa.float64()),
        pa.field("translation_score", pa.float64()),
        RAW,
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
    lowercase: bool,
    overlap_tokenizer: Tokenizer = "word",
    shard: tuple[int, int] = (1, 1),
) -> None:
    """Write the pairs with their scores (`SCORED_SCHEMA`), in the same order.

    The language of each side is identified on the original text. Text in a language of `segmentation` is then
    folded, lower-cased and segmented, and the result is what is counted and written; `raw` keeps a digest of
    such a pair as the corpus has it, and is null for all others. Languages and confidences are null without
    an identifier. Trigram overlap and changed words are null if the two languages differ. The
    paraphrase score is the word vectors' cosine; without word vectors, it is the corpus's own score or null.
    The translation score is the corpus's own or null.

    Args:
        pairs: a Parquet file made by `extract_corpus`.
        output: the Parquet file.
        languages: languages of the sources and of the targets, according to the corpus.
        identifier: a fastText model.
        word_vectors: a text file of word vectors.
        segmentation: mode of `text.segment` by language.
        folding: mode of `text.fold` by language; words count as equal if they are equal after folding.
        lowercase: whether text is lower-cased before it is segmented. Text in other languages keeps its case
            until it is selected.
        overlap_tokenizer: tokenizer for the trigram overlap, see `tokens.tokenize`.
        shard: `(i, n)` scores the i-th (from 1) of n parts of the corpus; a part may be empty.

    Raises:
        InputError: an input is damaged, or the disk is full.
    """
    language_identifier = None if identifier is None else LanguageIdentifier(identifier)
    vectors = None if word_vectors is None else WordVectors(word_vectors)
    with write_blocks(output, SCORED_SCHEMA, dictionary=_LANGUAGE_COLUMNS) as writer:
        for block in read_blocks(pairs, shard=shard):
            columns: dict[str, pa.Array] = {"line": block["line"]}
            if any(segmentation.get(language, "none") != "none" for language in languages):
                columns[RAW.name] = raw_digests(block)
            for side, language in zip(("source", "target"), languages, strict=True):
                texts = block[side]
                if language_identifier is not None:
                    codes, confidences = language_identifier.identify(texts.to_pylist())
                    columns[f"{side}_language"] = pa.array(codes, pa.string())
                    columns[f"{side}_confidence"] = pa.array(confidences)
                if segmentation.get(language, "none") != "none":
                    prepared = prepare_text(
                        texts.to_pylist(),
                        language=language,
                        segmentation=segmentation,
                        folding=folding,
                        lowercase=lowercase,
                    )
                    texts = pa.array(prepared, pa.string())
                columns[side] = texts
                columns[f"{side}_tokens"] = count_tokens(texts)
            if languages[0] == languages[1]:
                sides = (columns[side].to_pylist() for side in ("source", "target"))
                folded = [prepare_text(texts, folding=folding) for texts in sides]
                # The original takes a letter and its mark as they are written.
                if overlap_tokenizer != "treebank":
                    folded = [composed(texts) for texts in folded]
                compared = compare_words(*folded, tokenizer=overlap_tokenizer)
                columns["trigram_overlap"], columns["changed_words"] = map(pa.array, compared)
            if vectors is not None:
                scores = vectors.paraphrase_score(columns["source"], columns["target"])
                columns["paraphrase_score"] = pa.array(scores, pa.float64(), mask=np.isnan(scores))
            for name in ("paraphrase_score", "translation_score"):
                if name in block.schema.names and name not in columns:
                    columns[name] = block[name]
            nulls = {field.name: pa.nulls(block.num_rows, field.type) for field in SCORED_SCHEMA}
            writer.write(pa.RecordBatch.from_pydict(nulls | columns, schema=SCORED_SCHEMA))
