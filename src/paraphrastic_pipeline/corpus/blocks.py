"""Stream Parquet files in blocks of rows, so that memory does not grow with the corpus."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.files import atomic_output

# Sentence pairs, with their line in the original file.
PAIR_SCHEMA = pa.schema([("source", pa.string()), ("target", pa.string()), ("line", pa.int64())])
# Rows in a row group: some tens of megabytes of text with its scores.
BLOCK_ROWS = 65_536
# Rows that are read and held in memory at a time; no output depends on this number.
READ_ROWS = BLOCK_ROWS


def read_blocks(
    path: str | Path,
    *,
    columns: list[str] | None = None,
    rows: int | None = None,
    shard: tuple[int, int] = (1, 1),
) -> Iterator[pa.RecordBatch]:
    """Batches of at most `rows` rows of a Parquet file, or of the i-th of its n parts: `shard=(i, n)`."""
    # With buffering ahead, all columns of the file would end up in memory.
    with pq.ParquetFile(path, pre_buffer=False) as file:
        number, count = shard
        groups = range((number - 1) * file.num_row_groups // count, number * file.num_row_groups // count)
        yield from file.iter_batches(rows or READ_ROWS, row_groups=groups, columns=columns)


def read_table(path: str | Path, *, columns: list[str] | None = None) -> pa.Table:
    """A Parquet file in memory."""
    return pq.ParquetFile(path).read(columns=columns)


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
        self._flush(BLOCK_ROWS)

    def finish(self) -> None:
        """Write the remaining rows as a last, shorter row group."""
        self._flush(1)

    def _flush(self, least: int) -> None:
        while self._waiting.num_rows >= least:
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
    with (
        atomic_output(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", use_dictionary=list(dictionary)) as writer,
    ):
        blocks = BlockWriter(writer)
        yield blocks
        blocks.finish()


def write_table(path: str | Path, table: pa.Table) -> None:
    """Write a table as `write_blocks` writes blocks."""
    with write_blocks(path, table.schema) as writer:
        for block in table.to_batches():
            writer.write(block)
