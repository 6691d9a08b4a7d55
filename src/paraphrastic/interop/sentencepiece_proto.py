"""sentencepiece models read as protocol buffers, which have settings that sentencepiece's processor hides."""

from typing import Any, TypeAlias

from paraphrastic.base.errors import InputError
from paraphrastic.model.files import SENTENCEPIECE

# A message of sentencepiece's `sentencepiece_model.proto`; the classes that protobuf makes have no types.
ModelProto: TypeAlias = Any


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
