"""The model with one embedding table: a sentence's vector is the average of its pieces' embeddings.

Sums follow the order of the pieces, so the digits of a vector depend neither on the sentences that are
embedded with it nor on the number of threads.

A table can store its entries in 4 bits. Two of them then share a byte, the first one in the lower half. An
entry stands for an odd integer, -15, -13, …, 15. Each row is multiplied by its weight.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

# It comes with numba, whose intrinsics are written in it.
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from paraphrastic.base.arrays import Bool, Float32, Int8, Int32, Int64, UInt8
from paraphrastic.base.errors import InputError
from paraphrastic.base.jit import jit_exactly, jit_sum
from paraphrastic.model.encoder import SentenceEncoder, Vectors
from paraphrastic.model.files import AVERAGE, SENTENCEPIECE, WEIGHTS, ModelFiles, Tensors
from paraphrastic.model.tokenizer import Tokenizer, Tokens
from paraphrastic.model.vocabulary import add_unseen_rows, open_processor, with_unknown_pieces

# Pieces that are summed in single precision. Longer sentences add the sums of such parts in double precision.
PART = 32


class AverageEncoder(SentenceEncoder):
    """A trained model that averages embeddings.

    Args:
        tensors: the content of `model.safetensors`: `embeddings`, float32, float16 or int8 [pieces, dim] in
            the order of sentencepiece's pieces, or uint8 [pieces, dim / 2] with entries of 4 bits; `known`,
            bool [pieces], false for pieces without a row; `unknown`, float32 [dim], the vector of a sentence
            that has text but no known piece; for integers, also `weights`, float32 [pieces], factors of rows.
        sentencepiece: the serialized sentencepiece model.
        config: the content of `config.json`.

    Raises:
        InputError: the sizes or types of the tensors do not fit together.
        KeyError: a tensor is missing.
    """

    def __init__(self, tensors: Tensors, sentencepiece: bytes, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        processor = open_processor(sentencepiece, SENTENCEPIECE)
        self.processor = with_unknown_pieces(processor, lowercase=bool(config.get("lowercase")))
        pieces = processor.get_piece_size()
        embeddings, known, unknown = (tensors[name] for name in ("embeddings", "known", "unknown"))
        weights = tensors.get("weights")
        self.bits = 4 if embeddings.dtype == np.uint8 else None
        if self.bits and embeddings.ndim == 2:
            embeddings = unpack(embeddings)
        shapes = {"embeddings": (pieces, unknown.size), "known": (pieces,), "unknown": (unknown.size,)}
        is_scaled = embeddings.dtype == np.int8
        kinds = {
            "embeddings": (np.float32, np.float16, np.int8),
            "known": (np.bool_,),
            "unknown": (np.float32,),
        }
        given = {"embeddings": embeddings, "known": known, "unknown": unknown}
        if is_scaled or weights is not None:
            given["weights"] = np.empty(0) if weights is None else weights
            shapes["weights"], kinds["weights"] = (pieces,), (np.float32,) if is_scaled else ()
        for name, array in given.items():
            if array.shape != shapes[name] or not array.size or array.dtype not in kinds[name]:
                has = f"{name} is {array.dtype} {array.shape}"
                raise InputError(f"{WEIGHTS}: {has}, which does not fit the others and {pieces} pieces")
        self.embeddings, self.known, self.weights = add_unseen_rows(
            embeddings, known, self.processor, weights
        )
        self.unknown = unknown
        self._factors = np.ones(pieces, np.float32) if self.weights is None else self.weights
        self.unit: str = config.get("unit", "subword")
        self.tokenizer = Tokenizer(self.processor, self.known, self.unit)

    @property
    def dim(self) -> int:
        """Dimension of the sentence vectors."""
        return int(self.embeddings.shape[1])

    @property
    def dtype(self) -> str:
        """Type of the table's entries: float32, float16, int8 or int4."""
        return f"int{self.bits}" if self.bits else str(self.embeddings.dtype)

    @property
    def sentencepiece(self) -> bytes:
        """The serialized sentencepiece model."""
        return self.processor.serialized_model_proto()

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """The content of `model.safetensors`, by name."""
        embeddings = pack(self.embeddings) if self.bits else self.embeddings
        tensors = {"embeddings": embeddings, "known": self.known, "unknown": self.unknown}
        return tensors if self.weights is None else {**tensors, "weights": self.weights}

    def write(self, folder: Path) -> None:
        """Write the files of a model folder, in which other libraries may need more."""
        ModelFiles(AVERAGE, self.dim, self.tensors(), self.sentencepiece, self.config).write(folder)

    def _content(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return AverageEncoder, (self.tensors(), self.sentencepiece, dict(self.config))

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""
        return digest_of(self.sentencepiece, self.tensors(), self._preparation())

    def _tokenize(self, texts: Sequence[str], language: str | None) -> Tokens:
        return self.tokenizer.tokenize(texts)

    def _embed(self, tokens: Tokens, normalize: bool, vectors: Vectors) -> None:
        table, output = as_entries(self.embeddings), as_entries(vectors)
        average(table, self._factors, *tokens, self.unknown, normalize, output)


def digest_of(sentencepiece: bytes, tensors: Tensors, *others: str) -> str:
    """SHA-256 of the parts of a model."""
    digest = hashlib.sha256(sentencepiece)
    for _, array in sorted(tensors.items()):
        digest.update(np.ascontiguousarray(array).data)
    for text in others:
        digest.update(text.encode())
    return digest.hexdigest()


def pack(codes: Int8) -> UInt8:
    """Pack odd numbers from -15 to 15, [n, d], into halves of bytes, [n, d / 2]."""
    numbers = ((codes.astype(np.int16) + 15) >> 1).astype(np.uint8)
    return np.asarray(numbers[:, ::2] | numbers[:, 1::2] << 4, np.uint8)


def unpack(packed: UInt8) -> Int8:
    """Undo `pack`."""
    codes = np.empty((len(packed), 2 * packed.shape[1]), np.int8)
    codes[:, ::2], codes[:, 1::2] = packed & 15, packed >> 4
    return np.asarray(2 * codes - 15, np.int8)


def _number_of(typing_context: Any, entry: Any) -> Any:
    """The float32 that a table's entry stands for; an int16 holds the bits of a half-precision number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if entry == types.int16:
            return builder.fpext(builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType())
        if entry == types.int8:
            return builder.sitofp(arguments[0], ir.FloatType())
        return arguments[0]

    return types.float32(entry), generate


_number: Any = intrinsic(_number_of)


def _entry_of(typing_context: Any, number: Any, like: Any) -> Any:
    """The entry that stands for a float32, in the type of the entry `like`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if like == types.int16:
            return builder.bitcast(builder.fptrunc(arguments[0], ir.HalfType()), ir.IntType(16))
        return arguments[0]

    return like(number, like), generate


_entry: Any = intrinsic(_entry_of)


def as_entries(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """View an array as the kernels take it: half-precision numbers as their bits."""
    return array.view(np.int16) if array.dtype == np.float16 else array


@jit_sum
def _product(first: Float32, second: Float32) -> float:
    total = 0.0
    for k in range(np.uintp(len(first))):
        total += np.float64(first[k]) * np.float64(second[k])
    return total


@jit_exactly
def average(
    table: npt.NDArray[Any], weights: Float32, pieces: Int32, ends: Int64, has_text: Bool, unknown: Float32,
    normalize: bool, vectors: npt.NDArray[Any],
) -> None:  # fmt: skip
    """Average each sentence's rows; text without known pieces gives `unknown`, an empty sentence zeros.

    Args:
        table: [rows, d], float32, int8, or int16 for the bits of half-precision numbers.
        weights: float32 [rows], factors of the rows.
        pieces: rows of the sentences' known pieces, one sentence after the other.
        ends: [n + 1]; the pieces of sentence i are `pieces[ends[i]:ends[i + 1]]`.
        has_text: [n], whether a sentence without known pieces has the vector `unknown`.
        unknown: float32 [d].
        normalize: scale vectors to length 1, except those that are zero.
        vectors: output [n, d], float32, or int16 (see `table`).
    """
    dim = np.uintp(table.shape[1])
    sums, totals = np.empty(dim, np.float32), np.empty(dim, np.float64)
    for i in range(len(has_text)):
        at, last = ends[i], ends[i + 1]
        size = max(1, last - at)
        count, is_long = np.float32(size), size > PART
        if at == last and has_text[i]:
            for k in range(dim):
                sums[k] = unknown[k]
        else:
            for k in range(dim):
                sums[k] = np.float32(0.0)
        if is_long:
            totals[:] = 0.0
        while at < last:
            stop = min(last, at + PART)
            # Four rows at a time, because moving the sums to the cache and back is what takes time.
            while at + 4 <= stop:
                a, b = np.uintp(pieces[at]), np.uintp(pieces[at + 1])
                c, d = np.uintp(pieces[at + 2]), np.uintp(pieces[at + 3])
                u, v, w, x = weights[a], weights[b], weights[c], weights[d]
                for k in range(dim):
                    first = sums[k] + u * _number(table[a, k]) + v * _number(table[b, k])
                    sums[k] = first + w * _number(table[c, k]) + x * _number(table[d, k])
                at += 4
            while at < stop:
                a = np.uintp(pieces[at])
                u = weights[a]
                for k in range(dim):
                    sums[k] += u * _number(table[a, k])
                at += 1
            if is_long:
                for k in range(dim):
                    totals[k] += np.float64(sums[k])
                    sums[k] = np.float32(0.0)
        if is_long:
            for k in range(dim):
                sums[k] = np.float32(totals[k] / size)
            count = np.float32(1.0)
        if normalize:
            # The count does not change the direction.
            length = np.float32(np.sqrt(_product(sums, sums)))
            count = length if length > np.float32(0.0) else np.float32(1.0)
        for k in range(dim):
            vectors[i, k] = _entry(sums[k] / count, vectors[i, k])
