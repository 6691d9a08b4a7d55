"""Stream Parquet files in blocks of rows, so that memory does not grow with the corpus.

Every page of a file has a checksum, as has the list of its columns and rows at its end, so that a file that
has changed since it was written is named instead of read.
"""

import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.base.errors import is_out_of_memory

# Sentence pairs, with their line in the original file.
PAIR_SCHEMA = pa.schema([("source", pa.string()), ("target", pa.string()), ("line", pa.int64())])
# Rows in a row group: some tens of megabytes of text with its scores.
BLOCK_ROWS = 65_536
# Rows that are read and held in memory at a time; no output depends on this number.
READ_ROWS = BLOCK_ROWS
# The key of the checksum of the list of columns and rows, its value while it is computed, and both in the
# list: before a value come two bytes, its type and its length.
_KEY, _NO_CHECKSUM = b"list_crc32", b"-" * 8
_CHECKSUM = re.compile(re.escape(_KEY) + rb"..([0-9a-f]{8})", re.DOTALL)


def read_blocks(
    path: str | Path,
    *,
    columns: list[str] | None = None,
    rows: int | None = None,
    shard: tuple[int, int] = (1, 1),
) -> Iterator[pa.RecordBatch]:
    """Batches of at most `rows` rows of a Parquet file, or of the i-th of its n parts: `shard=(i, n)`."""
    with open_parquet(path) as file:
        known = file.schema_arrow.names
        for column in columns or ():
            # A dot stands before a field of a column, or is part of a name.
            if not any(f"{column}.".startswith(f"{name}.") for name in known):
                raise InputError(f"{path}: damaged: it has no column {column!r}")
        number, count = shard
        groups = range((number - 1) * file.num_row_groups // count, number * file.num_row_groups // count)
        left = sum(file.metadata.row_group(group).num_rows for group in groups)
        with _named(path, "damaged"):
            for block in file.iter_batches(rows or READ_ROWS, row_groups=groups, columns=columns):
                left -= block.num_rows
                yield block
        # Arrow skips pages of a kind that it does not know.
        if left:
            raise InputError(f"{path}: damaged: {left} rows are missing")


def noted(path: str | Path, key: str) -> int:
    """The number that `BlockWriter.note` wrote into a Parquet file, or 0."""
    with open_parquet(path) as file, _named(path, "damaged"):
        return int((file.metadata.metadata or {}).get(key.encode(), 0))


def read_table(path: str | Path, *, columns: list[str] | None = None, rows: int | None = None) -> pa.Table:
    """The first `rows` rows of a Parquet file, or all of them, in memory."""
    blocks, count = [], 0
    for block in read_blocks(path, columns=columns):
        blocks.append(block if rows is None else block.slice(0, rows - count))
        count += blocks[-1].num_rows
        if count == rows:
            break
    with open_parquet(path) as file:
        schema = file.schema_arrow
    if columns:
        schema = pa.schema([schema.field(name) for name in columns])
    return pa.Table.from_batches(blocks, schema)


def verify_parquet(path: str | Path) -> None:
    """Read a Parquet file to its end, since other readers than Arrow do not compare checksums."""
    for _ in read_blocks(path):
        pass


@contextmanager
def open_parquet(path: str | Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; a missing or damaged one is an `InputError` that names it."""
    with _named(path, "not readable as Parquet"):
        with Path(path).open("rb") as whole:
            _, footer = _footer(whole)
        if match := _CHECKSUM.search(footer):
            plain = footer[: match.start(1)] + _NO_CHECKSUM + footer[match.end(1) :]
            if int(match[1], 16) != zlib.crc32(plain):
                raise InputError(f"{path}: damaged: its list of columns has changed since it was written")
        # With buffering ahead, all columns of the file would end up in memory.
        file = pq.ParquetFile(path, pre_buffer=False, page_checksum_verification=True)
    with file:
        yield file


def _footer(file: BinaryIO) -> tuple[int, bytes]:
    """Where the list of a file's columns and rows begins, and the list; it is empty in other files."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    start = max(0, size - 8 - int.from_bytes(file.read(4), "little"))
    file.seek(start)
    content = file.read()
    return start, content[:-8] if content.endswith(b"PAR1") else b""


@contextmanager
def _named(path: str | Path, cause: str) -> Iterator[None]:
    """Turn Arrow's errors, except a lack of memory, into an `InputError` that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        if is_out_of_memory(error):
            raise
        raise InputError(f"{path}: {cause}: {on_one_line(error)}") from None


class BlockWriter:
    """Writes record batches of any size as row groups of `BLOCK_ROWS` rows.

    The file's bytes depend only on the rows, not on their division into batches.
    """

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer
        self.schema: pa.Schema = writer.schema
        self._waiting = writer.schema.empty_table()
        self.rows = 0

    def write(self, block: pa.RecordBatch) -> None:
        """Append the rows of `block`, which has the writer's schema."""
        self.rows += block.num_rows
        self._waiting = pa.concat_tables([self._waiting, pa.Table.from_batches([block])])
        while self._waiting.num_rows >= BLOCK_ROWS:
            self._flush()

    def note(self, key: str, number: int) -> None:
        """Write a number about the file into its metadata, where `noted` finds it; 0 is left out."""
        if number:
            self._writer.add_key_value_metadata({key: str(number)})

    def finish(self) -> None:
        """Write the remaining rows as a last, shorter row group."""
        if self._waiting.num_rows:
            self._flush()

    def _flush(self) -> None:
        # Combined into one chunk, since chunk boundaries would affect the pages of the file.
        self._writer.write_table(self._waiting.slice(0, BLOCK_ROWS).combine_chunks())
        self._waiting = self._waiting.slice(BLOCK_ROWS)


@contextmanager
def write_blocks(
    path: str | Path, schema: pa.Schema, *, dictionary: Sequence[str] = ()
) -> Iterator[BlockWriter]:
    """Write a Parquet file that is either complete or absent; a full disk is an `InputError`.

    Only the columns in `dictionary`, which have few distinct values, are dictionary-encoded, because
    sentences hardly repeat within a row group.
    """
    with atomic_output(path) as temporary:
        with pq.ParquetWriter(
            temporary, schema, compression="zstd", use_dictionary=list(dictionary), write_page_checksum=True
        ) as writer:
            blocks = BlockWriter(writer)
            yield blocks
            blocks.finish()
            writer.add_key_value_metadata({_KEY: _NO_CHECKSUM})
        with temporary.open("r+b") as file:
            start, footer = _footer(file)
            file.seek(start + footer.index(_NO_CHECKSUM, footer.index(_KEY)))
            file.write(b"%08x" % zlib.crc32(footer))


def write_table(path: str | Path, table: pa.Table) -> None:
    """Write a table as `write_blocks` writes blocks."""
    with write_blocks(path, table.schema) as writer:
        for block in table.to_batches():
            writer.write(block)
