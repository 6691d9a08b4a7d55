"""Smaller versions of an averaging model, with fewer dimensions or bits."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Float32, Int8
from paraphrastic.base.errors import InputError
from paraphrastic.base.text_files import read_sentences
from paraphrastic.model.average import AverageEncoder, pack
from paraphrastic.model.encoder import SentenceEncoder

# Sentences that are embedded at once.
_BLOCK = 1 << 14
# The largest entry of an int8 table.
_LARGEST = 127
# Rows of a table that are quantized at once, and the steps that are tried for each row. The unit of a step is
# the root mean square of the row's entries.
_ROWS, _STEPS = 4096, np.linspace(0.15, 0.6, 19)

Dtype = Literal["float32", "float16", "int8", "int4"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """How to make a model smaller: first with fewer dimensions, then with fewer bits.

    Attributes:
        dimension: dimension of the vectors; None keeps it.
        method: `pca` keeps the directions in which the vectors of a corpus are longest, and `truncate` the
            first columns.
        dtype: type of the table: `float32`, `float16`, or `int8` and `int4` with one factor per row; None
            keeps it.
    """

    dimension: int | None = None
    method: Literal["pca", "truncate"] = "pca"
    dtype: Dtype | None = None


def reduce_model(model: AverageEncoder, reduction: Reduction, corpus: Iterable[str] = ()) -> AverageEncoder:
    """Make a smaller version of a model.

    Args:
        model: an average of any kind.
        reduction: what to reduce.
        corpus: for `pca`, sentences like those that the model is for; half a million are plenty.

    Raises:
        InputError: the corpus has fewer sentences than dimensions, more dimensions are asked for than the
            model has, or see `with_dtype`.
    """
    dtype, dimension = reduction.dtype or model.dtype, reduction.dimension
    if dimension is not None:
        if dimension > model.dim:
            raise InputError(f"{dimension} dimensions are asked for; the model has {model.dim}")
        if reduction.method == "truncate":
            directions = np.eye(model.dim, dimension, dtype=np.float32)
        else:
            directions = principal_directions(model, list(corpus), dimension)
        table, unknown = _as_floats(model) @ directions, model.unknown @ directions
        model = _changed(model, embeddings=table, unknown=unknown, weights=None)
    model = with_dtype(model, dtype)
    config = {**model.config, "reduction": {**asdict(reduction), "dtype": dtype}}
    return AverageEncoder(model.tensors(), model.sentencepiece, config)


def smaller_model(
    model: SentenceEncoder,
    *,
    dimension: int | None = None,
    reduce: Literal["pca", "truncate"] | None = None,
    corpus: str | None = None,
    dtype: Dtype | None = None,
) -> tuple[SentenceEncoder, str]:
    """A smaller version of a model, if one is asked for, and what was changed; see `Reduction`.

    Raises:
        InputError: the model is not a single average; see also `reduce_model`.
    """
    if not dimension and not dtype:
        return model, ""
    if not isinstance(model, AverageEncoder):
        raise InputError(f"{model.label}: is not a single average, so there is no smaller version of it")
    reduction = Reduction(dimension=dimension, method=reduce or "pca", dtype=dtype)
    changes = [f"reduced to {dimension} dimensions ({reduction.method})"] if dimension else []
    smaller = reduce_model(model, reduction, read_sentences(corpus) if corpus else ())
    return smaller, ", ".join([*changes, *([dtype] if dtype else [])])


def principal_directions(model: AverageEncoder, sentences: Sequence[str], dimension: int) -> Float32:
    """The directions in which the sentences' unit vectors are longest, [dim, dimension].

    The vectors are not centred, since cosines are measured from zero: among all projections, this one keeps
    the products of the sentences' vectors best.

    Raises:
        InputError: there are fewer sentences with text than dimensions.
    """
    moments, count = np.zeros((model.dim, model.dim)), 0
    for start in range(0, len(sentences), _BLOCK):
        vectors = model.embed_raw_text(sentences[start : start + _BLOCK], normalize=True)
        moments += vectors.T @ vectors
        count += int(vectors.any(axis=1).sum())
    if count < dimension:
        raise InputError(f"{dimension} directions cannot be fitted on a corpus of {count} sentences")
    _, directions = np.linalg.eigh(moments)
    # `eigh` returns directions in ascending order.
    return directions[:, : -dimension - 1 : -1].astype(np.float32)


def with_dtype(model: AverageEncoder, dtype: str) -> AverageEncoder:
    """The model with its table in one of `Dtype`.

    Raises:
        InputError: an entry is too large for float16, or rows of int4 do not fill whole bytes.
    """
    if model.dtype == dtype:
        return model
    table = _as_floats(model)
    if dtype == "int4":
        if model.dim % 2:
            raise InputError(f"int4 needs an even number of dimensions; the model has {model.dim}")
        codes, weights = quantize(table)
        return _changed(model, embeddings=pack(codes), weights=weights)
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


def quantize(table: Float32) -> tuple[Int8, Float32]:
    """Odd numbers from -15 to 15, int8 [n, d], whose products with weights, float32 [n], are near the rows.

    Rows of zeros have the weight 0.
    """
    codes, weights = np.empty(table.shape, np.int8), np.empty(len(table), np.float32)
    for start in range(0, len(table), _ROWS):
        rows = slice(start, start + _ROWS)
        codes[rows], weights[rows] = _nearest(table[rows])
    return codes, weights


def _nearest(rows: Float32) -> tuple[Int8, Float32]:
    scale = np.sqrt(np.square(rows).mean(axis=1, keepdims=True))
    units = rows / np.where(scale > 0, scale, 1)
    chosen, weights = np.ones(rows.shape, np.int8), np.zeros(len(rows), np.float32)
    least: npt.NDArray[Any] = np.full(len(rows), np.inf)
    for step in _STEPS:
        codes = (2 * np.clip(np.floor(units / np.float32(step)), -8, 7) + 1).astype(np.float32)
        # With this weight, these codes are nearest to the row.
        products, squares = (units * codes).sum(axis=1), np.square(codes).sum(axis=1)
        errors = -products * products / squares
        better = errors < least
        least[better], chosen[better] = errors[better], codes[better]
        weights[better] = (products / squares)[better]
    return chosen, weights * scale[:, 0]


def _as_floats(model: AverageEncoder) -> Float32:
    table = model.embeddings.astype(np.float32)
    return table if model.weights is None else table * model.weights[:, None]


def _changed(model: AverageEncoder, **tensors: Any) -> AverageEncoder:
    """The model with other tensors; None leaves one out."""
    changed = {name: array for name, array in {**model.tensors(), **tensors}.items() if array is not None}
    return AverageEncoder(changed, model.sentencepiece, model.config)
