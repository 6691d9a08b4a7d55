"""Search for the nearest rows of a matrix, which is read in blocks and may be larger than memory."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import available_cores
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.neighbours.nearest import ROUNDING, Neighbours, TopK
from paraphrastic.neighbours.parts import multiplying_workers, slices
from paraphrastic.neighbours.vectors import Matrix, check_maker, open_vectors, single, vectors_of

# Numbers per block of the matrix, of which one is in memory.
BLOCK_NUMBERS = 1 << 22
# Numbers of the queries that share one pass over the matrix: 1 GB of vectors.
QUERY_NUMBERS = 1 << 28


def search(
    vectors: npt.ArrayLike | Matrix | Path | Iterable[str],
    queries: npt.ArrayLike | str | Iterable[str],
    k: int = 10,
    *,
    model: SentenceEncoder | None = None,
    language: str | None = None,
    min_score: float | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Neighbours:
    """Find the k rows of a matrix that are nearest to each query by cosine, exactly.

    Cosines are computed in double precision from single-precision numbers of any length. Among equally near
    rows, lower ones come first. A zero vector, such as that of an empty sentence, is never found and finds
    nothing.

    Args:
        vectors: the rows, floating-point numbers [n, dim], which may be mapped into memory; the `Path` of a
            `.npy` file, a `.parquet` file or a folder of such files, which must not say that another model
            made it; or, with `model`, sentences.
        queries: floating-point numbers [q, dim]; with `model`, also sentences, or one of them.
        k: number of rows to find per query.
        model: embeds what is text.
        language: the language of the text; see `SentenceEncoder.embed_raw_text`.
        min_score: rows with a lower cosine are not found.
        threads: number of threads; None uses all cores. It does not change the result.
        progress: is called now and then with the share of the work that is done.

    Returns:
        `indices` int64 and `cosines` float64, both [q, min(k, n)], nearest row first. If fewer rows are
        found, the last indices are -1 and their cosines are minus infinity.

    Raises:
        InputError: dimensions differ, text comes without a model, `k` is below 1, or a row is not finite.
    """
    if isinstance(vectors, Path):
        vectors = open_vectors(str(vectors))
        if model is not None:
            check_maker(vectors, model)
    if not isinstance(vectors, Matrix):
        vectors = Matrix(vectors_of(vectors, model, language, "vectors"))
    rows, dim = vectors.shape
    queries = single(vectors_of(queries, model, language, "queries", one=True))
    if dim != queries.shape[1]:
        raise InputError(f"{vectors.name} has rows of {dim} dimensions, but queries have {queries.shape[1]}")
    if k < 1:
        raise InputError(f"k is {k}, but must be at least 1")
    lowest = -np.inf if min_score is None else min_score - ROUNDING
    neighbours = Neighbours.nothing(len(queries), min(k, rows))
    groups = slices(len(queries), max(1, QUERY_NUMBERS // max(1, dim)))
    with multiplying_workers(threads or available_cores()) as workers:
        for number, group in enumerate(groups):
            found = neighbours[group]
            top_k = TopK(queries[group], found.indices.shape[1], workers, lowest=lowest, zeros=False)
            for start, block in vectors.blocks(max(1, BLOCK_NUMBERS // max(1, dim))):
                top_k.add_rows(single(block), start, None, vectors.name)
                if progress:
                    progress((number + (start + len(block)) / rows) / len(groups))
            found.add(top_k.neighbours())
    return neighbours
