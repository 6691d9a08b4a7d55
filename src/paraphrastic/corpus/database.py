"""Pairs of several Parquet files in DuckDB, out of core: where they stand, their duplicates, random choice.

A pair's place is the number of its file and its row there in one integer, which orders all pairs. All random
choice is by the MD5 of the seed and the place, so that it depends on neither threads nor memory.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict, Unpack

import duckdb
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import OWNER, remove_leftovers, unwritable_named
from paraphrastic.corpus.blocks import open_parquet

# Pairs of several corpora in one file; `corpus` is the number of the file that they come from.
MERGED_SCHEMA = pa.schema(
    [("source", pa.string()), ("target", pa.string()), ("corpus", pa.int16()), ("line", pa.int64())]
)
# Up to 2^40 rows a file.
_FILE_SHIFT = 40


class Resources(TypedDict):
    """What DuckDB may take: threads, memory, and a folder for what needs more.

    The folder is made if need be and left as it was.
    """

    memory_mb: int
    threads: int
    temporary: str | Path


@contextmanager
def open_database(purpose: str, **resources: Unpack[Resources]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in a folder of its own in `temporary`, which is removed in the end.

    A full disk, too little memory and a damaged file are one line, which begins with the `purpose`: what
    cannot be done where something fails, such as `pairs.parquet: cannot be merged`.
    """
    temporary = resources["temporary"]
    Path(temporary).mkdir(parents=True, exist_ok=True)
    remove_leftovers(Path(temporary), "pairs-")
    with (
        unwritable_named(temporary),
        TemporaryDirectory(dir=temporary, prefix=f"pairs-{OWNER}.") as folder,
        _database_errors(f"{purpose}, with temporary data in {temporary}"),
        duckdb.connect(str(Path(folder) / "pairs.duckdb")) as database,
    ):
        database.execute(f"SET memory_limit = '{resources['memory_mb']}MB'")
        database.execute(f"SET threads = {resources['threads']}")
        database.execute("SET temp_directory = ?", [folder])
        database.execute("SET preserve_insertion_order = false")
        database.execute("SET enable_progress_bar = false")
        yield database


def list_rows(
    database: duckdb.DuckDBPyConnection,
    files: Sequence[str | Path],
    *,
    columns: Sequence[str] = (),
    numbered_through: bool = False,
) -> None:
    """Define the view `rows`: all pairs, read from the files each time.

    Its columns are `source`, `target`, `corpus` (the number of the file), `line`, `place`, and `columns`.
    Shards can be `numbered_through`: then a place does not depend on where one of them ends.
    """
    parts, first = [], 0
    for number, path in enumerate(files):
        parts.append(
            f"""
            SELECT source, target, {number}::SMALLINT AS corpus, line,
                   {first}::BIGINT + file_row_number AS place
                   {"".join(f", {column}" for column in columns)}
            FROM read_parquet({quoted(path)}, file_row_number = true)
            """  # noqa: S608 - the name is quoted, and the columns are the caller's own words
        )
        with open_parquet(path) as file:
            first = first + file.metadata.num_rows if numbered_through else (number + 1) << _FILE_SHIFT
    database.execute(f"CREATE VIEW rows AS {' UNION ALL '.join(parts)}")


def integer(database: duckdb.DuckDBPyConnection, query: str) -> int:
    """The only value of a query's result."""
    ((value,),) = database.execute(query).fetchall()
    return int(value)


def insert(database: duckdb.DuckDBPyConnection, table: str, rows: pa.Table, columns: str = "*") -> None:
    """Insert rows into a table; `columns` are SQL expressions of theirs."""
    database.register("new_rows", rows)
    database.execute(f"INSERT INTO {table} SELECT {columns} FROM new_rows")  # noqa: S608
    database.unregister("new_rows")


def drop_duplicates(database: duckdb.DuckDBPyConnection, *, keep_one: bool, where: str = "true") -> None:
    """Make the table `unique_rows`: place and number (of the file) of the pairs that are no duplicates.

    Pairs with the same source and target are; the first of them is kept, or none. Rows that are not as
    `where` says are left out before.
    """
    # Grouping by the digest, since the texts themselves would have to be held, or spilled, as a whole.
    database.execute(
        f"""
        CREATE TABLE unique_rows AS
        SELECT min(place) AS place, (min(place) >> {_FILE_SHIFT})::SMALLINT AS number
        FROM rows WHERE {where} GROUP BY md5_number(source || chr(10) || target)
        {"" if keep_one else "HAVING count(*) = 1"}
        """  # noqa: S608
    )


def drop_contaminated(
    database: duckdb.DuckDBPyConnection,
    contaminated: Sequence[str | Path],
    kinds: Sequence[str],
    *,
    among: str = "unique_rows",
) -> None:
    """Make the table `clean_rows`: the rows `among` without contamination of these kinds.

    Copies of a pair are contaminated alike, so that it does not matter which of them was kept.
    """
    database.execute("CREATE TABLE contaminated_rows (place BIGINT)")
    for number, path in enumerate(contaminated):
        database.execute(
            f"""
            INSERT INTO contaminated_rows
            SELECT ({number}::BIGINT << {_FILE_SHIFT}) + row FROM read_parquet({quoted(path)})
            WHERE list_contains(?, kind)
            """,  # noqa: S608
            [list(kinds)],
        )
    database.execute(f"CREATE TABLE clean_rows AS FROM {among} ANTI JOIN contaminated_rows USING (place)")


def random_number(seed: int, purpose: str, column: str = "place") -> str:
    """An SQL expression: a random integer of a column, the same in every run, another for each purpose.

    The purpose is hashed: another word for it makes another choice.
    """
    return f"md5_number_lower('{seed} {purpose} ' || {column})"


def quoted(path: str | Path) -> str:
    """A Parquet file's name in SQL; a damaged file is an `InputError`, which names it better than DuckDB."""
    with open_parquet(path):
        name = str(path).replace("'", "''")
    return f"'{name}'"


@contextmanager
def _database_errors(purpose: str) -> Iterator[None]:
    """Make one line of what DuckDB says about a full disk, too little memory or a damaged file."""
    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.InvalidInputException) as error:
        cause = " ".join(str(error).split("\n\n")[0].split())
        raise InputError(f"{purpose}: {cause}") from None
