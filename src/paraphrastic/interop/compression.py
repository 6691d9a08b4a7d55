"""Smaller versions of an averaging model: fewer dimensions, fewer pieces, fewer bits."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
import sentencepiece

from paraphrastic.base.errors import InputError
from paraphrastic.interop.sentencepiece_proto import read_model_proto
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import Float32
from paraphrastic.model.packing import pack, quantize

# Sentences that directions are fitted on at a time.
_BLOCK = 1 << 14
_LARGEST = 127
# Entries that share a byte.
_SHARING = {"int2": 4, "int4": 2}

Dtype = Literal["float32", "float16", "int8", "int4", "int2"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """How a model is made smaller; first pieces, then dimensions, then bits.

    Attributes:
        prune: leave out pieces that a corpus does not need.
        dimension: of the vectors; None, as it is.
        method: `pca`, the directions in which the vectors of a corpus are longest, or `truncate`, the first
            columns.
        dtype: of the table: `float32`, `float16`, or `int8`, `int4` and `int2` with a factor for each row;
            None, as it is.
    """

    prune: bool = False
    dimension: int | None = None
    method: Literal["pca", "truncate"] = "pca"
    dtype: Dtype | None = None

    @property
    def needs_corpus(self) -> bool:
        """Whether sentences are needed to decide."""
        return self.prune or (self.dimension is not None and self.method == "pca")


def reduce_model(model: AverageEncoder, reduction: Reduction, corpus: Iterable[str] = ()) -> AverageEncoder:
    """A smaller version of a model.

    Args:
        model: an average of any kind.
        reduction: what is to be done.
        corpus: sentences such as the model is for; half a million are plenty.

    Raises:
        InputError: the corpus has no sentence, or not as many as directions; more dimensions are asked for
            than there are.
    """
    own = model
    sentences = list(corpus) if reduction.needs_corpus else []
    if reduction.needs_corpus and not sentences:
        raise InputError("a corpus is needed to make the model smaller, and there is no sentence in it")
    if reduction.prune:
        model = prune(model, sentences)
    if reduction.dimension is not None:
        if reduction.dimension > model.dim:
            raise InputError(f"{reduction.dimension} dimensions are asked for; the model has {model.dim}")
        if reduction.method == "truncate":
            directions = np.eye(model.dim, reduction.dimension, dtype=np.float32)
        else:
            directions = principal_directions(model, sentences, reduction.dimension)
        model = project(model, directions)
    dtype = reduction.dtype or own.dtype
    model = with_dtype(model, dtype)
    return _changed(model, config={**model.config, "reduction": {**asdict(reduction), "dtype": dtype}})


def principal_directions(model: AverageEncoder, sentences: Iterable[str], dimension: int) -> Float32:
    """The directions in which the vectors of sentences, each of length 1, are longest; [dim, dimension].

    They are not centred first, since cosines are angles at zero: of all projections this one keeps the
    products of the sentences' vectors best.
    """
    moments, count = np.zeros((model.dim, model.dim)), 0
    remaining = iter(sentences)
    while block := list(islice(remaining, _BLOCK)):
        vectors = model.embed_raw_text(block, normalize=True)
        moments += vectors.T @ vectors
        count += int(vectors.any(axis=1).sum())
    if count < dimension:
        raise InputError(f"{dimension} directions cannot be fitted on {count} sentences")
    _, directions = np.linalg.eigh(moments)
    # In ascending order.
    return directions[:, : -dimension - 1 : -1].astype(np.float32)


def project(model: AverageEncoder, directions: Float32) -> AverageEncoder:
    """The model whose vectors are those of `model` times `directions`, [dim, d]."""
    table = _as_floats(model) @ directions
    return _changed(model, embeddings=table, unknown=model.unknown @ directions, weights=None)


def prune(model: AverageEncoder, sentences: Iterable[str]) -> AverageEncoder:
    """The model without the pieces that the sentences do not have.

    Single characters and sentencepiece's own pieces stay, so that any other text can still be spelled. The
    sentences themselves are cut as before.

    Raises:
        InputError: the model is not of subwords, whose vocabulary is no more than a list.
    """
    if model.config.get("unit", "subword") != "subword":
        raise InputError("only a model of subwords can do without some of its pieces")
    proto = read_model_proto(model.processor.serialized_model_proto())
    found = np.zeros(len(proto.pieces), np.bool_)
    processor = model.processor
    remaining = iter(sentences)
    while block := list(islice(remaining, _BLOCK)):
        # Whether training met them or not: without one, a word would be cut in another way.
        for ids in processor.encode(model._prepare(block), out_type=int):
            found[ids] = True
    for number, piece in enumerate(proto.pieces):
        if piece.type != piece.NORMAL or len(piece.piece.removeprefix("▁")) <= 1:
            found[number] = True
    kept = np.flatnonzero(found)
    pieces = [proto.pieces[number] for number in kept]
    proto.ClearField("pieces")
    proto.pieces.extend(pieces)
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
    weights = None if model.weights is None else model.weights[kept]
    return AverageEncoder(
        model.tensors()["embeddings"][kept],
        model.known[kept],
        model.unknown,
        processor,
        model.config,
        weights,
    )


def with_dtype(model: AverageEncoder, dtype: str) -> AverageEncoder:
    """The model with its table in one of `Dtype`.

    Raises:
        InputError: an entry is too large for float16; rows of int4 or int2 do not fill their bytes.
    """
    if model.dtype == dtype:
        return model
    table = _as_floats(model)
    if dtype in _SHARING:
        if model.dim % _SHARING[dtype]:
            raise InputError(
                f"{dtype} needs a multiple of {_SHARING[dtype]} dimensions; there are {model.dim}"
            )
        bits = 8 // _SHARING[dtype]
        codes, weights = quantize(table, bits)
        return _changed(model, embeddings=pack(codes, bits), weights=weights)
    if dtype == "int8":
        largest = np.abs(table).max(axis=1)
        weights = np.where(largest > 0, largest / _LARGEST, 1).astype(np.float32)
        quantized = np.rint(table / weights[:, None]).clip(-_LARGEST, _LARGEST).astype(np.int8)
        return _changed(model, embeddings=quantized, weights=weights)
    with np.errstate(over="ignore"):
        narrow = table.astype(dtype)
    if not np.isfinite(narrow).all():
        raise InputError(f"the table has entries up to {np.abs(table).max():g}, too large for {dtype}")
    return _changed(model, embeddings=narrow, weights=None)


def _as_floats(model: AverageEncoder) -> Float32:
    table = model.embeddings.astype(np.float32)
    return table if model.weights is None else table * model.weights[:, None]


def _changed(model: AverageEncoder, **changes: Any) -> AverageEncoder:
    parts = {**model.tensors(), "processor": model.processor, "config": model.config, **changes}
    return AverageEncoder(**parts)
