"""The content of sentencepiece models, which only other formats need; models in use need no protobuf."""

from typing import Any, TypeAlias

from google.protobuf.message import DecodeError
from sentencepiece import sentencepiece_model_pb2

from paraphrastic.base.errors import InputError
from paraphrastic.model.files import SENTENCEPIECE

# A message of sentencepiece's `sentencepiece_model.proto`; the classes that protobuf makes have no types.
ModelProto: TypeAlias = Any


def read_model_proto(content: bytes) -> ModelProto:
    """Read a model from its bytes, such as a file's or `processor.serialized_model_proto()`.

    Raises:
        InputError: the bytes are not those of a sentencepiece model.
    """
    model = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    try:
        model.ParseFromString(content)
    except DecodeError as error:
        raise InputError(f"{SENTENCEPIECE}: is not a sentencepiece model: {error}") from None
    if not model.pieces:
        raise InputError(f"{SENTENCEPIECE}: is not a sentencepiece model: it contains no pieces")
    return model
