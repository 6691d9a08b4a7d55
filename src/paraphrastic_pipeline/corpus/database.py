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
from typing import Any, Literal, TypedDict, Unpack

import duckdb
import pyarrow as pa

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import OWNER, remove_leftovers, unwritable_named
from paraphrastic_pipeline.corpus.blocks import open_parquet, verify_parquet
from paraphrastic_pipeline.corpus.contamination import HELD_OUT

# A step freezes what it has imported, and at its end, DuckDB would print a line about each of these objects.
atexit.register(gc.unfreeze)

# Pairs of several corpora in one file; `corpus` is the number of the file that they come from.
MERGED_SCHEMA = pa.schema(
    [("source", pa.string()), ("target", pa.string()), ("corpus", pa.int16()), ("line", pa.int64())]
)
# A file may have up to 2^40 rows.
_FILE_SHIFT = 40
# SQL expression for the number of the file that a place is in.
CORPUS = f"(place >> {_FILE_SHIFT})"
# The largest share of pairs that may be dropped because they resemble held-out ones, if they are more than a
# few: in text that is written by patterns, all sentences resemble each other.
_MOST_NEAR, _FEW = 0.1, 10
# What becomes of pairs that occur more than once.
Duplicates = Literal["keep_one", "drop_all", "keep_all"]


class Resources(TypedDict):
    """The memory and threads that DuckDB may use, and a folder for temporary data.

    The folder is made if it is missing, and keeps nothing afterwards.
    """

    memory_mb: int
    threads: int
    temporary: str | Path


def resources_of(job: Any, *, share: int) -> Resources:
    """A job's threads, its folder for temporary data, and one of `share` parts of its memory.

    DuckDB takes more than its limit, and Python and Arrow need memory, too.
    """
    return {
        "memory_mb": job.resources.mem_mb // share,
        "threads": job.threads,
        "temporary": job.resources.tmpdir,
    }


@contextmanager
def open_database(purpose: str, **resources: Unpack[Resources]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in a new folder inside `temporary`, which is removed at the end.

    A full disk, too little memory or a damaged file is an `InputError`. DuckDB's errors begin with `purpose`,
    which says what cannot be done, such as `pairs.parquet: cannot be merged`.
    """
    temporary = resources["temporary"]
    Path(temporary).mkdir(parents=True, exist_ok=True)
    remove_leftovers(Path(temporary), "pairs-")
    with unwritable_named(temporary), TemporaryDirectory(dir=temporary, prefix=f"pairs-{OWNER}.") as folder:
        try:
            with duckdb.connect(str(Path(folder) / "pairs.duckdb")) as database:
                database.execute(f"SET memory_limit = '{resources['memory_mb']}MB'")
                database.execute(f"SET threads = {resources['threads']}")
                database.execute("SET temp_directory = ?", [folder])
                database.execute("SET preserve_insertion_order = false")
                database.execute("SET enable_progress_bar = false")
                yield database
        except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.InvalidInputException) as error:
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
        with open_parquet(path) as file:
            rows = file.metadata.num_rows
        starts.append(starts[-1] + rows if numbered_through else number << _FILE_SHIFT)
    database.execute(
        f"""
        CREATE VIEW rows AS
        SELECT source, target, file_index::SMALLINT AS corpus, line,
               list_extract({starts}, (file_index + 1)::BIGINT) + file_row_number AS place
               {"".join(f", {column}" for column in columns)}
        FROM read_parquet([{paths}], file_row_number = true)
        """  # noqa: S608 - the names are quoted, and the columns are the caller's own words
    )


def integer(database: duckdb.DuckDBPyConnection, query: str) -> int:
    """The only value of a query's result."""
    ((value,),) = database.execute(query).fetchall()
    return int(value)


def insert(database: duckdb.DuckDBPyConnection, table: str, rows: pa.Table, columns: str = "*") -> None:
    """Insert rows into a table; `columns` are SQL expressions over the columns of the rows."""
    database.register("new_rows", rows)
    database.execute(f"INSERT INTO {table} SELECT {columns} FROM new_rows")  # noqa: S608
    database.unregister("new_rows")


def drop_duplicates(
    database: duckdb.DuckDBPyConnection, rule: Duplicates = "keep_one", where: str = "true"
) -> None:
    """Make the table `kept` with the `place` of each pair that remains without duplicates.

    With `keep_one`, the first of the pairs with the same source and target is kept. With `drop_all`, all
    pairs are dropped whose value of `raw` is in several rows of their file, as by `sort | uniq -u`. With
    `keep_all`, nothing is dropped. Only rows that satisfy the SQL condition `where` are considered.
    """
    # Group by digests: the texts themselves would all have to be held in memory or spilled to disk.
    grouped = {
        "keep_one": "GROUP BY md5_number(source || chr(10) || target)",
        "drop_all": "GROUP BY corpus, raw HAVING count(*) = 1",
        "keep_all": "GROUP BY place",
    }
    database.execute(
        f"CREATE TABLE kept AS SELECT min(place) AS place FROM rows WHERE {where} {grouped[rule]}"  # noqa: S608
    )


def drop_contaminated(
    database: duckdb.DuckDBPyConnection, contaminated: Sequence[str | Path], kinds: Sequence[str]
) -> None:
    """Remove the pairs with these kinds of contamination from the table `kept`.

    All copies of a pair are contaminated alike, so it does not matter which copy was kept.
    """
    _mark(
        database, contaminated, f"testset <> '{HELD_OUT}' AND list_contains({list(kinds)}::VARCHAR[], kind)"
    )
    drop_rows(database, "marked_rows")


def drop_held_out(
    database: duckdb.DuckDBPyConnection, held_out: str | Path, contaminated: Sequence[str | Path]
) -> int:
    """Remove the pairs of lines that are held out, and those with such a sentence, from the table `kept`.

    Returns:
        How many pairs have a sentence that is nearly the same, if these stay because they are more than a
        tenth of all; otherwise they are removed, too, and it is 0.
    """
    database.execute(
        f"""
        CREATE TABLE held_out_rows AS
        SELECT place FROM rows SEMI JOIN read_parquet({quoted(held_out)}) USING (corpus, line)
        """  # noqa: S608
    )
    drop_rows(database, "held_out_rows")
    _mark(database, contaminated, f"testset = '{HELD_OUT}' AND kind = 'exact'")
    drop_rows(database, "marked_rows")
    _mark(database, contaminated, f"testset = '{HELD_OUT}' AND kind = 'near'")
    kept = integer(database, "SELECT count(*) FROM kept")
    near = integer(database, "SELECT count(*) FROM kept SEMI JOIN marked_rows USING (place)")
    if near > max(_FEW, _MOST_NEAR * kept):
        return near
    drop_rows(database, "marked_rows")
    return 0


def _mark(database: duckdb.DuckDBPyConnection, contaminated: Sequence[str | Path], where: str) -> None:
    """Make the table `marked_rows` of places in files of `mark_contamination` that satisfy a condition."""
    database.execute("CREATE OR REPLACE TABLE marked_rows (place BIGINT)")
    for number, path in enumerate(contaminated):
        database.execute(
            f"""
            INSERT INTO marked_rows
            SELECT ({number}::BIGINT << {_FILE_SHIFT}) + row FROM read_parquet({quoted(path)}) WHERE {where}
            """  # noqa: S608
        )


def drop_rows(database: duckdb.DuckDBPyConnection, table: str) -> None:
    """Remove the places of another table from the table `kept`."""
    database.execute(f"CREATE OR REPLACE TABLE kept AS FROM kept ANTI JOIN {table} USING (place)")


def random_number(seed: int, purpose: str, column: str = "place") -> str:
    """SQL expression for a random integer per value of `column`, the same in every run.

    The purpose is hashed too, so each purpose gets its own numbers, and renaming one changes its choices.
    """
    return f"md5_number_lower('{seed} {purpose} ' || {column})"


def quoted(path: str | Path) -> str:
    """Quote a Parquet file's name for SQL; damage, which DuckDB need not notice, is an `InputError` here."""
    verify_parquet(path)
    return "'{}'".format(str(path).replace("'", "''"))
