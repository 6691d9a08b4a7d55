"""A DuckDB database for what does not fit into memory; it leaves nothing behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from paraphrastic.corpus.blocks import open_parquet
from paraphrastic.errors import InputError
from paraphrastic.files import OWNER, full_disk_named, remove_leftovers


@contextmanager
def temporary_database(
    output: str | Path, *, done: str, memory_mb: int, threads: int, temporary: str | Path
) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in a folder of its own, which is removed at the end.

    Args:
        output: what is made, for messages.
        done: what is done to make it, as a participle.
        memory_mb: memory for DuckDB, in MB; what needs more goes to the disk.
        threads: of DuckDB.
        temporary: a folder for that, made if need be and left as it was.

    Raises:
        InputError: a full disk, too little memory, a damaged file; in one line.
    """
    Path(temporary).mkdir(parents=True, exist_ok=True)
    remove_leftovers(Path(temporary), f"{done}-")
    with (
        full_disk_named(temporary),
        TemporaryDirectory(dir=temporary, prefix=f"{done}-{OWNER}.") as folder,
        _errors_in_one_line(output, done, temporary),
        duckdb.connect(str(Path(folder) / "pairs.duckdb")) as database,
    ):
        database.execute(f"SET memory_limit = '{memory_mb}MB'")
        database.execute(f"SET threads = {threads}")
        database.execute("SET temp_directory = ?", [folder])
        database.execute("SET preserve_insertion_order = false")
        database.execute("SET enable_progress_bar = false")
        yield database


def quoted_parquet(path: str | Path) -> str:
    """The path of a Parquet file for a query, without the quotes around it; a damaged file is named."""
    with open_parquet(path):  # names a damaged file better than DuckDB does
        return str(path).replace("'", "''")


def random_integer(seed: int, purpose: str, column: str = "place") -> str:
    """An SQL expression: a random integer of a column, the same in every run, another for each purpose."""
    return f"md5_number_lower('{seed} {purpose} ' || {column})"


@contextmanager
def _errors_in_one_line(output: str | Path, done: str, temporary: str | Path) -> Iterator[None]:
    """Make one line of what DuckDB says about a full disk, too little memory or a damaged file."""
    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.InvalidInputException) as error:
        cause = " ".join(str(error).split("\n\n")[0].split())
        raise InputError(f"{output}: cannot be {done}, with temporary data in {temporary}: {cause}") from None
