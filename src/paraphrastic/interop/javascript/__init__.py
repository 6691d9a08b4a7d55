"""Models for JavaScript: a module without dependencies, `paraphrastic.js`, and a file that it loads."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import folding_table
from paraphrastic.interop.model_proto import ModelProto, read_model_proto
from paraphrastic.interop.text_patterns import JAVASCRIPT, cleaning
from paraphrastic.interop.tokenizer import check_unsegmented
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.files import WEIGHTS

MODULE = Path(__file__).with_name("paraphrastic.js")
# The only entry of the metadata, since more would have no order, and the same model other bytes. The module
# refuses files without it, such as a model's own `model.safetensors`.
_SETTINGS = "paraphrastic-javascript"


def write_javascript(model: AverageEncoder, folder: Path) -> None:
    """Write `paraphrastic.js` and, beside it, the `model.safetensors` that it loads.

    Raises:
        InputError: the module cannot cut text as the model does.
    """
    (folder / WEIGHTS).write_bytes(model_bytes(model))
    shutil.copyfile(MODULE, folder / MODULE.name)


def model_bytes(model: AverageEncoder) -> bytes:
    """The model as one safetensors file, with its vocabulary and its settings.

    Raises:
        InputError: the module cannot cut text as the model does.
    """
    proto = read_model_proto(model.sentencepiece)
    check_unsegmented(model.config)
    _check_supported(model, proto)
    spellings = [piece.piece.encode() for piece in proto.pieces]
    vocabulary: dict[str, npt.NDArray[Any]] = {
        "pieces": np.frombuffer(b"".join(spellings), np.uint8),
        "piece_ends": np.cumsum([len(spelling) for spelling in spellings], dtype=np.int32),
        "scores": np.array([piece.score for piece in proto.pieces], np.float32),
        "types": np.array([piece.type for piece in proto.pieces], np.uint8),
        "charsmap": np.frombuffer(proto.normalizer_spec.precompiled_charsmap, np.uint8),
    }
    folded = folding_table(model.config["folding"])
    settings = {
        "cleaning": cleaning(JAVASCRIPT),
        "folding": {chr(letter): other or "" for letter, other in folded.items()},
        "lowercase": model.config["lowercase"],
        "by_word": model.tokenizer.by_word,
        "add_dummy_prefix": proto.normalizer_spec.add_dummy_prefix,
        "remove_extra_whitespaces": proto.normalizer_spec.remove_extra_whitespaces,
        "config": {key: model.config[key] for key in ("model", "languages")},
    }
    metadata = {_SETTINGS: json.dumps(settings)}
    return bytes(safetensors.numpy.save({**model.tensors(), **vocabulary}, metadata))


def _check_supported(model: AverageEncoder, proto: ModelProto) -> None:
    """Raise an `InputError` unless the module cuts text as the model does."""
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    if (
        model.unit != "subword"
        or trainer.model_type != trainer.UNIGRAM
        or trainer.treat_whitespace_as_suffix
        or not normalizer.escape_whitespaces
        or any(piece.type == piece.USER_DEFINED for piece in proto.pieces)
    ):
        raise InputError(
            "its vocabulary cannot be used there. That needs a sentencepiece model of subwords (unigram) "
            "with its default treatment of spaces and no user-defined symbols"
        )
