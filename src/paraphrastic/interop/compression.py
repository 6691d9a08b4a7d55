"""Smaller versions of an averaging model, with fewer pieces, dimensions or bits, and what they cost."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from pathlib import Path
from timeit import timeit
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.arrays import Float32, Int8
from paraphrastic.base.errors import InputError
from paraphrastic.model.average import AverageEncoder, pack
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.sentencepiece_models import read_model_proto

# Number of sentences that are embedded or cut at once.
_BLOCK = 1 << 14
_LARGEST = 127
# Rows of a table that are quantized at once, and the steps that are tried for each row, by bits per entry.
# The unit of a step is the root mean square of the row's entries.
_ROWS = 4096
_STEPS = {2: np.linspace(0.6, 1.4, 17), 4: np.linspace(0.15, 0.6, 19)}
# Bits per entry, if several entries share a byte.
_BITS = {"int2": 2, "int4": 4}

# To measure speed: number of sentences, least seconds per measurement, and number of turns per model.
_SENTENCES, _SECONDS, _TURNS = 1 << 14, 0.2, 7

Dtype = Literal["float32", "float16", "int8", "int4", "int2"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """How to make a model smaller: first with fewer pieces, then dimensions, then bits.

    Attributes:
        prune: whether to leave out pieces that a corpus does not need.
        dimension: dimension of the vectors; None keeps it.
        method: `pca` keeps the directions in which the vectors of a corpus are longest, and `truncate` the
            first columns.
        dtype: type of the table: `float32`, `float16`, or `int8`, `int4` and `int2` with one factor per row;
            None keeps it.
    """

    prune: bool = False
    dimension: int | None = None
    method: Literal["pca", "truncate"] = "pca"
    dtype: Dtype | None = None

    @property
    def needs_corpus(self) -> bool:
        """Whether the reduction depends on sentences."""
        return self.prune or (self.dimension is not None and self.method == "pca")


def reduce_model(model: AverageEncoder, reduction: Reduction, corpus: Iterable[str] = ()) -> AverageEncoder:
    """Make a smaller version of a model.

    Args:
        model: an average of any kind.
        reduction: what to reduce.
        corpus: sentences like those that the model is for; half a million are plenty.

    Raises:
        InputError: the corpus has no sentence or fewer sentences than dimensions, or more dimensions are
            asked for than the model has.
    """
    original = model
    sentences = list(corpus) if reduction.needs_corpus else []
    if reduction.needs_corpus and not sentences:
        raise InputError("the corpus contains no sentence, so the model cannot be made smaller")
    if reduction.prune:
        model = prune(model, sentences)
    if reduction.dimension is not None:
        if reduction.dimension > model.dim:
            raise InputError(f"{reduction.dimension} dimensions are asked for; the model has {model.dim}")
        if reduction.method == "truncate":
            directions = np.eye(model.dim, reduction.dimension, dtype=np.float32)
        else:
            directions = principal_directions(model, sentences, reduction.dimension)
        table, unknown = _as_floats(model) @ directions, model.unknown @ directions
        model = _changed(model, embeddings=table, unknown=unknown, weights=None)
    dtype = reduction.dtype or original.dtype
    model = with_dtype(model, dtype)
    return _changed(model, config={**model.config, "reduction": {**asdict(reduction), "dtype": dtype}})


def principal_directions(model: AverageEncoder, sentences: Sequence[str], dimension: int) -> Float32:
    """Return the directions in which the sentences' unit vectors are longest, [dim, dimension].

    The vectors are not centred, since cosines are measured from zero: among all projections, this one keeps
    the products of the sentences' vectors best.
    """
    moments, count = np.zeros((model.dim, model.dim)), 0
    for start in range(0, len(sentences), _BLOCK):
        vectors = model.embed_raw_text(sentences[start : start + _BLOCK], normalize=True)
        moments += vectors.T @ vectors
        count += int(vectors.any(axis=1).sum())
    if count < dimension:
        raise InputError(f"{dimension} directions cannot be fitted on {count} sentences")
    _, directions = np.linalg.eigh(moments)
    # `eigh` returns directions in ascending order.
    return directions[:, : -dimension - 1 : -1].astype(np.float32)


def prune(model: AverageEncoder, sentences: Sequence[str]) -> AverageEncoder:
    """Return the model without the pieces that the sentences do not contain.

    Single characters and sentencepiece's own pieces stay, so any other text can still be spelled. The
    sentences themselves are cut as before.

    Raises:
        InputError: the model's units are not subwords.
    """
    if model.unit != "subword":
        raise InputError("only a model of subwords can do without some of its pieces")
    proto = read_model_proto(model.processor.serialized_model_proto())
    needed = np.zeros(len(proto.pieces), np.bool_)
    for start in range(0, len(sentences), _BLOCK):
        # Pieces that training did not meet stay, too: without one, a word would be cut in another way.
        for ids in model.processor.encode(model.spelled(sentences[start : start + _BLOCK]), out_type=int):
            needed[ids] = True
    for number, piece in enumerate(proto.pieces):
        if piece.type != piece.NORMAL or len(piece.piece.removeprefix("▁")) <= 1:
            needed[number] = True
    kept = np.flatnonzero(needed)
    pieces = [proto.pieces[number] for number in kept]
    proto.ClearField("pieces")
    proto.pieces.extend(pieces)
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
    rows = {name: value[kept] for name, value in model.tensors().items() if name != "unknown"}
    return _changed(model, processor=processor, **rows)


def with_dtype(model: AverageEncoder, dtype: str) -> AverageEncoder:
    """Return the model with its table in one of `Dtype`.

    Raises:
        InputError: an entry is too large for float16, or rows of int4 or int2 do not fill whole bytes.
    """
    if model.dtype == dtype:
        return model
    table = _as_floats(model)
    if bits := _BITS.get(dtype):
        if model.dim % (8 // bits):
            raise InputError(f"{dtype} needs a multiple of {8 // bits} dimensions; the model has {model.dim}")
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


def quantize(table: Float32, bits: int) -> tuple[Int8, Float32]:
    """Return the odd numbers, int8 [n, d], whose products with weights, float32 [n], are nearest to the rows.

    Rows of zeros have the weight 0.
    """
    codes, weights = np.empty(table.shape, np.int8), np.empty(len(table), np.float32)
    for start in range(0, len(table), _ROWS):
        rows = slice(start, start + _ROWS)
        codes[rows], weights[rows] = _nearest(table[rows], bits)
    return codes, weights


def _nearest(rows: Float32, bits: int) -> tuple[Int8, Float32]:
    scale = np.sqrt(np.square(rows).mean(axis=1, keepdims=True))
    units = rows / np.where(scale > 0, scale, 1)
    half = 1 << (bits - 1)
    chosen, weights = np.ones(rows.shape, np.int8), np.zeros(len(rows), np.float32)
    least: npt.NDArray[Any] = np.full(len(rows), np.inf)
    for step in _STEPS[bits]:
        codes = (2 * np.clip(np.floor(units / np.float32(step)), -half, half - 1) + 1).astype(np.float32)
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


def _changed(model: AverageEncoder, **changes: Any) -> AverageEncoder:
    parts = {**model.tensors(), "processor": model.processor, "config": model.config, **changes}
    return AverageEncoder(**parts)


@dataclass(frozen=True, slots=True)
class Original:
    """A model before it was made smaller.

    Attributes:
        model: an average of one table.
        folder: folder of the model.
        score: gives the score of a model on STS; None if it is not to be measured.
    """

    model: AverageEncoder
    folder: Path
    score: Callable[[SentenceEncoder], float] | None = None


def size_rows(before: AverageEncoder, after: AverageEncoder) -> list[tuple[str, str]]:
    """Return what was reduced in a model, for a person to read."""
    directions = {"pca": "the directions in which a corpus's vectors are longest", "truncate": "the first"}
    rows = [
        ("dimensions", f"{after.dim:,} of {before.dim:,}: {directions[after.config['reduction']['method']]}"),
        ("pieces", f"{len(after.embeddings):,} of {len(before.embeddings):,}: those that a corpus needs"),
        ("numbers", f"{after.dtype} instead of {before.dtype}"),
    ]
    changed = (after.dim < before.dim, len(after.known) < len(before.known), after.dtype != before.dtype)
    return list(compress(rows, changed))


def cost_table(
    original: Original, model: AverageEncoder, folder: Path, sentences: Sequence[str]
) -> list[tuple[str, str]]:
    """Return what a reduction cost in bytes, speed on all cores and Pearson's r × 100, for a person to read.

    A speed depends on the machine, so it is given as a multiple of the other one. It is measured on the
    sentences, repeated as needed. The folder is that of the smaller model.

    Raises:
        InputError: the test sets are not test sets of STS.
    """
    points = "not measured; give the test sets with --sts"
    if original.score is not None:
        before, after = (original.score(scored) for scored in (original.model, model))
        change = "lost" if after <= before else "gained"
        points = f"{after:.2f} instead of {before:.2f}: {abs(before - after):.2f} points {change}"
    sizes = [
        sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
        for source in (folder, original.folder)
    ]
    times = _speed(original.model, model, sentences)
    return [
        ("size", "{:,.1f} MB instead of {:,.1f} MB".format(*(size / 1e6 for size in sizes))),
        ("speed", f"{times:.2f} times the model's"),
        ("STS 2012–2016", points),
    ]


def _speed(first: SentenceEncoder, second: SentenceEncoder, sentences: Sequence[str]) -> float:
    """Return the second model's speed as a multiple of the first model's.

    The models take turns, and the result is the median of the turns' ratios, so other work on the machine
    slows down both.
    """
    texts = [sentences[number % len(sentences)] for number in range(_SENTENCES)]

    def seconds(model: SentenceEncoder, repeats: int) -> float:
        return timeit(lambda: model.embed_raw_text(texts), timer=time.perf_counter, number=repeats) / repeats

    models = (first, second)
    for model in models:
        seconds(model, 1)
    repeats = [max(1, math.ceil(_SECONDS / seconds(model, 1))) for model in models]
    turns = np.array([list(map(seconds, models, repeats)) for _ in range(_TURNS)])
    return float(np.median(turns[:, 0] / turns[:, 1]))
