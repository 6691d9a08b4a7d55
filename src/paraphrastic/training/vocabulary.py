"""Vocabularies: a sentencepiece model for both sides of a model's training pairs, or for one of them."""

import io
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import sentencepiece

from paraphrastic.base.arrays import Int32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.base.units import spell

log = logging.getLogger(__name__)


def train_vocabulary(
    pairs: Path,
    output: Path,
    *,
    unit: str = "subword",
    sides: Sequence[str] = ("source", "target"),
    size: int,
    character_coverage: float,
    max_sentences: int,
    hard_limit: bool,
    seed: int,
) -> None:
    """Train a sentencepiece model on the sides of `pairs`.

    For subwords, it is a unigram model (Wieting et al. 2021, section 5.1). For words and trigrams, it holds
    the most frequent ones (Wieting et al. 2019, section 4).

    Args:
        pairs: Parquet with the columns `source` and `target`, already lower-cased if that is wanted.
        output: the model file to write.
        unit: one of `units.UNITS`.
        sides: columns to train on.
        size: number of pieces, including the three special ones.
        character_coverage: share of the characters' occurrences that pieces must cover.
        max_sentences: at most this many sentences, drawn with `seed`, are used.
        hard_limit: whether fewer pieces than `size` are an error; the original code accepts fewer.
        seed: seed for drawing sentences.
    """
    sentencepiece.set_random_generator_seed(seed)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_sentences(pairs, unit, sides),
            model_writer=model,
            model_type="unigram" if unit == "subword" else "word",
            vocab_size=size,
            character_coverage=character_coverage,
            input_sentence_size=max_sentences,
            # This is in bytes, and a sentence that is spelled in trigrams is four times as long.
            max_sentence_length=4192 if unit == "subword" else 1 << 20,
            shuffle_input_sentence=True,
            hard_vocab_limit=hard_limit,
            # Threads sum separately in floating point, so another number of them gives another model.
            num_threads=1,
            minloglevel=1,
        )
    except RuntimeError as error:
        cause = str(error).strip().splitlines()[-1]
        raise InputError(f"{pairs}: no vocabulary of {size} pieces can be trained on it: {cause}") from None
    with atomic_output(output) as temporary:
        temporary.write_bytes(model.getvalue())
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()).get_piece_size()
    log.info("%s: %d pieces (%d asked for)", output, pieces, size)


def load_sentencepiece(path: Path) -> sentencepiece.SentencePieceProcessor:
    """Load a sentencepiece model; a missing or damaged file is an `InputError` that names it."""
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path}: not readable as a sentencepiece model: {error}") from None


def spelled_alike(
    source: sentencepiece.SentencePieceProcessor, target: sentencepiece.SentencePieceProcessor
) -> Int32:
    """Ids in both vocabularies of every piece that both spell alike, [k, 2]."""
    ids = {source.id_to_piece(piece): piece for piece in range(source.get_piece_size())}
    spelled = ((ids.get(target.id_to_piece(piece), -1), piece) for piece in range(target.get_piece_size()))
    return np.array([pair for pair in spelled if pair[0] >= 0], np.int32).reshape(-1, 2)


def _sentences(pairs: Path, unit: str, sides: Sequence[str]) -> Iterator[str]:
    # Imported late, since a model in use needs only `load_sentencepiece`.
    from paraphrastic.corpus.blocks import read_blocks

    for batch in read_blocks(pairs, columns=list(sides)):
        for column in batch.columns:
            yield from spell(column.to_pylist(), unit)
