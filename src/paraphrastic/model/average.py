"""The model of one embedding table: a sentence's vector is the average of its pieces' embeddings."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.errors import InputError
from paraphrastic.base.units import UNITS
from paraphrastic.model.encoder import Float32, SentenceEncoder, Vectors
from paraphrastic.model.files import ENCODER, SENTENCEPIECE, WEIGHTS
from paraphrastic.model.kernels import as_entries, average
from paraphrastic.model.packing import pack, unpack
from paraphrastic.model.pieces import Cutter, Pieces


class AverageEncoder(SentenceEncoder):
    """A trained average.

    Args:
        embeddings: float32, float16 or int8 [pieces, dim], with a row for each sentencepiece piece
            in their order; or uint8 with entries of 2 or 4 bits (see `model.packing`), which become int8.
        known: bool [pieces], false for pieces that training never met; they do not count.
        unknown: float32 [dim], the vector of a sentence that has text but no known piece.
        processor: the sentencepiece model.
        config: the content of `config.json`.
        weights: float32 [pieces], factors of the rows; int8 needs them, and nothing else has them.

    Raises:
        InputError: their sizes or kinds do not fit each other.
    """

    kind = ENCODER

    def __init__(
        self,
        embeddings: npt.NDArray[Any],
        known: npt.NDArray[np.bool_],
        unknown: Float32,
        processor: sentencepiece.SentencePieceProcessor,
        config: Mapping[str, Any],
        weights: Float32 | None = None,
    ) -> None:
        pieces = processor.get_piece_size()
        if embeddings.ndim != 2 or known.dtype != np.bool_ or unknown.dtype != np.float32:
            kinds = f"`known` of {known.dtype}, `unknown` of {unknown.dtype}"
            raise InputError(f"{WEIGHTS} holds embeddings {embeddings.shape}, {kinds}")
        self.bits: int | None = None
        if embeddings.dtype == np.uint8:
            embeddings, self.bits = unpack(embeddings, unknown.size)
        if embeddings.dtype not in (np.float32, np.float16, np.int8):
            raise InputError(f"{WEIGHTS} holds embeddings of {embeddings.dtype}")
        if (embeddings.dtype == np.int8) != (weights is not None):
            raise InputError(f"{WEIGHTS} holds embeddings of {embeddings.dtype}; int8 alone has weights")
        if weights is not None and (weights.shape != (pieces,) or weights.dtype != np.float32):
            kind = f"{weights.shape} of {weights.dtype}"
            raise InputError(f"{WEIGHTS} holds weights {kind} for {pieces} pieces")
        if embeddings.shape[0] != pieces or known.shape != (pieces,) or unknown.shape != embeddings.shape[1:]:
            raise InputError(
                f"{WEIGHTS} holds {embeddings.shape[0]} embeddings of {embeddings.shape[1]} dimensions, "
                f"but {SENTENCEPIECE} has {pieces} pieces"
            )
        super().__init__(processor, config)
        self.embeddings = embeddings
        self.known = known
        self.unknown = unknown
        self.weights = weights
        self._factors = np.ones(pieces, np.float32) if weights is None else weights
        if (unit := config.get("unit", "subword")) not in UNITS:
            raise InputError(f"unit is {unit!r}, which is none of {', '.join(UNITS)}")

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
        own = {"embeddings": embeddings, "known": self.known, "unknown": self.unknown}
        return own if self.weights is None else {**own, "weights": self.weights}

    @functools.cached_property
    def _cutter(self) -> Cutter:
        return Cutter(self.processor, self.known, self.config.get("unit", "subword"))

    def _tokens(self, texts: Sequence[str], language: str | None) -> Pieces:
        return self._cutter.cut(texts)

    def _embed(self, tokens: Pieces, normalize: bool, vectors: Vectors) -> None:
        table, output = as_entries(self.embeddings), as_entries(vectors)
        average(table, self._factors, *tokens, self.unknown, normalize, output)
