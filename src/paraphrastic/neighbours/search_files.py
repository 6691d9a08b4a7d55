"""The command `paraphrastic search`: searches a saved matrix for the sentences of a file."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.identities import identity_text
from paraphrastic.base.rows import Source
from paraphrastic.base.tables import clean
from paraphrastic.base.text_files import text_output
from paraphrastic.model.system import System
from paraphrastic.neighbours.faiss_index import FaissFile
from paraphrastic.neighbours.matrix_model import check_model, check_sentences, sentences_of
from paraphrastic.neighbours.matrix_search import QUERY_NUMBERS, search
from paraphrastic.neighbours.mine_files import OnProgress
from paraphrastic.neighbours.nearest import Neighbours
from paraphrastic.neighbours.parquet_vectors import open_vectors
from paraphrastic.neighbours.vectors import Matrix

# Finds the rows nearest to queries, [q, dim].
Finder = Callable[[Float32], Neighbours]


@dataclass(frozen=True, slots=True)
class Index:
    """A saved matrix, and its sentences if the results show them.

    Attributes:
        vectors: `.npy` file of vectors; `.parquet` file of them, or a folder of such files; or an index that
            FAISS saved, whose name ends with `.faiss`.
        sentences: text or a table whose row i has the sentence of row i.
    """

    vectors: str
    sentences: Source | None = None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Which rows a search finds, and what it is done with.

    Attributes:
        k: number of rows to find per query.
        min_score: rows with a lower score are left out.
        threads: number of threads.
    """

    k: int
    min_score: float | None = None
    threads: int = 1


def search_files(
    system: System,
    index: Index,
    queries: Source,
    output: str,
    *,
    options: SearchOptions,
    language: str | None = None,
    model: str | None = None,
    progress: OnProgress | None = None,
    note: Callable[[str], None] | None = None,
) -> int:
    """Find the rows of a matrix that are nearest to the sentences of a file; return how many were found.

    Writes lines `score TAB query TAB rank TAB row` to a file, or to standard output (`-`), ordered by query
    and rank, without a header: the cosine, the query's identity, by default its number, the rank and the row
    number, all counted from 1. A row of a Parquet file has its identity instead. With `index.sentences`, two
    more columns hold the query's and the row's sentence. Blank lines find nothing and are never found.

    `model` is the system as `--model` takes it, for messages. `note` is called with a line that the user
    should read, if nothing says which model made the matrix.

    Raises:
        InputError: a file cannot be read or written, another model made the matrix, dimensions differ, a row
            or a query is not finite, the sentences are not those of the rows, or FAISS is needed but not
            installed.
    """
    sentences = index.sentences
    if sentences is not None and (sentences.path == "-" or Path(sentences.path).is_fifo()):
        raise InputError("the rows' sentences cannot come from a pipe, because they are read twice")
    count = 0
    # The output is opened first: if it cannot be written, that is reported before any work is lost.
    with text_output(output) as file:
        tell = progress and partial(progress, "searching")
        matrix, find = _open_index(index.vectors, options, tell)
        dim = matrix.shape[1]
        made, doubt = check_model(matrix, system, model)
        if dim != system.dim:
            raise InputError(
                f"{index.vectors} has vectors of {dim} dimensions, but those of {system.label} have "
                f"{system.dim}"
            )
        if sentences is not None:
            check_sentences(matrix, sentences, system, made)
        stream = queries.sentences()
        while rows := list(islice(stream, max(1, QUERY_NUMBERS // dim))):
            numbers, group = zip(*rows, strict=True)
            neighbours = find(system.embed_finite(group, language, name=queries.path))
            if doubt and note:
                # Not earlier, because a fault of the matrix matters more.
                note(doubt)
                doubt = None
            texts = None if sentences is None else _chosen_lines(sentences, matrix, neighbours.indices)
            names = _names(matrix, neighbours.indices)
            for query, rank in np.argwhere(neighbours.indices >= 0).tolist():
                row = int(neighbours.indices[query, rank])
                query_name = _cell(identity_text(numbers[query]))
                line = f"{neighbours.cosines[query, rank]:.6f}\t{query_name}\t{rank + 1}\t{names[row]}"
                file.write(f"{line}\t{_cell(group[query])}\t{texts[row]}\n" if texts else f"{line}\n")
                count += 1
    return count


def _open_index(
    path: str, options: SearchOptions, progress: Callable[[float], None] | None
) -> tuple[Matrix, Finder]:
    """Return the rows and the function that finds the nearest ones."""
    k, min_score, threads = options.k, options.min_score, options.threads
    if path.endswith(".faiss"):
        index = FaissFile(path, threads)
        if not index.is_exact:
            return index, partial(index.search, k=k, min_score=min_score)
        file: Matrix = index
    else:
        file = open_vectors(path)
    return file, partial(search, file, k=k, min_score=min_score, threads=threads, progress=progress)


def _chosen_lines(source: Source, matrix: Matrix, rows: Int64) -> dict[int, str]:
    """Return the sentences of these rows, counted from 0, as cells of a table."""
    wanted = set(rows[rows >= 0].tolist())
    return {row: _cell(text) for row, (_, text) in enumerate(sentences_of(matrix, source)) if row in wanted}


def _names(matrix: Matrix, rows: Int64) -> dict[int, str]:
    """What the results call rows: their identities, or their numbers from 1."""
    chosen = np.unique(rows[rows >= 0]).tolist()
    known = matrix.identities(chosen) or [row + 1 for row in chosen]
    return {row: _cell(identity_text(name)) for row, name in zip(chosen, known, strict=True)}


def _cell(text: str) -> str:
    return clean(text).strip()
