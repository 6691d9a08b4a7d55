"""The command `paraphrastic search`: searches saved vectors for the sentences of a file."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import Source
from paraphrastic.base.text import clean
from paraphrastic.base.text_files import text_output
from paraphrastic.model.encoder import Encoder, OnProgress, finite_vectors
from paraphrastic.neighbours.matrix_search import QUERY_NUMBERS, search
from paraphrastic.neighbours.vectors import check_maker, open_vectors


def search_files(
    encoder: Encoder,
    vectors: str,
    queries: Source,
    output: str,
    *,
    k: int,
    min_score: float | None = None,
    sentences: Source | None = None,
    language: str | None = None,
    threads: int = 1,
    progress: OnProgress | None = None,
    note: Callable[[str], None] | None = None,
) -> int:
    """Find the rows of a matrix that are nearest to the sentences of a file; return how many were found.

    Writes TSV without a header, ordered by query and rank: the cosine, the query's id, by default its number,
    the rank and the row's number, all counted from 1. A row of a Parquet file has its id instead. With
    `sentences`, both sentences follow. Blank lines find nothing and are never found.

    `vectors` is what `open_vectors` takes, and row i has the sentence i of `sentences`. `note` is told a line
    that the user should read, if nothing says which model made the vectors.

    Raises:
        InputError: a file cannot be read or written, another model made the matrix, dimensions differ, a row
            or a query is not finite, or there are not as many sentences as rows.
    """
    count = 0
    # The output is opened first: if it cannot be written, that is reported before any work is lost.
    with text_output(output) as file:
        matrix = open_vectors(vectors)
        if (doubt := check_maker(matrix, encoder)) and note:
            note(doubt)
        if sentences is not None:
            if not Path(sentences.path).is_file():
                raise InputError(f"{sentences.path}: is not a file, and it is read more than once")
            if (lines := sum(len(batch.ids) for batch in sentences.batches())) != matrix.shape[0]:
                raise InputError(f"{sentences.path} has {lines} rows, but {vectors} has {matrix.shape[0]}")
            # What is wrong with its rows has been said.
            sentences = replace(sentences, on_bad=sentences.on_bad and (lambda _: None))
        for ids, (group,), *_ in queries.batches(max(1, QUERY_NUMBERS // encoder.dim)):
            tell = progress and partial(progress, "searching")
            embedded = finite_vectors(encoder, group, language, name=queries.path)
            found = search(matrix, embedded, k, min_score=min_score, threads=threads, progress=tell)
            chosen = np.unique(found.indices[found.indices >= 0]).tolist()
            names = dict(zip(chosen, matrix.ids(chosen), strict=True))
            read = sentences.batches() if sentences else ()
            shown = chain.from_iterable(batch.columns[0] for batch in read)
            texts = {row: text for row, text in enumerate(shown) if row in names}
            for query, rank in np.argwhere(found.indices >= 0).tolist():
                row = int(found.indices[query, rank])
                cells = [f"{found.cosines[query, rank]:.6f}", ids[query], rank + 1, names[row]]
                cells += [group[query].strip(), texts[row].strip()] if sentences else []
                file.write("\t".join(clean(str(cell)) for cell in cells) + "\n")
                count += 1
    return count
