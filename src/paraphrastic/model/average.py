"""The model with one embedding table: a sentence's vector is the average of its pieces' embeddings.

A table can store its entries in 2 or 4 bits. Four or two of them then share a byte, the first one in the
lowest bits. An entry stands for an odd integer: -3, -1, 1 or 3 in 2 bits, and -15, -13, …, 15 in 4 bits. Each
row is multiplied by its weight, which restores its scale.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.arrays import Bool, Float32, Int8, UInt8
from paraphrastic.base.errors import InputError
from paraphrastic.base.units import spell
from paraphrastic.model.encoder import PieceEncoder, Vectors
from paraphrastic.model.files import AVERAGE, SENTENCEPIECE, WEIGHTS
from paraphrastic.model.kernels import as_entries, average
from paraphrastic.model.pieces import Cutter, Pieces
from paraphrastic.model.unseen import add_unseen_rows


class AverageEncoder(PieceEncoder):
    """A trained model that averages embeddings.

    Args:
        embeddings: float32, float16 or int8 [pieces, dim], one row per sentencepiece piece, in their order;
            or uint8 with entries of 2 or 4 bits (see the module), which become int8.
        known: bool [pieces], false for pieces without a row. Those that text is cut into get one
            (`unseen.add_unseen_rows`), and the others do not count.
        unknown: float32 [dim], the vector of a sentence that has text but no known piece.
        processor: the sentencepiece model.
        config: the content of `config.json`.
        weights: float32 [pieces], factors of the rows; int8 tables need them, and no others have them.

    Raises:
        InputError: the sizes or types of the arguments do not fit together.
    """

    kind = AVERAGE

    def __init__(
        self,
        embeddings: npt.NDArray[Any],
        known: Bool,
        unknown: Float32,
        processor: sentencepiece.SentencePieceProcessor,
        config: Mapping[str, Any],
        weights: Float32 | None = None,
    ) -> None:
        pieces = processor.get_piece_size()
        if (
            embeddings.ndim != 2
            or not embeddings.size
            or known.dtype != np.bool_
            or unknown.dtype != np.float32
        ):
            kinds = f"`known` of {known.dtype}, `unknown` of {unknown.dtype}"
            raise InputError(f"{WEIGHTS} holds embeddings {embeddings.shape}, {kinds}")
        self.bits: int | None = None
        if embeddings.dtype == np.uint8:
            embeddings, self.bits = unpack(embeddings, unknown.size)
        if embeddings.dtype not in (np.float32, np.float16, np.int8):
            raise InputError(f"{WEIGHTS} holds embeddings of {embeddings.dtype}")
        if (embeddings.dtype == np.int8) != (weights is not None):
            raise InputError(f"{WEIGHTS} holds embeddings of {embeddings.dtype}; only int8 has weights")
        if weights is not None and (weights.shape != (pieces,) or weights.dtype != np.float32):
            kind = f"{weights.shape} of {weights.dtype}"
            raise InputError(f"{WEIGHTS} holds weights {kind} for {pieces} pieces")
        if embeddings.shape[0] != pieces or known.shape != (pieces,) or unknown.shape != embeddings.shape[1:]:
            raise InputError(
                f"{WEIGHTS} holds {embeddings.shape[0]} embeddings of {embeddings.shape[1]} dimensions, "
                f"but {SENTENCEPIECE} has {pieces} pieces"
            )
        super().__init__(processor, config)
        rows = add_unseen_rows(embeddings, known, self.processor, weights)
        self.embeddings, self.known, self.weights = rows
        self.unknown = unknown
        self._factors = np.ones(pieces, np.float32) if self.weights is None else self.weights
        self.unit: str = config.get("unit", "subword")
        self._cutter = Cutter(self.processor, self.known, self.unit)

    @property
    def dim(self) -> int:
        """Dimension of the sentence vectors."""
        return int(self.embeddings.shape[1])

    @property
    def dtype(self) -> str:
        """Type of the table's entries: float32, float16, int8, int4 or int2."""
        return f"int{self.bits}" if self.bits else str(self.embeddings.dtype)

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """The content of `model.safetensors`, by name."""
        embeddings = pack(self.embeddings, self.bits) if self.bits else self.embeddings
        tensors = {"embeddings": embeddings, "known": self.known, "unknown": self.unknown}
        return tensors if self.weights is None else {**tensors, "weights": self.weights}

    def spelled(self, sentences: Sequence[str], *, language: str | None = None) -> list[str]:
        """Raw sentences in the form in which sentencepiece receives them."""
        return spell(self._prepare(sentences, language), self.unit)

    def _quick_tokens(self, sentences: Any, language: str | None) -> Pieces | None:
        text = self._prepare_utf8(sentences, language) if self._cutter.by_word else None
        return None if text is None else self._cutter.cut_words(text)

    def _tokens(self, texts: Sequence[str], language: str | None) -> Pieces:
        return self._cutter.cut(texts)

    def _embed(self, tokens: Pieces, normalize: bool, vectors: Vectors) -> None:
        table, output = as_entries(self.embeddings), as_entries(vectors)
        average(table, self._factors, *tokens, self.unknown, normalize, output)


def pack(codes: Int8, bits: int) -> UInt8:
    """Pack odd numbers, [n, d], into bytes, [n, d · bits / 8]."""
    numbers = ((codes.astype(np.int16) + (1 << bits) - 1) >> 1).astype(np.uint8)
    per_byte = 8 // bits
    packed = np.zeros((len(codes), codes.shape[1] // per_byte), np.uint8)
    for place in range(per_byte):
        packed |= numbers[:, place::per_byte] << (place * bits)
    return packed


def unpack(packed: UInt8, dim: int) -> tuple[Int8, int]:
    """Undo `pack`: return the numbers, int8 [n, dim], and how many bits each of them had.

    Raises:
        InputError: a row does not have the bytes of `dim` entries of 2 or 4 bits.
    """
    bits, rest = divmod(8 * packed.shape[1], max(1, dim))
    if rest or bits not in (2, 4):
        raise InputError(f"rows of {packed.shape[1]} bytes are not {dim} entries of 2 or 4 bits")
    codes = np.empty((len(packed), dim), np.int8)
    per_byte, mask = 8 // bits, (1 << bits) - 1
    for place in range(per_byte):
        codes[:, place::per_byte] = 2 * ((packed >> (place * bits)) & mask).astype(np.int8) - mask
    return codes, bits
