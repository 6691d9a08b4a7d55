"""Rank the pairs of a corpus by a measure, cut them into parts, and take a sample of each."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Unpack

import duckdb
import pyarrow.compute as pc

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.corpus.blocks import BLOCK_ROWS, write_blocks
from paraphrastic.corpus.database import (
    MERGED_SCHEMA,
    Resources,
    drop_contaminated,
    drop_duplicates,
    integer,
    list_rows,
    open_database,
    random_number,
)


def rank_pairs(
    candidates: Sequence[str | Path],
    outputs: Sequence[str | Path],
    *,
    summary: str | Path,
    measure: str,
    sample: int,
    contaminated: Sequence[str | Path],
    drop: Sequence[str],
    seed: int,
    **resources: Unpack[Resources],
) -> dict[str, Any]:
    """Write random pairs of each part of the ranking: `source`, `target`, `corpus` (int16), `line`.

    Pairs are ranked from the lowest to the highest value and cut into parts of equal size, as ParaNMT-50M's
    tenths (section 3); where the number of pairs cannot be divided, the first parts have one more. Pairs with
    the same value are ranked at random, so that where a cut falls among them, neither part has more of one
    region of the corpus. Every pair counts once; pairs without a value and contaminated ones not at all.

    Args:
        candidates: Parquet files of `select_pairs` with the column `measure`; `corpus` is the number in this
            list, from 0.
        outputs: a Parquet file for each part, the lowest values first; the pairs of each are shuffled.
        summary: JSON: the `measure`, pairs `read`, without a value (`unscored`), `duplicates`, `contaminated`
            and `ranked`, and of each part its number (`part`, from 1), the lowest and highest value (`min`,
            `max`), the `pairs` in it and how many were `sampled`.
        measure: a column of the candidates.
        sample: pairs taken from each part, or all where it has fewer.
        contaminated: Parquet files of `mark_contamination`, one for each of `candidates`; none where `drop`
            is empty.
        drop: kinds of contaminated pairs to leave out: `exact`, `near`.
        seed: of the sample and of the order.
        **resources: what DuckDB may take.

    Returns:
        What `summary` says.

    Raises:
        InputError: no pair has a value; there are fewer pairs than parts; a damaged input; a full disk.
    """
    purpose = f"{summary}: pairs cannot be ranked"
    with open_database(purpose, **resources) as database:
        list_rows(database, candidates, columns=[measure])
        drop_duplicates(database, keep_one=True, where=f"{measure} IS NOT NULL")
        drop_contaminated(database, contaminated, drop)
        counts = _count(database, measure)
        _check(counts, candidates, measure, len(outputs))
        _rank(database, measure, len(outputs), seed)
        parts = _describe_parts(database, sample)
        _write(database, outputs, sample, seed)
    result = {"measure": measure, **counts, "parts": parts}
    write_json(summary, result)
    return result


def _count(database: duckdb.DuckDBPyConnection, measure: str) -> dict[str, int]:
    read = integer(database, "SELECT count(*) FROM rows")
    scored = integer(database, f"SELECT count({measure}) FROM rows")  # noqa: S608
    unique = integer(database, "SELECT count(*) FROM unique_rows")
    ranked = integer(database, "SELECT count(*) FROM clean_rows")
    return {
        "read": read,
        "unscored": read - scored,
        "duplicates": scored - unique,
        "contaminated": unique - ranked,
        "ranked": ranked,
    }


def _check(counts: dict[str, int], candidates: Sequence[str | Path], measure: str, parts: int) -> None:
    names = ", ".join(map(str, candidates))
    if counts["unscored"] == counts["read"]:
        raise InputError(f"{names}: no pair has a {measure.replace('_', ' ')} to rank by")
    if counts["ranked"] < parts:
        found = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise InputError(f"{names}: too few pairs to cut into {parts} parts: {found}")


def _rank(database: duckdb.DuckDBPyConnection, measure: str, parts: int, seed: int) -> None:
    """Make the table `ranked`: place, value and part (from 1) of every pair that counts."""
    database.execute(
        f"""
        CREATE TABLE ranked AS
        SELECT place, {measure} AS value,
               ntile({parts}) OVER (ORDER BY {measure}, {random_number(seed, "tie")}, place) AS part
        FROM rows JOIN clean_rows USING (place)
        """  # noqa: S608
    )


def _describe_parts(database: duckdb.DuckDBPyConnection, sample: int) -> list[dict[str, Any]]:
    rows = database.execute(
        "SELECT part, min(value), max(value), count(*) FROM ranked GROUP BY part ORDER BY part"
    ).fetchall()
    return [
        {"part": part, "min": low, "max": high, "pairs": pairs, "sampled": min(sample, pairs)}
        for part, low, high, pairs in rows
    ]


def _write(
    database: duckdb.DuckDBPyConnection, outputs: Sequence[str | Path], sample: int, seed: int
) -> None:
    # In one pass over the texts, which are many times the size of all the rest.
    shuffled = database.sql(
        f"""
        WITH sampled AS (
            SELECT place, part FROM ranked QUALIFY
            row_number() OVER (PARTITION BY part ORDER BY {random_number(seed, "draw")}, place) <= {sample}
        )
        SELECT source, target, corpus, line, part FROM rows JOIN sampled USING (place)
        ORDER BY part, {random_number(seed, "shuffle")}, place
        """  # noqa: S608
    )
    with ExitStack() as stack:
        writers = [stack.enter_context(write_blocks(output, MERGED_SCHEMA)) for output in outputs]
        for block in shuffled.to_arrow_reader(BLOCK_ROWS):
            for part in pc.unique(block["part"]).to_pylist():
                rows = block.filter(pc.equal(block["part"], part)).select(MERGED_SCHEMA.names)
                writers[part - 1].write(rows.cast(MERGED_SCHEMA))
