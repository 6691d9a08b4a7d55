"""Merge the selected pairs of all corpora: drop duplicates and contaminated pairs, cap, shuffle."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import duckdb
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.corpus.blocks import BLOCK_ROWS, write_blocks
from paraphrastic.corpus.database import (
    MERGED_SCHEMA,
    Resources,
    drop_contaminated,
    drop_duplicates,
    list_rows,
    open_database,
    random_number,
)
from paraphrastic.corpus.near_duplicates import drop_near_duplicates

# Rows that are joined with their texts and sorted at a time, for each MB of DuckDB's.
_ROWS_PER_MB = 50_000


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
    **resources: Unpack[Resources],
) -> dict[str, Any]:
    """Write the pairs of all corpora in random order: `source`, `target`, `corpus` (int16), `line`.

    Pairs are duplicates where source and target are the same, within a corpus or across them, as the
    selection wrote them: lower-cased if so set, white space collapsed.

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
            corpus and line, is nearly the same, as in `drop_near_duplicates`; None keeps them.
        max_pairs: of each corpus, at most so many are kept, chosen at random after duplicates were dropped.
        output: the Parquet file.
        seed: of the choice and of the order.
        **resources: what DuckDB may take.

    Returns:
        The counts.

    Raises:
        InputError: nothing is left; a damaged input; a full disk.
    """
    if duplicates not in ("keep_one", "drop_all"):
        raise ValueError(f"duplicates: {duplicates!r} is neither keep_one nor drop_all")
    purpose = f"{output}: cannot be merged"
    with open_database(purpose, **resources) as database:
        list_rows(database, selected)
        drop_duplicates(database, keep_one=duplicates == "keep_one")
        if near_duplicates:
            drop_near_duplicates(database, **near_duplicates, seed=seed)
        among = "distinct_rows" if near_duplicates else "unique_rows"
        drop_contaminated(database, contaminated, drop, among=among)
        _cap(database, max_pairs, seed)
        result = _count(database, selected, near_duplicates=near_duplicates is not None)
        if not result["kept"]:
            names = ", ".join(map(str, selected))
            cause = "each has a duplicate" if not result["contaminated"] else "the rest stands in a test set"
            raise InputError(f"{names}: no pair is left of {result['read']}: {cause}")
        with write_blocks(output, MERGED_SCHEMA) as writer:
            for block in _shuffled(database, result["kept"], seed, resources["memory_mb"]):
                writer.write(block.cast(MERGED_SCHEMA))
    write_json(counts, result)
    return result


def _cap(database: duckdb.DuckDBPyConnection, max_pairs: Sequence[int | None], seed: int) -> None:
    """Make the table `kept`: of each corpus, at most so many random places."""
    parts = []
    for number, limit in enumerate(max_pairs):
        part = f"SELECT place, number FROM clean_rows WHERE number = {number}"  # noqa: S608
        if limit is not None:
            part += f" ORDER BY {random_number(seed, 'cap')}, place LIMIT {limit}"
        parts.append(f"({part})")
    database.execute(f"CREATE TABLE kept AS {' UNION ALL '.join(parts)}")


def _shuffled(
    database: duckdb.DuckDBPyConnection, size: int, seed: int, memory_mb: int
) -> Iterator[pa.RecordBatch]:
    """The kept rows in random order."""
    number = random_number(seed, "shuffle")
    database.execute(f"CREATE TABLE numbered AS SELECT place, {number} AS number FROM kept")  # noqa: S608
    # More rows at a time are more than DuckDB can join and sort in its memory; reading the files again is
    # quicker than to write the texts down in between.
    slices = 1 + size // (memory_mb * _ROWS_PER_MB)
    edges = [index * 2**64 // slices for index in range(slices)] + [2**64]
    for first, end in pairwise(edges):
        part = database.sql(
            f"""
            SELECT source, target, corpus, line
            FROM rows JOIN (FROM numbered WHERE number BETWEEN {first} AND {end - 1}) USING (place)
            ORDER BY number, place
            """  # noqa: S608 - numbers of ours
        )
        yield from part.to_arrow_reader(BLOCK_ROWS)


def _count(
    database: duckdb.DuckDBPyConnection, selected: Sequence[str | Path], *, near_duplicates: bool
) -> dict[str, Any]:
    def by_corpus(table: str, column: str) -> dict[int, int]:
        query = f"SELECT {column}, count(*) FROM {table} GROUP BY {column}"  # noqa: S608
        return dict(database.execute(query).fetchall())

    # What is left after each step, which says why the others are not.
    left = [
        by_corpus("rows", "corpus"),
        by_corpus("unique_rows", "number"),
        by_corpus("distinct_rows" if near_duplicates else "unique_rows", "number"),
        by_corpus("clean_rows", "number"),
        by_corpus("kept", "number"),
    ]
    reasons = ("duplicates", "near_duplicates", "contaminated", "capped")
    corpora: list[dict[str, int]] = []
    for number in range(len(selected)):
        pairs = [table.get(number, 0) for table in left]
        dropped = (before - after for before, after in pairwise(pairs))
        corpora.append({"read": pairs[0], **dict(zip(reasons, dropped, strict=True)), "kept": pairs[-1]})
    totals = {key: sum(each[key] for each in corpora) for key in ("read", *reasons, "kept")}
    files = [{"file": str(path), **each} for path, each in zip(selected, corpora, strict=True)]
    return {**totals, "corpora": files}
