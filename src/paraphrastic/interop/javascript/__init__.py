"""Models for JavaScript: a module without dependencies, `paraphrastic.js`, and a file that it loads."""

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import folding_table
from paraphrastic.base.text_patterns import JAVASCRIPT, cleaning
from paraphrastic.interop.parity import Other
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.files import WEIGHTS
from paraphrastic.model.pieces import is_cut_at_spaces
from paraphrastic.model.sentencepiece_models import ModelProto, read_model_proto

FOLDER = Path(__file__).parent
MODULE = FOLDER / "paraphrastic.js"
# The module refuses other files, such as a model's own `model.safetensors`, by this name.
_FORMAT = "paraphrastic-javascript"
# Cuts and embeds the sentences of a JSON list.
_RUN = """
import { readFileSync } from "node:fs";
import { load } from MODULE;
const model = load(readFileSync(WEIGHTS));
const sentences = JSON.parse(readFileSync(0, "utf8"));
const vectors = Buffer.from(model.embed(sentences).buffer).toString("base64");
console.log(JSON.stringify({ pieces: sentences.map((each) => model.pieces(each)), vectors }));
"""


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
    proto = read_model_proto(model.processor.serialized_model_proto())
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
        "by_word": is_cut_at_spaces(model.processor),
        "add_dummy_prefix": proto.normalizer_spec.add_dummy_prefix,
        "remove_extra_whitespaces": proto.normalizer_spec.remove_extra_whitespaces,
        "config": {key: model.config[key] for key in ("model", "languages") if key in model.config},
    }
    tensors = {**model.tensors(), **vocabulary}
    metadata = {"format": _FORMAT, "settings": json.dumps(settings)}
    return bytes(safetensors.numpy.save(tensors, metadata))


def _check_supported(model: AverageEncoder, proto: ModelProto) -> None:
    """Raise an `InputError` unless the module cuts text as the model does."""
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    segmented = [code for code, mode in model.config["segmentation"].items() if mode != "none"]
    if segmented:
        raise InputError(f"its text in {', '.join(segmented)} is cut into words by jieba, which is not there")
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


def in_node(model: AverageEncoder, folder: Path) -> Other:
    """Open the folder in Node.js."""
    node = shutil.which("node")
    if node is None:
        raise InputError("Node.js, in which the exported model is compared with this one, is not installed")
    names = {"MODULE": (folder / MODULE.name).resolve().as_uri(), "WEIGHTS": str(folder / WEIGHTS)}
    script = _RUN
    for name, value in names.items():
        script = script.replace(name, json.dumps(value))
    last: dict[str, Any] = {}

    def run(sentences: list[str]) -> dict[str, Any]:
        # `compare` asks for the pieces and for the vectors of the same sentences.
        if last.get("sentences") != sentences:
            run = subprocess.run(  # noqa: S603 - the script above
                [node, "--input-type=module", "-e", script],
                input=json.dumps(sentences).encode(),
                capture_output=True,
                check=False,
            )
            if run.returncode:
                lines = run.stderr.decode(errors="replace").splitlines()
                cause = next((line for line in lines if "Error: " in line), f"exit {run.returncode}")
                raise InputError(f"Node.js cannot run it: {cause}")
            last.update(json.loads(run.stdout), sentences=sentences)
        return last

    def embed(sentences: list[str]) -> Any:
        vectors = base64.b64decode(run(sentences)["vectors"])
        return np.frombuffer(bytearray(vectors), np.float32).reshape(len(sentences), -1)

    return Other(lambda sentences: run(sentences)["pieces"], embed, unknown=True)
