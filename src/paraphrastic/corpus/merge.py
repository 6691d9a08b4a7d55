"""Merge the selected pairs of all corpora: drop duplicates and contaminated pairs, cap, shuffle."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa

from paraphrastic.corpus.blocks import BLOCK_ROWS, open_parquet, write_blocks
from paraphrastic.corpus.near_duplicates import mark_near_duplicates
from paraphrastic.errors import InputError
from paraphrastic.files import OWNER, full_disk_named, remove_leftovers, write_json

_MERGED_SCHEMA = pa.schema(
    [("source", pa.string()), ("target", pa.string()), ("corpus", pa.int16()), ("line", pa.int64())]
)
# Corpus and row of a pair in one integer, which orders all pairs: up to 2^40 rows a corpus.
_CORPUS_SHIFT = 40


def merge_pairs(
    selected: Sequence[str | Path],
    output: str | Path,
    *,
    counts: str | Path,
    contaminated: Sequence[str | Path],
    drop: Sequence[str],
    duplicates: str,
    near_duplicates: Mapping[str, Any] | None,
    max_pairs: Sequence[int | None],
    seed: int,
    memory_mb: int,
    threads: int,
    temporary: str | Path,
) -> dict[str, Any]:
    """Write the pairs of all corpora in random order: `source`, `target`, `corpus` (int16), `line`.

    Pairs are duplicates where source and target are the same, within a corpus or across them, as the
    selection wrote them: lower-cased if so set, white space collapsed. All random choice is by the MD5 of
    the seed and the pair's place, so the output depends on neither threads nor memory.

    Args:
        selected: Parquet files made by `select_pairs`; `corpus` is the number in this list, from 0.
        counts: JSON: pairs `read`, `duplicates`, `near_duplicates`, `contaminated`, `capped` and `kept`, in
            all and by corpus; a pair that is several of these counts as the first.
        contaminated: Parquet files made by `mark_contamination`, one for each of `selected`; none where
            `drop` is empty.
        drop: kinds of contaminated pairs to leave out: `exact`, `near`.
        duplicates: `keep_one` keeps the copy of the first corpus, there that of the first line;
            `drop_all` drops every copy (the original's `sort | uniq -u`).
        near_duplicates: `ngram` and `min_similarity` of pairs that are left out because an earlier one, by
            corpus and line, is nearly the same, as in `mark_near_duplicates`; None keeps them.
        max_pairs: of each corpus, at most so many are kept, drawn at random after duplicates were dropped.
        output: the Parquet file.
        seed: of the draw and of the order.
        memory_mb: memory for DuckDB, in MB; what needs more goes to the disk.
        threads: of DuckDB.
        temporary: a folder for that, made if need be and left empty.

    Returns:
        The counts.

    Raises:
        InputError: nothing is left; a damaged input; a full disk.
    """
    if duplicates not in ("keep_one", "drop_all"):
        raise ValueError(f"duplicates: {duplicates!r} is neither keep_one nor drop_all")
    Path(temporary).mkdir(parents=True, exist_ok=True)
    remove_leftovers(Path(temporary), "merge-")
    with (
        full_disk_named(temporary),
        TemporaryDirectory(dir=temporary, prefix=f"merge-{OWNER}.") as folder,
        _database_errors(output, temporary),
        duckdb.connect(str(Path(folder) / "pairs.duckdb")) as database,
    ):
        database.execute(f"SET memory_limit = '{memory_mb}MB'")
        database.execute(f"SET threads = {threads}")
        database.execute("SET temp_directory = ?", [folder])
        database.execute("SET preserve_insertion_order = false")
        database.execute("SET enable_progress_bar = false")
        _list_rows(database, selected)
        _drop_duplicates(database, keep_one=duplicates == "keep_one")
        database.execute("CREATE TABLE near_rows (place BIGINT)")
        if near_duplicates:
            mark_near_duplicates(database, **near_duplicates, seed=seed)
        database.execute("CREATE TABLE distinct_rows AS FROM unique_rows ANTI JOIN near_rows USING (place)")
        _drop_contaminated(database, contaminated, drop)
        _cap(database, max_pairs, seed)
        result = _count(database, selected)
        if not result["kept"]:
            names = ", ".join(map(str, selected))
            cause = "each has a duplicate" if not result["contaminated"] else "the rest stands in a test set"
            raise InputError(f"{names}: no pair is left of {result['read']}: {cause}")
        with write_blocks(output, _MERGED_SCHEMA) as writer:
            shuffled = database.sql(
                f"""
                SELECT source, target, corpus, line FROM rows JOIN kept USING (place)
                ORDER BY {_random(seed, "shuffle")}, place
                """  # noqa: S608
            )
            for block in shuffled.to_arrow_reader(BLOCK_ROWS):
                writer.write(block.cast(_MERGED_SCHEMA))
    write_json(counts, result)
    return result


def _list_rows(database: duckdb.DuckDBPyConnection, selected: Sequence[str | Path]) -> None:
    """Define the view `rows`: all pairs, read from the files each time, with their place."""
    parts = []
    for number, path in enumerate(selected):
        with open_parquet(path):  # names a damaged file better than DuckDB does
            name = str(path).replace("'", "''")
        parts.append(
            f"""
            SELECT source, target, {number}::SMALLINT AS corpus, line,
                   ({number}::BIGINT << {_CORPUS_SHIFT}) + file_row_number AS place
            FROM read_parquet('{name}', file_row_number = true)
            """  # noqa: S608 - the name is quoted, and there is no other input
        )
    database.execute(f"CREATE VIEW rows AS {' UNION ALL '.join(parts)}")


def _drop_duplicates(database: duckdb.DuckDBPyConnection, *, keep_one: bool) -> None:
    """Make the table `unique_rows`: place and corpus of the pairs that are not dropped as duplicates."""
    # Grouping by the digest, since the texts themselves would have to be held, or spilled, as a whole.
    database.execute(
        f"""
        CREATE TABLE unique_rows AS
        SELECT min(place) AS place, (min(place) >> {_CORPUS_SHIFT})::SMALLINT AS number
        FROM rows GROUP BY md5_number(source || chr(10) || target)
        {"" if keep_one else "HAVING count(*) = 1"}
        """  # noqa: S608
    )


def _drop_contaminated(
    database: duckdb.DuckDBPyConnection, contaminated: Sequence[str | Path], kinds: Sequence[str]
) -> None:
    """Make the table `clean_rows`: the distinct pairs without contamination of these kinds.

    Copies of a pair are contaminated alike, so that it does not matter which of them was kept.
    """
    database.execute("CREATE TABLE contaminated_rows (place BIGINT)")
    for number, path in enumerate(contaminated):
        with open_parquet(path):
            name = str(path).replace("'", "''")
        database.execute(
            f"""
            INSERT INTO contaminated_rows
            SELECT ({number}::BIGINT << {_CORPUS_SHIFT}) + row FROM read_parquet('{name}')
            WHERE list_contains(?, kind)
            """,  # noqa: S608
            [list(kinds)],
        )
    database.execute(
        "CREATE TABLE clean_rows AS FROM distinct_rows ANTI JOIN contaminated_rows USING (place)"
    )


def _cap(database: duckdb.DuckDBPyConnection, max_pairs: Sequence[int | None], seed: int) -> None:
    """Make the table `kept`: of each corpus, at most so many random places."""
    parts = []
    for number, limit in enumerate(max_pairs):
        part = f"SELECT place, number FROM clean_rows WHERE number = {number}"  # noqa: S608
        if limit is not None:
            part += f" ORDER BY {_random(seed, 'cap')}, place LIMIT {limit}"
        parts.append(f"({part})")
    database.execute(f"CREATE TABLE kept AS {' UNION ALL '.join(parts)}")


def _random(seed: int, purpose: str) -> str:
    """An SQL expression: a random integer of a place, the same in every run, another for each purpose."""
    return f"md5_number_lower('{seed} {purpose} ' || place)"


def _count(database: duckdb.DuckDBPyConnection, selected: Sequence[str | Path]) -> dict[str, Any]:
    def by_corpus(table: str, column: str) -> dict[int, int]:
        query = f"SELECT {column}, count(*) FROM {table} GROUP BY {column}"  # noqa: S608
        return dict(database.execute(query).fetchall())

    read = by_corpus("rows", "corpus")
    unique = by_corpus("unique_rows", "number")
    distinct = by_corpus("distinct_rows", "number")
    clean = by_corpus("clean_rows", "number")
    kept = by_corpus("kept", "number")
    corpora = [
        {
            "read": read[number],
            "duplicates": read[number] - unique.get(number, 0),
            "near_duplicates": unique.get(number, 0) - distinct.get(number, 0),
            "contaminated": distinct.get(number, 0) - clean.get(number, 0),
            "capped": clean.get(number, 0) - kept.get(number, 0),
            "kept": kept.get(number, 0),
        }
        for number in range(len(selected))
    ]
    totals = {key: sum(each[key] for each in corpora) for key in corpora[0]}
    files = [{"file": str(path), **each} for path, each in zip(selected, corpora, strict=True)]
    return {**totals, "corpora": files}


@contextmanager
def _database_errors(output: str | Path, temporary: str | Path) -> Iterator[None]:
    """Make one line of what DuckDB says about a full disk, too little memory or a damaged file."""
    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.InvalidInputException) as error:
        cause = " ".join(str(error).split("\n\n")[0].split())
        raise InputError(f"{output}: cannot be merged, with temporary data in {temporary}: {cause}") from None
