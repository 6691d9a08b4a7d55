"""A model as an ONNX graph, from padded ids of pieces to the vectors that the model gives."""

from pathlib import Path

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.interop.export.folder import write_tokenizer
from paraphrastic.interop.export.parity import Other
from paraphrastic.interop.export.static import TOLERANCE, tokens
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import Float32

GRAPH = "model.onnx"
# `Where`, `ReduceSum` and `Squeeze` as below; older runtimes can read it.
_OPSET, _IR_VERSION = 17, 8
# Of one protocol buffer.
_MOST_BYTES = 2**31 - 2**20
# Of embeddings of pieces in memory at a time.
_MOST_ENTRIES = 1 << 25


def write_onnx(model: AverageEncoder, folder: Path) -> None:
    """Write `model.onnx` and, beside it, `tokenizer.json`, by which its input is made.

    The graph has the inputs `input_ids` and `attention_mask`, int64 [sentences, pieces], and the output
    `sentence_embedding`, float32 [sentences, dim]: the mean of the known pieces' embeddings, the vector of
    unknown text for a sentence without any, and zero for one without pieces.

    Raises:
        InputError: the table is too large for the format, or the vocabulary cannot be a `tokenizer.json`.
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    if model.embeddings.nbytes > _MOST_BYTES:
        raise InputError(
            "a table of more than 2 GB cannot be one ONNX file; float16 or int8 makes it smaller"
        )
    table = {
        "embeddings": model.embeddings,
        # What a piece counts for, and what its row is multiplied by.
        "counts": model.known.astype(np.float32),
        "factors": model.known.astype(np.float32) * (1 if model.weights is None else model.weights),
        "unknown": model.unknown[None].astype(np.float32),
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
    shape = ["sentences", "pieces"]
    graph = helper.make_graph(
        nodes,
        "average",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape)
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["sentences", model.dim])],
        [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in table.items()],
    )
    content = helper.make_model(
        graph, producer_name="paraphrastic", opset_imports=[helper.make_opsetid("", _OPSET)]
    )
    content.ir_version = _IR_VERSION
    checker.check_model(content)
    (folder / GRAPH).write_bytes(content.SerializeToString())
    write_tokenizer(model.processor.serialized_model_proto(), model.config, folder)


def in_onnx(model: AverageEncoder, folder: Path) -> Other:
    """The graph in ONNX Runtime, on the processor."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(folder / GRAPH), providers=["CPUExecutionProvider"])
    cut = tokens(folder)

    def embed(sentences: list[str]) -> Float32:
        pieces = cut(sentences)
        vectors = np.zeros((len(sentences), model.dim), np.float32)
        # Sentences of about the same length together, as many as their embeddings have room for.
        order = sorted(range(len(pieces)), key=lambda row: -len(pieces[row]))
        while order:
            width = max(1, len(pieces[order[0]]))
            rows = order[: max(1, _MOST_ENTRIES // (width * model.dim))]
            del order[: len(rows)]
            ids, mask = (np.zeros((len(rows), width), np.int64) for _ in range(2))
            for place, row in enumerate(rows):
                ids[place, : len(pieces[row])] = pieces[row]
                mask[place, : len(pieces[row])] = 1
            (vectors[rows],) = session.run(None, {"input_ids": ids, "attention_mask": mask})
        return vectors

    return Other(cut, embed, TOLERANCE, unknown=True)
