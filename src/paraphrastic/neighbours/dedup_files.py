"""The command `paraphrastic dedup`: removes near duplicates from a text file or a table."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import unwritable_named
from paraphrastic.base.identities import identity_text
from paraphrastic.base.rows import Lines, Source
from paraphrastic.base.tables import tsv_line
from paraphrastic.base.text import visible
from paraphrastic.base.text_files import byte_output, text_input, text_output
from paraphrastic.model.encoder import BLOCK_SENTENCES
from paraphrastic.model.system import System
from paraphrastic.model.vector_tables import is_parquet, runs
from paraphrastic.neighbours.bitext import embed_entries
from paraphrastic.neighbours.duplicates import Duplicates, near_duplicates
from paraphrastic.neighbours.kernels import NOTHING
from paraphrastic.neighbours.mine_files import MAX_VECTOR_BYTES, OnProgress

# Stands for the text of a row without one, which is kept.
_BLANK = -1


@dataclass(slots=True)
class _Rows:
    """The rows of a file.

    Attributes:
        texts: the different texts.
        firsts: for each text, the first row that has it, from 0.
        members: for each row, its text by index, or `_BLANK`.
        names: of each row, for the report; empty if they are numbers from 1.
        lines: the lines of each row; empty if each row is a line.
    """

    texts: list[str] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    names: list[Any] = field(default_factory=list)
    lines: list[Lines | None] = field(default_factory=list)


def dedup_file(
    system: System,
    source: Source,
    output: str,
    *,
    threshold: float,
    report: str | None = None,
    language: str | None = None,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> tuple[int, int]:
    """Remove near duplicates in meaning from a file; return how many rows were kept and left out.

    A row, which is a line if the file is no table, is left out if an earlier kept row has the same text or a
    vector whose cosine with this row's vector reaches the threshold. Texts are the same if they differ only
    in white space around them or in characters that nobody sees (`base.text.visible`). All other rows are
    written in their order, byte for byte, with any control or invisible characters that they have, and so is
    the header of a table. Rows of Parquet keep their values and types. A row that is blank or cannot be read
    is not a sentence and is kept.

    The report is a TSV file without a header. It has, in order, a line `cosine TAB row TAB kept row TAB
    sentence TAB kept sentence` for each row left out. The kept row is the first near one; equal texts have
    the cosine 1. Rows have their identities, by default their numbers from 1. As the output or the report,
    `-` is standard output.

    Vectors that take more than `MAX_VECTOR_BYTES` are held in 16 bits, which keeps cosines to four digits.

    Raises:
        InputError: a file cannot be read or written, the threshold is out of bounds, or a vector is not
            finite; see also `rows.Source`.
    """
    if not 0 < threshold <= 1:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0 and at most 1")
    if report and _is_one_file(output, report):
        raise InputError(f"{output}: the lines and the report cannot both go there")
    if is_parquet(source.path) != is_parquet(output):
        kind = "Parquet" if is_parquet(source.path) else "text"
        raise InputError(
            f"{output}: the rows of {source.path} are kept as they are, so the output is {kind}, too"
        )
    # The outputs are opened first: if one cannot be written, that is reported before any work is lost.
    with (
        byte_output(output) as file,
        text_output(report) if report else nullcontext() as table,
        _twice(source) as again,
    ):
        rows = _read(again)
        x = embed_entries(
            system,
            rows.texts,
            language,
            name=source.path,
            in_16_bits=4 * system.dim * len(rows.texts) > MAX_VECTOR_BYTES,
            progress=progress and partial(progress, f"embedding {source.path}"),
        )
        duplicates = near_duplicates(
            x, threshold, threads=threads, progress=progress and partial(progress, "comparing")
        )
        left_out = [
            row
            for row, text in enumerate(rows.members)
            if text != _BLANK and (duplicates.originals[text] != NOTHING or rows.firsts[text] != row)
        ]
        if table:
            table.writelines(tsv_line(_reported(rows, duplicates, row)) for row in left_out)
        write = _write_parquet if is_parquet(output) else _write_lines
        # Otherwise, the report's file would be named.
        with unwritable_named("standard output" if output == "-" else output):
            write(again, file, rows, left_out)
    return len(rows.members) - len(left_out), len(left_out)


def _reported(rows: _Rows, duplicates: Duplicates, row: int) -> tuple[str, ...]:
    """The cells of the report about a row that is left out."""
    text = rows.members[row]
    original = int(duplicates.originals[text])
    cosine, kept = (1.0, text) if original == NOTHING else (float(duplicates.cosines[text]), original)
    names = (
        identity_text(rows.names[place] if rows.names else place + 1) for place in (row, rows.firsts[kept])
    )
    return f"{cosine:.6f}", *names, rows.texts[text], rows.texts[kept]


def _write_lines(source: Source, file: IO[bytes], rows: _Rows, left_out: list[int]) -> None:
    """Write all lines but those of rows that are left out."""
    spans = [(rows.lines[row] if rows.lines else None) or (row + 1, 1) for row in left_out]
    dropped = {line for first, count in spans for line in range(first, first + count)}
    number = 0
    with source.stream() as stream:
        for number, raw in enumerate(stream, start=1):
            if number not in dropped:
                file.write(raw)
    if number < (len(rows.members) if not rows.lines else max(dropped, default=0)):
        raise InputError(f"{source.path}: has become shorter while it was read")


def _write_parquet(source: Source, file: IO[bytes], rows: _Rows, left_out: list[int]) -> None:
    """Write all rows of a Parquet file but those that are left out."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

    kept = np.ones(len(rows.members), bool)
    kept[left_out] = False
    start = 0
    try:
        with ParquetFile(source.path) as table, ParquetWriter(file, table.schema_arrow) as writer:
            for batch in table.iter_batches(BLOCK_SENTENCES):
                places = np.flatnonzero(kept[start : start + len(batch)]).tolist()
                writer.write_table(pa.Table.from_batches(runs(batch, places), table.schema_arrow))
                start += len(batch)
    except pa.ArrowException as error:
        raise InputError(f"{source.path}: its rows cannot be copied: {on_one_line(error)}") from None


def _is_one_file(path: str, other: str) -> bool:
    """Whether two outputs are one file or pipe. A device such as `/dev/null` takes both."""
    place, other_place = (Path("/dev/stdout" if name == "-" else name) for name in (path, other))
    if not (place.exists() and other_place.exists()):
        return place.resolve() == other_place.resolve()
    return place.samefile(other_place) and ("-" in (path, other) or not place.is_char_device())


@contextmanager
def _twice(source: Source) -> Iterator[Source]:
    """Yield the source as one that can be read as often as needed: a pipe is copied to a temporary file."""
    if source.path != "-" and not Path(source.path).is_fifo():
        yield source
        return
    with tempfile.TemporaryFile() as file:
        with text_input(source.path) as stream, unwritable_named(tempfile.gettempdir()):
            shutil.copyfileobj(stream, file)

        def again() -> AbstractContextManager[BinaryIO]:
            file.seek(0)
            return nullcontext(file)

        yield replace(source, opened=again)


def _read(source: Source) -> _Rows:
    """Read the rows; equal texts become one."""
    rows, places = _Rows(), dict[str, int]()
    for batch in source.batches(BLOCK_SENTENCES):
        texts = batch.columns[0]
        if source.is_table:
            rows.names += batch.identities
            rows.lines += batch.lines
        for line, seen in zip(texts, visible(texts), strict=True):
            key = seen.strip()
            rows.members.append(places.setdefault(key, len(places)) if key else _BLANK)
            if len(places) > len(rows.firsts):
                rows.texts.append(line.strip())
                rows.firsts.append(len(rows.members) - 1)
    return rows
