"""The command `paraphrastic dedup`: removes near duplicates from a text file or a table."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from pyarrow import Table
from pyarrow.parquet import ParquetFile, ParquetWriter

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import BATCH_ROWS, BadRow, Source
from paraphrastic.base.text import clean, visible
from paraphrastic.base.text_files import byte_output, open_input, text_output
from paraphrastic.model.encoder import Encoder, OnProgress, finite_vectors
from paraphrastic.neighbours.duplicates import near_duplicates
from paraphrastic.neighbours.kernels import NOTHING


def dedup_file(
    encoder: Encoder,
    source: Source,
    output: str,
    *,
    threshold: float,
    against: Source | None = None,
    report: str | None = None,
    language: str | None = None,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> tuple[int, int]:
    """Remove near duplicates in meaning from a file; return how many rows were kept and left out.

    A row is left out if its cosine with an earlier kept row reaches the threshold, or if both have the same
    text apart from white space around it and characters that nobody sees (`base.text.visible`). All other
    rows are written in their order, byte for byte, and so are blank lines and the header of a table. The rows
    of `against` count as earlier ones that are kept, every one of them, but they are not written.

    The report is a TSV file with a line for each row left out, without a header: cosine, row, kept row,
    sentence, kept sentence. The kept row is the first near one; equal texts have the cosine 1. Rows have
    their ids, by default their numbers from 1. With `against`, the file of the kept row follows.

    Raises:
        InputError: a file cannot be read or written, the threshold is out of bounds, or a vector is not
            finite; see also `rows.Source`.
    """
    if not 0 < threshold <= 1:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0 and at most 1")
    if against and against.path == source.path:
        raise InputError(f"{source.path}: is the input and the file to compare it with")
    files = [Path(path).resolve() for path in (output, report, against and against.path) if path]
    if len(set(files)) < len(files):
        raise InputError(f"{output}: --output, --report and --against need a file each")
    is_parquet = source.kind == "parquet"
    if is_parquet != output.endswith(".parquet"):
        kind = "Parquet" if is_parquet else "text"
        raise InputError(f"{output}: rows of {source.path} stay as they are, so the output is {kind}, too")
    # The outputs are opened first: if one cannot be written, that is reported before any work is lost.
    with (
        byte_output(output) as file,
        text_output(report) if report else nullcontext() as table,
        _as_file(source) as again,
    ):
        dropped: set[int] = set()
        old = [*_rows(against, set())] if against else []
        rows = [*old, *_rows(again, dropped)]
        keys = [seen.strip() for seen in visible([text for _, text, _ in rows])]
        # Equal texts are embedded once: the first row of each, and its index among them.
        firsts: dict[str, int] = {}
        for row, key in enumerate(keys):
            if key:
                firsts.setdefault(key, row)
        distinct, index_of = [*firsts.values()], {key: index for index, key in enumerate(firsts)}
        texts = [rows[row][1].strip() for row in distinct]
        name = f"{against.path} and {source.path}" if against else source.path
        x = finite_vectors(encoder, texts, language, name=name, progress=progress)
        tell = progress and partial(progress, "comparing")
        there = sum(row < len(old) for row in distinct)
        found = near_duplicates(x[there:], threshold, against=x[:there], threads=threads, progress=tell)
        left_out = 0
        for row in range(len(old), len(rows)):
            index = index_of.get(keys[row], NOTHING)
            original = int(found.originals[index - there]) if index >= there else NOTHING
            if index == NOTHING or (original == NOTHING and distinct[index] == row):
                continue
            left_out += 1
            dropped.update(rows[row][2])
            cosine = 1.0 if original == NOTHING else float(found.cosines[index - there])
            kept = index if original == NOTHING else original
            if table:
                cells = [f"{cosine:.6f}", rows[row][0], rows[distinct[kept]][0], texts[index], texts[kept]]
                cells += [(against if kept < there else source).path] if against else []
                table.write("\t".join(clean(str(cell)) for cell in cells) + "\n")
        (_write_parquet if is_parquet else _write_lines)(again, file, dropped)
    return len(rows) - len(old) - left_out, left_out


def _rows(source: Source, dropped: set[int]) -> Iterator[tuple[int | str, str, range]]:
    """Yield the id, the text and the lines of each row; the lines of bad rows are `dropped`."""
    on_bad = source.on_bad

    def note(row: BadRow) -> None:
        dropped.update(range(row.first, row.last + 1))
        if on_bad:
            on_bad(row)

    for batch in replace(source, on_bad=on_bad and note).batches():
        for name, text, first, last in zip(batch.ids, *batch.columns, batch.first, batch.last, strict=True):
            yield name, text, range(first, last + 1)


def _write_lines(source: Source, file: IO[bytes], dropped: set[int]) -> None:
    """Write all other lines."""
    with open_input(source.opened or source.path) as stream:
        file.writelines(raw for number, raw in enumerate(stream, start=1) if number not in dropped)


def _write_parquet(source: Source, file: IO[bytes], dropped: set[int]) -> None:
    """Write all other rows of a Parquet file."""
    number = 1
    with ParquetFile(source.path) as table, ParquetWriter(file, table.schema_arrow) as writer:
        for batch in table.iter_batches(BATCH_ROWS):
            kept = np.array([row not in dropped for row in range(number, number + len(batch))], bool)
            number += len(batch)
            # Slices, since Arrow cannot gather rows of all types.
            edges = np.flatnonzero(np.diff(kept, prepend=False, append=False)).reshape(-1, 2).tolist()
            runs = [batch.slice(start, stop - start) for start, stop in edges]
            writer.write_table(Table.from_batches(runs, table.schema_arrow))


@contextmanager
def _as_file(source: Source) -> Iterator[Source]:
    """Yield the source as one that can be read twice: what is no file is copied to a temporary one."""
    if Path(source.path).is_file():
        yield source
        return
    with tempfile.NamedTemporaryFile() as copy, open_input(source.path) as stream:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        yield replace(source, opened=copy.name)
