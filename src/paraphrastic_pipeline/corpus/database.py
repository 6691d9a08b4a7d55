"""Out-of-core operations in DuckDB on pairs of several Parquet files: places, duplicates, random choice.

A pair's place combines the number of its file and its row there in one integer, which orders all pairs. All
random choices use the MD5 of the seed and the place, so they depend on neither threads nor memory.
"""

import atexit
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypedDict, Unpack

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import OWNER, remove_leftovers, unwritable_named

# A step freezes what it has imported, and at its end, DuckDB would print a line about each of these objects.
atexit.register(gc.unfreeze)

# Pairs of several corpora in one file; `corpus` is the number of the file that they come from.
MERGED_SCHEMA = pa.schema(
    [("source", pa.string()), ("target", pa.string()), ("corpus", pa.int16()), ("line", pa.int64())]
)
# A file may have up to 2^40 rows.
FILE_SHIFT = 40


class Resources(TypedDict):
    """The memory and threads that DuckDB may use, and a folder for temporary data.

    The folder is made if it is missing, and keeps nothing afterwards.
    """

    memory_mb: int
    threads: int
    temporary: str | Path


@contextmanager
def open_database(purpose: str, **resources: Unpack[Resources]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in a new folder inside `temporary`, which is removed at the end.

    A full disk or too little memory is an `InputError` that begins with `purpose`, which says what cannot be
    done, such as `pairs.parquet: cannot be merged`.
    """
    temporary = resources["temporary"]
    Path(temporary).mkdir(parents=True, exist_ok=True)
    remove_leftovers(Path(temporary), "pairs-")
    with unwritable_named(temporary), TemporaryDirectory(dir=temporary, prefix=f"pairs-{OWNER}.") as folder:
        try:
            config: dict[str, Any] = {
                "memory_limit": f"{resources['memory_mb']}MB", "threads": resources["threads"],
                "temp_directory": folder, "preserve_insertion_order": "false",
            }  # fmt: skip
            with duckdb.connect(str(Path(folder) / "pairs.duckdb"), config=config) as database:
                database.execute("SET enable_progress_bar = false")
                yield database
        # An error while Arrow reads a result is an `OSError`.
        except (duckdb.IOException, duckdb.OutOfMemoryException, OSError) as error:
            cause = on_one_line(str(error).split("\n\n")[0])
            raise InputError(f"{purpose}, with temporary data in {temporary}: {cause}") from None


def list_rows(
    database: duckdb.DuckDBPyConnection,
    files: Sequence[str | Path],
    *,
    columns: Sequence[str] = (),
    numbered_through: bool = False,
) -> None:
    """Define the view `rows` of all pairs; each query reads the files anew.

    Its columns are `source`, `target`, `corpus` (the number of the file), `line`, `place`, and `columns`. If
    `numbered_through` is set, rows are counted across files, so a place does not depend on shard boundaries.
    """
    # A union of queries, one for each file, would take memory for each of them when it is sorted.
    paths, starts = ", ".join(map(quoted, files)), [0]
    for number, path in enumerate(files, start=1):
        rows = pq.read_metadata(path).num_rows
        starts.append(starts[-1] + rows if numbered_through else number << FILE_SHIFT)
    database.execute(
        f"""
        CREATE VIEW rows AS
        SELECT source, target, file_index::SMALLINT AS corpus, line,
               list_extract({starts}, (file_index + 1)::BIGINT) + file_row_number AS place
               {"".join(f", {column}" for column in columns)}
        FROM read_parquet([{paths}], file_row_number = true)
        """  # noqa: S608 - the names are quoted, and the columns are the caller's own words
    )


def random_number(seed: int, purpose: str, column: str = "place") -> str:
    """SQL expression for a random integer per value of `column`, the same in every run.

    The purpose is hashed too, so each purpose gets its own numbers, and renaming one changes its choices.
    """
    return f"md5_number_lower('{seed} {purpose} ' || {column})"


def quoted(path: str | Path) -> str:
    """A file's name as a text in SQL."""
    return "'{}'".format(str(path).replace("'", "''"))
