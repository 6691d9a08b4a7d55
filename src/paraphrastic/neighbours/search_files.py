"""Search in a saved matrix for the sentences of a file, as the command `paraphrastic search` does it."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import clean, read_batches
from paraphrastic.model.embed_files import text_input, text_output
from paraphrastic.model.system import System
from paraphrastic.neighbours.kernels import Float32, Int64
from paraphrastic.neighbours.matrix_search import QUERY_NUMBERS, search
from paraphrastic.neighbours.nearest import Neighbours
from paraphrastic.neighbours.vector_file import VectorFile

# Told what is being done, and what share of it is done.
Progress = Callable[[str, float], None]
# Finds the nearest rows of queries, [q, dim].
Finder = Callable[[Float32], Neighbours]

_LINES = 1 << 14


def search_files(
    encoder: System,
    index: str,
    queries: str,
    output: str,
    *,
    sentences: str | None = None,
    k: int = 10,
    min_score: float | None = None,
    language: str | None = None,
    with_faiss: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
) -> int:
    """Find the rows of a matrix that are nearest to the sentences of a file; how many were found in all.

    Writes lines `score TAB query TAB rank TAB row`, by query and rank, without a header: the cosine, the
    number of the query's line, the rank, and the number of the row, all from 1. With `sentences`, two more
    columns have the query's and the row's sentence. Blank lines find nothing, and are not found.

    Args:
        encoder: that made the vectors.
        index: the `.npy` file of vectors, or an index that FAISS saved, whose name ends with `.faiss`.
        queries: text, a sentence a line, plain or compressed; `-` is standard input.
        output: the TSV file; `-` is standard output.
        sentences: text whose line i is the sentence of row i.
        k: rows to be found for a query.
        min_score: rows with a lower score are left out.
        language: of the queries, for an encoder that asks for it.
        with_faiss: search with FAISS, which finds the same in a `.npy` file.
        threads: of the processor.
        progress: is told what is being done, and the share of it that is done.

    Raises:
        InputError: a file that cannot be read or written, dimensions that differ, a row or a query that is
            not finite, another number of sentences than of rows; FAISS is wanted and not installed.
    """
    if sentences is not None and (sentences == "-" or Path(sentences).is_fifo()):
        raise InputError("the rows' sentences cannot come from a pipe, since they are read twice")
    count, first = 0, 1
    # Opened first, so that an output that cannot be written is told before work is lost.
    with text_output(output) as file:
        tell = progress and partial(progress, "searching")
        dim, rows, find = _open_index(index, k, min_score, with_faiss, threads, tell)
        if dim != encoder.dim:
            raise InputError(
                f"{index} has vectors of {dim} dimensions, but those of {encoder.label} have {encoder.dim}"
            )
        if sentences is not None and (lines := sum(map(len, _batches(sentences)))) != rows:
            raise InputError(f"{sentences} has {lines} lines, but {index} has {rows} rows")
        stream = (line for batch in _batches(queries) for line in batch)
        while group := list(islice(stream, max(1, QUERY_NUMBERS // dim))):
            found = find(encoder.embed_finite(group, language, name=queries))
            texts = None if sentences is None else _chosen_lines(sentences, found.indices)
            for query, rank in np.argwhere(found.indices >= 0).tolist():
                row = int(found.indices[query, rank])
                line = f"{found.cosines[query, rank]:.6f}\t{first + query}\t{rank + 1}\t{row + 1}"
                file.write(f"{line}\t{_cell(group[query])}\t{texts[row]}\n" if texts else f"{line}\n")
                count += 1
            first += len(group)
    return count


def _open_index(
    index: str,
    k: int,
    min_score: float | None,
    with_faiss: bool,
    threads: int,
    progress: Callable[[float], None] | None,
) -> tuple[int, int, Finder]:
    """Dimension and number of its rows, and what finds them."""
    if with_faiss or index.endswith(".faiss"):
        # Not at the top: an optional package.
        from paraphrastic.neighbours.faiss_index import FaissFile, search_with_faiss

        matrix = FaissFile(index, threads) if index.endswith(".faiss") else VectorFile(index)

        def find_with_faiss(queries: Float32) -> Neighbours:
            if isinstance(matrix, FaissFile) and not matrix.is_exact:
                return matrix.search(queries, k, min_score)
            return search_with_faiss(matrix, queries, k, min_score=min_score, threads=threads)

        return matrix.dim, matrix.rows, find_with_faiss
    file = VectorFile(index)

    def find(queries: Float32) -> Neighbours:
        return search(file, queries, k, min_score=min_score, threads=threads, progress=progress)

    return file.dim, file.rows, find


def _batches(path: str) -> Iterator[list[str]]:
    with text_input(path) as stream:
        yield from read_batches(stream, path, _LINES)


def _chosen_lines(path: str, rows: Int64) -> dict[int, str]:
    """The lines of these rows, from 0, as cells of a table."""
    wanted = np.unique(rows[rows >= 0])
    chosen, start = {}, 0
    for lines in _batches(path):
        first, last = np.searchsorted(wanted, (start, start + len(lines)))
        for row in wanted[first:last].tolist():
            chosen[row] = _cell(lines[row - start])
        start += len(lines)
    return chosen


def _cell(text: str) -> str:
    return clean(text).strip()
