"""The formats of other libraries: how to write a model in each, and how to open it there."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sentencepiece

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.javascript import in_node, write_javascript
from paraphrastic.interop.parity import TOLERANCE, Other
from paraphrastic.interop.tokenizer import complete_folder, write_tokenizer
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.files import CONFIG, SENTENCEPIECE, TOKENIZER
from paraphrastic.model.folder import open_folder
from paraphrastic.model.sentencepiece_models import UnknownPieceProcessor

# Vectors of length 1 may be this far apart if the table is float16, since other libraries then have float16
# vectors.
_HALF_TOLERANCE = 1e-3

GRAPH = "model.onnx"
# This version has `Where`, `ReduceSum` and `Squeeze` as used below, and older runtimes can read it.
_OPSET, _IR_VERSION = 17, 8
# The most pieces of a sentence, for servers that ask for a limit. The graph itself has none.
_MOST_PIECES = 8192
# Largest table in one protocol buffer.
MOST_BYTES = 2**31 - 2**20
# Largest number of entries of pieces' embeddings in memory at once.
_MOST_ENTRIES = 1 << 25

VECTORS = "vectors.txt"
# GloVe's name for the vector of unknown words; here, sentences without known pieces have this vector.
UNKNOWN_WORD = "<unk>"


def write_folder(model: AverageEncoder, folder: Path) -> None:
    """Write a folder that sentence-transformers, model2vec and `load_model` load.

    A table of less than 8 bits becomes float32, since no other library reads it.
    """
    if model.bits:
        model = with_dtype(model, "float32")
    model.write(folder)
    complete_folder(folder)


def write_own(model: AverageEncoder, folder: Path) -> None:
    """Write a folder that `load_model` loads and, if they can, the other two libraries."""
    model.write(folder)
    if not model.bits:
        with suppress(InputError):
            complete_folder(folder)


def in_this_library(model: AverageEncoder, folder: Path) -> Other:
    """Open the folder in this library."""
    loaded = open_folder(folder)
    return Other(loaded.known_tokens, loaded.embed_raw_text, unknown=True)


def in_sentence_transformers(model: AverageEncoder, folder: Path) -> Other:
    """Open the folder in sentence-transformers, on the CPU."""
    from sentence_transformers import SentenceTransformer

    encode = SentenceTransformer(str(folder), device="cpu").encode
    embed = partial(encode, convert_to_numpy=True, show_progress_bar=False)
    return Other(tokens(folder), embed, _tolerance(model))


def in_model2vec(model: AverageEncoder, folder: Path) -> Other:
    """Open the folder in model2vec."""
    from model2vec import StaticModel

    embed = partial(StaticModel.from_pretrained(folder).encode, use_multiprocessing=False)
    return Other(tokens(folder), embed, _tolerance(model))


def tokens(folder: Path) -> Callable[[list[str]], list[list[int]]]:
    """Return a function that turns texts into ids with the `tokenizer.json` of a folder."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))

    def cut(sentences: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(sentences, add_special_tokens=False)]

    return cut


def _tolerance(model: AverageEncoder) -> float:
    return _HALF_TOLERANCE if model.embeddings.dtype == np.float16 else TOLERANCE


def write_onnx(model: AverageEncoder, folder: Path) -> None:
    """Write `model.onnx` and, beside it, the `tokenizer.json` that makes its input.

    Servers, such as text-embeddings-inference, ask for a `config.json`, too. The graph has the inputs
    `input_ids` and `attention_mask`, int64 [sentences, pieces], and the output `sentence_embedding`, float32
    [sentences, dim]: the mean of the known pieces' embeddings, the vector of unknown text for a sentence
    without known pieces, or zero for one without pieces.

    Raises:
        InputError: the table is too large for the format, or the vocabulary cannot be a `tokenizer.json`.
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    if model.embeddings.nbytes > MOST_BYTES:
        raise InputError(
            "a table of more than 2 GB cannot be one ONNX file; float16 or int8 makes it smaller"
        )
    table = {
        "embeddings": model.embeddings,
        # How much a piece counts in the mean, and the factor of its row.
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
    # What servers read of a Transformer. Any piece can be the padding, since the mask hides it.
    about = {"hidden_size": model.dim, "num_hidden_layers": 0, "max_position_embeddings": _MOST_PIECES}
    kind = {"model_type": "averaged-embeddings", "architectures": ["AveragedEmbeddings"], "pad_token_id": 0}
    write_json(folder / CONFIG, {**kind, **about})
    write_tokenizer(model.processor.serialized_model_proto(), model.config, folder)


def in_onnx(model: AverageEncoder, folder: Path) -> Other:
    """Open the graph in ONNX Runtime, on the CPU."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(folder / GRAPH), providers=["CPUExecutionProvider"])
    cut = tokens(folder)

    def embed(sentences: list[str]) -> Float32:
        pieces = cut(sentences)
        vectors = np.zeros((len(sentences), model.dim), np.float32)
        # Sentences of similar length are embedded together, as many as fit into memory.
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

    return Other(cut, embed, unknown=True)


def write_glove(model: AverageEncoder, folder: Path) -> None:
    """Write `vectors.txt`, with a known piece and its embedding per line, and the sentencepiece model.

    Numbers have nine digits, from which a reader gets back the same number in single precision.

    Raises:
        InputError: a piece is `<unk>` or has white space, at which readers split a line.
    """
    processor = model.processor
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    factors = np.ones(len(pieces), np.float32) if model.weights is None else model.weights
    form = " ".join(["%.9g"] * model.dim)
    with (folder / VECTORS).open("w", encoding="utf-8", newline="\n") as file:
        for row in np.flatnonzero(model.known):
            if pieces[row].split() != [pieces[row]] or pieces[row] == UNKNOWN_WORD:
                raise InputError(f"the piece {pieces[row]!r} cannot begin a line of text")
            embedding = model.embeddings[row].astype(np.float32) * factors[row]
            file.write(f"{pieces[row]} {form % tuple(embedding.tolist())}\n")
        file.write(f"{UNKNOWN_WORD} {form % tuple(model.unknown.tolist())}\n")
    (folder / SENTENCEPIECE).write_bytes(processor.serialized_model_proto())


def in_glove(model: AverageEncoder, folder: Path) -> Other:
    """Read the text back: a sentence is the mean of its known pieces or, if it has none, `<unk>`."""
    vectors: dict[str, Float32] = {}
    with (folder / VECTORS).open(encoding="utf-8", newline="\n") as file:
        for line in file:
            piece, _, numbers = line.rstrip("\n").partition(" ")
            vectors[piece] = np.array(numbers.split(" "), np.float32)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / SENTENCEPIECE))
    lowercase = isinstance(model.processor, UnknownPieceProcessor) and model.config["lowercase"]

    def pieces(sentences: list[str]) -> list[list[str]]:
        cut = processor.encode(model.spelled(sentences), out_type=str)
        return [[p if p in vectors or not lowercase else p.lower() for p in words] for words in cut]

    def cut(sentences: list[str]) -> list[list[int]]:
        unknown = processor.unk_id()
        return [
            [processor.piece_to_id(piece) if piece in vectors else unknown for piece in sentence]
            for sentence in pieces(sentences)
        ]

    def embed(sentences: list[str]) -> Float32:
        means = np.zeros((len(sentences), model.dim), np.float32)
        for row, cut in enumerate(pieces(sentences)):
            if cut:
                known = [vectors[piece] for piece in cut if piece in vectors] or [vectors[UNKNOWN_WORD]]
                means[row] = np.mean(known, axis=0, dtype=np.float64)
        return means

    return Other(cut, embed, unknown=True)


class Format(NamedTuple):
    """A format: its name for a person, and the functions that write a model into a new folder and open it."""

    name: str
    write: Callable[[AverageEncoder, Path], None]
    open: Callable[[AverageEncoder, Path], Other]


FORMATS = {
    "paraphrastic": Format("paraphrastic", write_own, in_this_library),
    "sentence-transformers": Format("sentence-transformers", write_folder, in_sentence_transformers),
    "model2vec": Format("model2vec", write_folder, in_model2vec),
    "onnx": Format("ONNX Runtime", write_onnx, in_onnx),
    "glove": Format("text like GloVe's", write_glove, in_glove),
    "javascript": Format("JavaScript", write_javascript, in_node),
}
