"""sentencepiece models as protocol buffers: settings that the processor hides, and pieces that are added."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from sentencepiece import SentencePieceProcessor

from paraphrastic.base.errors import InputError
from paraphrastic.model.files import SENTENCEPIECE
from paraphrastic.model.unknown_pieces import UNKNOWN

# A message of sentencepiece's `sentencepiece_model.proto`; the classes that protobuf makes have no types.
ModelProto: TypeAlias = Any
# If a larger share of the spellings (in percent) cannot come from the model, the vocabulary is another one's.
MAX_FOREIGN_PERCENT = 1.0
# Below those of the pieces, for readers that know no types: they take one spelling for a run, not several.
_SCORE = -100.0
_SPACE = "▁"


def model_proto(**fields: Any) -> ModelProto:
    """A message with these fields.

    Raises:
        InputError: protobuf is not installed.
    """
    try:
        from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]
    except ImportError as error:
        raise InputError(
            f"sentencepiece models are read with protobuf: pip install protobuf ({error})"
        ) from None
    return ModelProto(**fields)


def read_model_proto(content: bytes, name: str = SENTENCEPIECE) -> ModelProto:
    """Read a model from its bytes, such as a file's or `processor.serialized_model_proto()`.

    Args:
        content: the model.
        name: of the file, for errors.

    Raises:
        InputError: these are no sentencepiece model's bytes, or protobuf is not installed.
    """
    model = model_proto()
    from google.protobuf.message import DecodeError

    try:
        model.ParseFromString(content)
    except DecodeError as error:
        raise InputError(f"{name}: is no sentencepiece model: {error}") from None
    if not model.pieces:
        raise InputError(f"{name}: is no sentencepiece model: there are no pieces in it")
    return model


def add_unknown_pieces(
    processor: SentencePieceProcessor, vocabulary: Sequence[str]
) -> SentencePieceProcessor:
    """The model with spellings: `UNKNOWN`, and all of a vocabulary that it has no piece for.

    See `model.unknown_pieces`.

    Args:
        processor: the model whose pieces, and runs of characters without one, the vocabulary has.
        vocabulary: spellings, each once.

    Raises:
        InputError: the model cannot have made the vocabulary, or would cut text in another way with it; or
            protobuf is not installed.
    """
    unknown = processor.unk_id()
    ids = processor.piece_to_id(list(vocabulary))
    own = {UNKNOWN, processor.id_to_piece(unknown)}
    new = [each for each, piece in zip(vocabulary, ids, strict=True) if piece == unknown and each not in own]
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    # An unknown piece has none of these characters.
    known = frozenset(piece for piece in pieces if len(piece) == 1)
    foreign = [spelling for spelling in new if not known.isdisjoint(spelling)]
    if len(foreign) * 100 > len(vocabulary) * MAX_FOREIGN_PERCENT:
        raise InputError(
            f"{len(foreign):,} of the vocabulary's {len(vocabulary):,} pieces, such as {foreign[0]!r}, are "
            "none of the sentencepiece model's: it is another vocabulary's"
        )
    if processor.piece_to_id(UNKNOWN) == unknown:
        new.append(UNKNOWN)
    added = model_proto()
    for spelling in new:
        added.pieces.add(piece=spelling, score=_SCORE, type=added.SentencePiece.UNUSED)
    # Protocol buffers are merged by writing one behind the other.
    extended = SentencePieceProcessor(
        model_proto=processor.serialized_model_proto() + added.SerializeToString()
    )
    if _SPACE not in known or processor.encode(new) != extended.encode(new):
        raise InputError(
            f"the sentencepiece model cannot tell unknown pieces of the vocabulary, such as {new[0]!r}, from "
            "others: needed is one of the type unigram or bpe, with a piece for a space"
        )
    return extended
