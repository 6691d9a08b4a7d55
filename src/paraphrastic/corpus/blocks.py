"""Stream Parquet files in blocks of rows, so that memory does not grow with a corpus."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError, is_out_of_memory
from paraphrastic.base.files import atomic_output

# Rows of a row group: some tens of megabytes of text with its scores.
BLOCK_ROWS = 65_536
# Rows that are read and held in memory at a time, on which no output depends.
READ_ROWS = BLOCK_ROWS


def read_blocks(
    path: str | Path,
    *,
    columns: list[str] | None = None,
    rows: int | None = None,
    shard: tuple[int, int] = (1, 1),
) -> Iterator[pa.RecordBatch]:
    """Record batches of at most `rows` rows of a Parquet file, or of its i-th of n `shard`s, in its order."""
    with open_parquet(path) as file:
        number, count = shard
        groups = range((number - 1) * file.num_row_groups // count, number * file.num_row_groups // count)
        with _named(path, "damaged"):
            yield from file.iter_batches(rows or READ_ROWS, row_groups=groups, columns=columns)


@contextmanager
def open_parquet(path: str | Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; one that is missing or damaged is an `InputError` that names it."""
    with _named(path, "not readable as Parquet"):
        # Buffered ahead, all columns of the file would be in memory by the time it was read.
        file = pq.ParquetFile(path, pre_buffer=False)
    with file:
        yield file


@contextmanager
def _named(path: str | Path, cause: str) -> Iterator[None]:
    """Turn what Arrow says of a file, but for a lack of memory, into an `InputError` that names it."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if is_out_of_memory(error):
            raise
        raise InputError(f"{path}: {cause}: {' '.join(str(error).split())}") from None


class BlockWriter:
    """Writes record batches of any size as row groups of `BLOCK_ROWS` rows.

    The file's bytes depend on the rows alone, not on how they were cut into batches.
    """

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = 0
        self.rows = 0

    def write(self, block: pa.RecordBatch) -> None:
        """Append the rows of `block`, which has the writer's schema."""
        self.rows += block.num_rows
        self._waiting.append(block)
        self._waiting_rows += block.num_rows
        if self._waiting_rows >= BLOCK_ROWS:
            self._flush(self._waiting_rows - self._waiting_rows % BLOCK_ROWS)

    def finish(self) -> None:
        """Write what is left as a last, shorter row group."""
        if self._waiting_rows:
            self._flush(self._waiting_rows)

    def _flush(self, rows: int) -> None:
        table = pa.Table.from_batches(self._waiting)
        for start in range(0, rows, BLOCK_ROWS):
            # In one chunk: where chunks end would show in the pages of the file.
            group = table.slice(start, min(BLOCK_ROWS, rows - start)).combine_chunks()
            self._writer.write_table(group)
        self._waiting = table.slice(rows).to_batches()
        self._waiting_rows -= rows


@contextmanager
def write_blocks(
    path: str | Path, schema: pa.Schema, *, dictionary: Sequence[str] = ()
) -> Iterator[BlockWriter]:
    """Write a Parquet file that is whole or not there; a full disk is an `InputError`.

    The columns in `dictionary`, which have few distinct values, are stored as numbers of these; sentences
    hardly repeat within a row group.
    """
    with (
        atomic_output(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", use_dictionary=list(dictionary)) as writer,
    ):
        blocks = BlockWriter(writer)
        yield blocks
        blocks.finish()
