"""Export of a model for another library, in which it gives the same cosines."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import new_folder, write_json
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.javascript import write_javascript
from paraphrastic.interop.tokenizer import check_unsegmented, complete_folder, write_tokenizer
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.files import CARD, CONFIG

GRAPH = "model.onnx"
# This version has `Where`, `ReduceSum` and `Squeeze` as used below, and older runtimes can read it.
_OPSET, _IR_VERSION = 17, 8
# What servers, such as text-embeddings-inference, read of a Transformer. They ask for a limit of pieces,
# which the graph does not have. Any piece can be the padding, since the mask hides it.
_SERVED = {
    "model_type": "averaged-embeddings", "architectures": ["AveragedEmbeddings"], "pad_token_id": 0,
    "num_hidden_layers": 0, "max_position_embeddings": 8192,
}  # fmt: skip
# Largest table in one protocol buffer.
MOST_BYTES = 2**31 - 2**20


def export_model(
    model: SentenceEncoder, form: str, output: Path, *, card: str | None = None, changes: str = ""
) -> None:
    """Write a model in a format of `FORMATS` into a new folder.

    Args:
        model: an average of one table.
        form: a key of `FORMATS`.
        output: the folder, which must be new or empty.
        card: the model's description, the content of its `README.md`; the export gets a line at its end.
        changes: what was changed in the model, such as "reduced to 64 dimensions, int8", for that line.

    Raises:
        InputError: the format cannot hold the model, or the folder is not empty. Nothing is written then.
        ModuleNotFoundError: a package that the format needs is not installed.
    """
    name, write = FORMATS[form]
    if not isinstance(model, AverageEncoder):
        raise InputError(
            f"{model.config['model']}: is not a single average, and {name} cannot hold another model"
        )
    with new_folder(output) as folder:
        try:
            write(model, folder)
        except InputError as error:
            raise InputError(f"{model.config['model']}: cannot be exported for {name}: {error}") from None
        if card is not None:
            exported = ", ".join(filter(None, [f"Exported for {name} by paraphrastic", changes]))
            (folder / CARD).write_text(f"{card.rstrip()}\n\n{exported}.\n", encoding="utf-8")


def write_folder(model: AverageEncoder, folder: Path) -> None:
    """Write a folder that sentence-transformers, model2vec and `load_model` load.

    A table of 4 bits becomes float32, since no other library reads it.

    Raises:
        InputError: the model's text is segmented, or its vocabulary cannot be a `tokenizer.json`.
    """
    check_unsegmented(model.config)
    (with_dtype(model, "float32") if model.bits else model).write(folder)
    complete_folder(folder)


def _write_own(model: AverageEncoder, folder: Path) -> None:
    """Write a folder that `load_model` loads and, if they can, the other two libraries."""
    model.write(folder)
    if not model.bits:
        with suppress(InputError):
            complete_folder(folder)


def _write_onnx(model: AverageEncoder, folder: Path) -> None:
    """Write `model.onnx` and, beside it, the `tokenizer.json` that makes its input, and a `config.json`.

    The graph has the inputs `input_ids` and `attention_mask`, int64 [sentences, pieces], and the output
    `sentence_embedding`, float32 [sentences, dim]: the mean of the known pieces' embeddings, the vector of
    unknown text for a sentence without known pieces, or zero for one without pieces.

    Raises:
        InputError: the table is too large for the format, the model's text is segmented, or its vocabulary
            cannot be a `tokenizer.json`.
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    check_unsegmented(model.config)
    if model.embeddings.nbytes > MOST_BYTES:
        raise InputError(
            "a table of more than 2 GB cannot be one ONNX file; float16 or int8 makes it smaller"
        )
    known = model.known.astype(np.float32)
    table = {
        "embeddings": model.embeddings,
        # How much a piece counts in the mean, and the factor of its row.
        "counts": known,
        "factors": known if model.weights is None else known * model.weights,
        "unknown": model.unknown[None],
        "one": np.ones(1, np.float32),
        "zero": np.zeros(1, np.float32),
        "axis": np.array([1], np.int64),
    }
    node = helper.make_node
    nodes = [
        node("Gather", ["embeddings", "input_ids"], ["entries"]),
        node("Cast", ["entries"], ["rows"], to=TensorProto.FLOAT),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Gather", ["counts", "input_ids"], ["known"]),
        node("Mul", ["known", "mask"], ["counted"]),
        node("ReduceSum", ["counted", "axis"], ["n_known"], keepdims=1),
        node("ReduceSum", ["mask", "axis"], ["n_pieces"], keepdims=1),
        node("Gather", ["factors", "input_ids"], ["factor"]),
        node("Mul", ["factor", "mask"], ["weight"]),
        node("Unsqueeze", ["weight", "axis"], ["weight_row"]),
        node("MatMul", ["weight_row", "rows"], ["sum_row"]),
        node("Squeeze", ["sum_row", "axis"], ["sum"]),
        node("Max", ["n_known", "one"], ["divisor"]),
        node("Div", ["sum", "divisor"], ["mean"]),
        node("Equal", ["n_known", "zero"], ["none_known"]),
        node("Greater", ["n_pieces", "zero"], ["has_text"]),
        node("And", ["none_known", "has_text"], ["is_unknown"]),
        node("Where", ["is_unknown", "unknown", "mean"], ["sentence_embedding"]),
    ]
    describe = helper.make_tensor_value_info
    inputs = [
        describe(name, TensorProto.INT64, ["sentences", "pieces"]) for name in ("input_ids", "attention_mask")
    ]
    output = describe("sentence_embedding", TensorProto.FLOAT, ["sentences", model.dim])
    arrays = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in table.items()]
    graph = helper.make_graph(nodes, "average", inputs, [output], arrays)
    content = helper.make_model(
        graph, producer_name="paraphrastic", opset_imports=[helper.make_opsetid("", _OPSET)]
    )
    content.ir_version = _IR_VERSION
    checker.check_model(content)
    (folder / GRAPH).write_bytes(content.SerializeToString())
    write_json(folder / CONFIG, {**_SERVED, "hidden_size": model.dim})
    write_tokenizer(model.sentencepiece, model.config, folder)


class Format(NamedTuple):
    """A format: its name for a person, and the function that writes a model into a new folder."""

    name: str
    write: Callable[[AverageEncoder, Path], None]


FORMATS = {
    "paraphrastic": Format("load_model", _write_own),
    "sentence-transformers": Format("sentence-transformers", write_folder),
    "model2vec": Format("model2vec", write_folder),
    "onnx": Format("ONNX Runtime", _write_onnx),
    "javascript": Format("JavaScript", write_javascript),
}
