"""What a sentencepiece model says of itself: its pieces, how it cuts, how it normalises.

sentencepiece's own Python module tells none of the settings. The model is a protocol buffer
(`sentencepiece_model.proto`), of which this reads what decides on the pieces of a text, without the package
`protobuf`: https://protobuf.dev/programming-guides/encoding/.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from paraphrastic.base.errors import InputError

_Value: TypeAlias = int | bytes

# Kinds of values on the wire.
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


class ModelType(IntEnum):
    """How a model cuts."""

    UNIGRAM = 1
    BPE = 2
    WORD = 3
    CHAR = 4


class PieceType(IntEnum):
    """What a piece is."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Piece(NamedTuple):
    """A piece; its place in the list is its id."""

    piece: str
    score: float
    type: PieceType


@dataclass(frozen=True, slots=True)
class TrainerSpec:
    """The settings of the training that segmentation heeds, with sentencepiece's defaults."""

    model_type: ModelType = ModelType.UNIGRAM
    vocab_size: int = 8000
    split_by_unicode_script: bool = True
    split_by_whitespace: bool = True
    split_by_number: bool = True
    treat_whitespace_as_suffix: bool = False
    split_digits: bool = False
    allow_whitespace_only_pieces: bool = False
    byte_fallback: bool = False
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    pretokenization_delimiter: str = ""


@dataclass(frozen=True, slots=True)
class NormalizerSpec:
    """How text is normalised before it is cut, with sentencepiece's defaults.

    `precompiled_charsmap` is empty for the identity; `normalization_rule_tsv` is the name of a file that is
    not in the model, whose rules are in the map.
    """

    name: str = ""
    precompiled_charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    normalization_rule_tsv: str = ""


@dataclass(frozen=True, slots=True)
class ModelProto:
    """A sentencepiece model."""

    pieces: tuple[Piece, ...]
    trainer: TrainerSpec
    normalizer: NormalizerSpec

    def ids(self, *types: PieceType) -> list[int]:
        """Ids of the pieces of these types."""
        return [number for number, piece in enumerate(self.pieces) if piece.type in types]


# Numbers of fields in the .proto file.
_TRAINER_FIELDS = {
    3: "model_type",
    4: "vocab_size",
    21: "split_by_unicode_script",
    22: "split_by_whitespace",
    23: "split_by_number",
    24: "treat_whitespace_as_suffix",
    25: "split_digits",
    26: "allow_whitespace_only_pieces",
    35: "byte_fallback",
    40: "unk_id",
    41: "bos_id",
    42: "eos_id",
    43: "pad_id",
    45: "unk_piece",
    53: "pretokenization_delimiter",
}
_NORMALIZER_FIELDS = {
    1: "name",
    2: "precompiled_charsmap",
    3: "add_dummy_prefix",
    4: "remove_extra_whitespaces",
    5: "escape_whitespaces",
    6: "normalization_rule_tsv",
}


def read_model_proto(content: bytes, name: str = "sentencepiece.model") -> ModelProto:
    """Read a model from its bytes, such as a file's or `processor.serialized_model_proto()`.

    Args:
        content: the model.
        name: of the file, for errors.

    Raises:
        InputError: these are no sentencepiece model's bytes.
    """
    pieces: list[Piece] = []
    trainer, normalizer = TrainerSpec(), NormalizerSpec()
    try:
        for number, value in _fields(content):
            if number == 1:
                pieces.append(_piece(_message(value)))
            elif number == 2:
                trainer = TrainerSpec(**_named(_message(value), _TRAINER_FIELDS, TrainerSpec()))
            elif number == 3:
                normalizer = NormalizerSpec(**_named(_message(value), _NORMALIZER_FIELDS, NormalizerSpec()))
    except (ValueError, IndexError, struct.error) as error:
        raise InputError(f"{name}: is no sentencepiece model: {error}") from None
    if not pieces:
        raise InputError(f"{name}: is no sentencepiece model: there are no pieces in it")
    return ModelProto(tuple(pieces), trainer, normalizer)


def read_settings(content: bytes) -> tuple[TrainerSpec, NormalizerSpec]:
    """The settings alone of a model that is known to be whole, in a fraction of the time."""
    specs = {number: _message(value) for number, value in _fields(content) if number in (2, 3)}
    trainer = TrainerSpec(**_named(specs.get(2, b""), _TRAINER_FIELDS, TrainerSpec()))
    return trainer, NormalizerSpec(**_named(specs.get(3, b""), _NORMALIZER_FIELDS, NormalizerSpec()))


def keep_pieces(content: bytes, kept: Sequence[bool]) -> bytes:
    """A model without some of its pieces; the others' ids are their places among those that are kept."""
    pieces, parts = iter(kept), []
    for number, value in _fields(content):
        # All fields of a model are messages.
        if number != 1 or next(pieces):
            message = _message(value)
            parts.append(_as_field(number, message))
    return b"".join(parts)


def piece_field(piece: Piece) -> bytes:
    """An entry of a model's pieces; behind a serialized model, it is added to it."""
    score = _as_varint(2 << 3 | _FIXED32) + struct.pack("<f", piece.score)
    kind = _as_varint(3 << 3 | _VARINT) + _as_varint(piece.type)
    return _as_field(1, _as_field(1, piece.piece.encode()) + score + kind)


def _piece(content: bytes) -> Piece:
    piece, score, kind = "", 0.0, PieceType.NORMAL
    for number, value in _fields(content):
        if number == 1:
            piece = _message(value).decode("utf-8")
        elif number == 2:
            (score,) = struct.unpack("<f", _message(value))
        elif number == 3:
            kind = PieceType(_number(value))
    return Piece(piece, score, kind)


def _named(content: bytes, fields: dict[int, str], defaults: TrainerSpec | NormalizerSpec) -> dict[str, Any]:
    """Values by the names of fields, in the types of the defaults; of one that recurs the last."""
    found: dict[str, Any] = {}
    for number, value in _fields(content):
        if name := fields.get(number):
            default = getattr(defaults, name)
            if isinstance(default, bytes):
                found[name] = _message(value)
            elif isinstance(default, str):
                found[name] = _message(value).decode("utf-8")
            else:
                found[name] = type(default)(_number(value))
    return found


def _fields(content: bytes) -> Iterator[tuple[int, _Value]]:
    """Fields of a message: their numbers and values, which are bytes but for varints."""
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _varint(content, place)
            yield number, value
            continue
        if kind == _LENGTH:
            size, place = _varint(content, place)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError(f"byte {place}: a field of the kind {kind}")
        if place + size > len(content):
            raise ValueError(f"byte {place}: a field goes on beyond the end")
        yield number, content[place : place + size]
        place += size


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """A number, as int64, and the place after it."""
    value = shift = 0
    while True:
        byte = content[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value - (1 << 64 if value >= 1 << 63 else 0), place
        shift += 7
        if shift > 63:
            raise ValueError(f"byte {place}: a number of too many digits")


def _as_field(number: int, message: bytes) -> bytes:
    return _as_varint(number << 3 | _LENGTH) + _as_varint(len(message)) + message


def _as_varint(value: int) -> bytes:
    digits = []
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def _message(value: _Value) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number where bytes belong")
    return value


def _number(value: _Value) -> int:
    if isinstance(value, bytes):
        raise ValueError("bytes where a number belongs")
    return value
