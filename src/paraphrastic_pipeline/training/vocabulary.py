"""Vocabularies: a sentencepiece model for both sides of a model's training pairs, or for one of them."""

import io
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

from paraphrastic.base.arrays import Int32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.interop.model_proto import read_model_proto
from paraphrastic.interop.unknown_pieces import add_unknown_pieces
from paraphrastic.model.units import spell
from paraphrastic.model.vocabulary import BYTES, SPACE, UNKNOWN
from paraphrastic_pipeline.corpus.blocks import read_blocks

log = logging.getLogger(__name__)

# Sentences whose unknown characters are looked for at a time.
_BLOCK = 65_536
# The pieces for unknown text, and for the beginning and the end of a sentence.
SPECIAL = 3
# sentencepiece's own mark for unknown text; its trainer skips any sentence that has it.
_RESERVED = "\u2585"


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularySettings:
    """What a vocabulary is trained on, and what it holds.

    Attributes:
        unit: one of `units.UNITS`.
        sides: columns to train on.
        size: number of pieces; bytes and spellings come on top. For subwords, it includes the three special
            ones, as in the original; there are as many words or trigrams, and the special ones come on top.
        character_coverage: share of the characters' occurrences that subwords must cover. Words and trigrams
            are chosen by their own frequency.
        unknown: what becomes of text without a piece. With `bytes`, the model has a piece for each byte, and
            with `spellings` one for each run of unknown characters in the pairs, as the original; with
            `shared` or `omit`, it has none.
        max_sentences: only so many sentences are used, the first ones.
    """

    unit: str = "subword"
    sides: Sequence[str] = ("source", "target")
    size: int
    character_coverage: float
    unknown: str
    max_sentences: int

    @property
    def extra(self) -> int:
        """How many pieces come on top of `size` before any spellings."""
        return (BYTES if self.unknown == "bytes" else 0) + (0 if self.unit == "subword" else SPECIAL)


def train_vocabulary(
    pairs: Path, model: Path, settings: Mapping[str, Any], *, vectors: Path | None = None
) -> None:
    """Train a sentencepiece model on the sides of `pairs`.

    For subwords, it is a unigram model (Wieting et al. 2021, section 5.1). For words and trigrams, it holds
    the most frequent ones (Wieting et al. 2019, section 3.1).

    Args:
        pairs: Parquet with the columns `source` and `target` in random order, already lower-cased if that is
            wanted.
        model: the model file to write.
        settings: the fields of `VocabularySettings`.
        vectors: a file of word vectors; a vocabulary of words has only the words in it, as in ParaNMT-50M:
            first those of `pairs`, by frequency, and then others in the file's order.

    Raises:
        InputError: no such vocabulary can be trained on the pairs, or `vectors` has none of their words.
    """
    wanted = VocabularySettings(**settings)
    unit, sides, size = wanted.unit, wanted.sides, wanted.size
    allowed: Collection[str] | None = None
    if vectors and unit == "word":
        # Imported late, since the libraries for it take half a second.
        from paraphrastic_pipeline.training.word_vectors import words_with_vectors

        allowed = dict.fromkeys(words_with_vectors(vectors))
    # The trainer's own draw is another in every run, whatever its seed.
    sentences = islice(_sentences(pairs, unit, sides, allowed), wanted.max_sentences)
    trained = train_sentencepiece(
        _without_reserved(sentences, unit),
        f"{pairs}: no vocabulary of {size} pieces can be trained on it",
        model_type="unigram" if unit == "subword" else "word",
        vocab_size=size + wanted.extra,
        # Text that is spelled like a special piece is dropped, and `<s>` could be a trigram.
        bos_piece="<begin>" if unit == "trigram" else "<s>",
        character_coverage=wanted.character_coverage if unit == "subword" else 1.0,
        byte_fallback=wanted.unknown == "bytes",
        # This is in bytes, and a sentence that is spelled in trigrams is four times as long.
        max_sentence_length=4192 if unit == "subword" else 1 << 20,
        # As in the original code, fewer pieces than asked for are no error.
        hard_vocab_limit=False,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=trained)
    log.info("%s: %d pieces (%d asked for)", model, processor.get_piece_size() - wanted.extra, size)
    if allowed is not None:
        processor = _with_words(processor, allowed, size + wanted.extra)
        log.info("%s: %d pieces with further words that have vectors", model, processor.get_piece_size())
    if wanted.unknown == "spellings":
        spellings = unknown_spellings(processor, _sentences(pairs, unit, sides))
        processor = add_unknown_pieces(processor, spellings)
        log.info("%s: %d spellings of characters without a piece", model, len(spellings))
    with atomic_output(model) as temporary:
        temporary.write_bytes(processor.serialized_model_proto())


def train_sentencepiece(sentences: Iterator[str], failure: str, **options: Any) -> bytes:
    """Train a sentencepiece model with its trainer's `options`; an error begins with `failure`."""
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sentences,
            model_writer=model,
            # Threads sum separately in floating point, so another number of them gives another model.
            num_threads=1,
            minloglevel=1,
            **options,
        )
    except RuntimeError as error:
        raise InputError(f"{failure}: {str(error).strip().splitlines()[-1]}") from None
    return model.getvalue()


def unknown_spellings(processor: sentencepiece.SentencePieceProcessor, sentences: Iterable[str]) -> list[str]:
    """The runs of characters in the sentences that the model has no piece for, each once."""
    unknown, spellings = processor.unk_id(), dict[str, None]()
    waiting = iter(sentences)
    while block := list(islice(waiting, _BLOCK)):
        ids = processor.encode(block, out_type=int, num_threads=1)
        some = [row for row, pieces in enumerate(ids) if unknown in pieces]
        for row, pieces in zip(
            some, processor.encode([block[row] for row in some], out_type=str), strict=True
        ):
            runs = (piece for piece, number in zip(pieces, ids[row], strict=True) if number == unknown)
            spellings.update(dict.fromkeys(part for run in runs for part in run.split()))
    return list(spellings)


def spelled_alike(
    source: sentencepiece.SentencePieceProcessor, target: sentencepiece.SentencePieceProcessor
) -> Int32:
    """Ids in both vocabularies of every piece that both spell alike, [k, 2]."""
    one, other = ({p.id_to_piece(i): i for i in range(p.get_piece_size())} for p in (source, target))
    return np.array([(one[piece], other[piece]) for piece in one if piece in other], np.int32).reshape(-1, 2)


def _sentences(
    pairs: Path, unit: str, sides: Sequence[str], allowed: Collection[str] | None = None
) -> Iterator[str]:
    """The sentences in the form in which sentencepiece takes them; only `allowed` words if that is given."""
    for batch in read_blocks(pairs, columns=list(sides)):
        for column in batch.columns:
            for text in spell(column.to_pylist(), unit):
                yield text if allowed is None else " ".join(filter(allowed.__contains__, text.split()))


def _without_reserved(sentences: Iterable[str], unit: str) -> Iterator[str]:
    """The sentences without the character that the trainer rejects, and without words or trigrams of it."""
    for text in sentences:
        if _RESERVED not in text:
            yield text
        elif unit == "subword":
            yield text.replace(_RESERVED, " ")
        else:
            yield " ".join(word for word in text.split() if _RESERVED not in word)


def _with_words(
    processor: sentencepiece.SentencePieceProcessor, words: Iterable[str], size: int
) -> sentencepiece.SentencePieceProcessor:
    """Add words to a model of words until it has `size` pieces."""
    model = read_model_proto(processor.serialized_model_proto())
    known, score = {piece.piece for piece in model.pieces}, model.pieces[-1].score
    for word in words:
        if len(model.pieces) >= size:
            break
        piece = f"{SPACE}{word}"
        # Text never has a word with marks at an end, or one that normalization changes.
        is_possible = spell([word], "word") == [word] and processor.normalize(word) == piece
        if is_possible and word != UNKNOWN and piece not in known:
            known.add(piece)
            score -= 1
            model.pieces.add(piece=piece, score=score, type=model.SentencePiece.NORMAL)
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
