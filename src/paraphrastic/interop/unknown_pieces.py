"""Spellings of unknown characters, which are added to a sentencepiece model; see `model.vocabulary`."""

from collections.abc import Sequence

from sentencepiece import SentencePieceProcessor

from paraphrastic.base.errors import InputError
from paraphrastic.interop.model_proto import read_model_proto
from paraphrastic.model.vocabulary import SPACE, UNKNOWN

# If a larger share of spellings (in percent) cannot come from the model, the vocabulary is another model's.
MAX_FOREIGN_PERCENT = 1.0
# Below the scores of the pieces: readers that ignore types then take one spelling for a run, not several.
_SCORE = -100.0


def add_unknown_pieces(
    processor: SentencePieceProcessor, vocabulary: Sequence[str]
) -> SentencePieceProcessor:
    """Add spellings to a model: `UNKNOWN`, and all of a vocabulary that it has no piece for.

    Args:
        processor: the model that cut the vocabulary's text into pieces and runs of unknown characters.
        vocabulary: spellings, each once.

    Raises:
        InputError: the vocabulary cannot come from the model, or the model would cut text differently with
            it.
    """
    unknown = processor.unk_id()
    ids = processor.piece_to_id(list(vocabulary))
    special = {UNKNOWN, processor.id_to_piece(unknown)}
    new = [
        spelling
        for spelling, piece in zip(vocabulary, ids, strict=True)
        if piece == unknown and spelling not in special
    ]
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    # An unknown piece contains none of the characters that the model knows.
    known = frozenset(piece for piece in pieces if len(piece) == 1)
    foreign = [spelling for spelling in new if not known.isdisjoint(spelling)]
    if len(foreign) * 100 > len(vocabulary) * MAX_FOREIGN_PERCENT:
        raise InputError(
            f"{len(foreign):,} of the vocabulary's {len(vocabulary):,} pieces, such as {foreign[0]!r}, are "
            "not in the sentencepiece model, which belongs to another vocabulary"
        )
    if processor.piece_to_id(UNKNOWN) == unknown:
        new.append(UNKNOWN)
    model = read_model_proto(processor.serialized_model_proto())
    for spelling in new:
        model.pieces.add(piece=spelling, score=_SCORE, type=model.SentencePiece.UNUSED)
    extended = SentencePieceProcessor(model_proto=model.SerializeToString())
    if SPACE not in known or processor.encode(new) != extended.encode(new):
        raise InputError(
            f"the sentencepiece model cannot tell unknown pieces of the vocabulary, such as {new[0]!r}, from "
            "others: its type must be unigram or bpe, and it needs a piece for a space"
        )
    return extended
