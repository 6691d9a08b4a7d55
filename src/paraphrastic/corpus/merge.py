"""Merge the selected pairs of all corpora: drop duplicates and contaminated pairs, cap, shuffle."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from paraphrastic.corpus.blocks import BLOCK_ROWS, write_blocks
from paraphrastic.corpus.database import quoted_parquet, random_integer, temporary_database
from paraphrastic.errors import InputError
from paraphrastic.files import write_json

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
        counts: JSON: pairs `read`, `duplicates`, `contaminated`, `capped` and `kept`, in all and by corpus; a
            pair that is both a duplicate and contaminated counts as a duplicate.
        contaminated: Parquet files made by `mark_contamination`, one for each of `selected`; none where
            `drop` is empty.
        drop: kinds of contaminated pairs to leave out: `exact`, `near`.
        duplicates: `keep_one` keeps the copy of the first corpus, there that of the first line;
            `drop_all` drops every copy (the original's `sort | uniq -u`).
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
    with temporary_database(
        output, done="merged", memory_mb=memory_mb, threads=threads, temporary=temporary
    ) as database:
        _list_rows(database, selected)
        _drop_duplicates(database, keep_one=duplicates == "keep_one")
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
                ORDER BY {random_integer(seed, "shuffle")}, place
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
        name = quoted_parquet(path)
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
    """Make the table `clean_rows`: the unique pairs without contamination of these kinds.

    Copies of a pair are contaminated alike, so that it does not matter which of them was kept.
    """
    database.execute("CREATE TABLE contaminated_rows (place BIGINT)")
    for number, path in enumerate(contaminated):
        name = quoted_parquet(path)
        database.execute(
            f"""
            INSERT INTO contaminated_rows
            SELECT ({number}::BIGINT << {_CORPUS_SHIFT}) + row FROM read_parquet('{name}')
            WHERE list_contains(?, kind)
            """,  # noqa: S608
            [list(kinds)],
        )
    database.execute("CREATE TABLE clean_rows AS FROM unique_rows ANTI JOIN contaminated_rows USING (place)")


def _cap(database: duckdb.DuckDBPyConnection, max_pairs: Sequence[int | None], seed: int) -> None:
    """Make the table `kept`: of each corpus, at most so many random places."""
    parts = []
    for number, limit in enumerate(max_pairs):
        part = f"SELECT place, number FROM clean_rows WHERE number = {number}"  # noqa: S608
        if limit is not None:
            part += f" ORDER BY {random_integer(seed, 'cap')}, place LIMIT {limit}"
        parts.append(f"({part})")
    database.execute(f"CREATE TABLE kept AS {' UNION ALL '.join(parts)}")


def _count(database: duckdb.DuckDBPyConnection, selected: Sequence[str | Path]) -> dict[str, Any]:
    def by_corpus(table: str, column: str) -> dict[int, int]:
        query = f"SELECT {column}, count(*) FROM {table} GROUP BY {column}"  # noqa: S608
        return dict(database.execute(query).fetchall())

    read = by_corpus("rows", "corpus")
    unique = by_corpus("unique_rows", "number")
    clean = by_corpus("clean_rows", "number")
    kept = by_corpus("kept", "number")
    corpora = [
        {
            "read": read[number],
            "duplicates": read[number] - unique.get(number, 0),
            "contaminated": unique.get(number, 0) - clean.get(number, 0),
            "capped": clean.get(number, 0) - kept.get(number, 0),
            "kept": kept.get(number, 0),
        }
        for number in range(len(selected))
    ]
    totals = {key: sum(each[key] for each in corpora) for key in corpora[0]}
    files = [{"file": str(path), **each} for path, each in zip(selected, corpora, strict=True)]
    return {**totals, "corpora": files}
