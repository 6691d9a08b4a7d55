"""Rank the pairs of a corpus by a measure, cut the ranking into parts, and take a sample of each."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Unpack

import duckdb
import pyarrow.compute as pc

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic_pipeline.corpus.blocks import BLOCK_ROWS, write_blocks
from paraphrastic_pipeline.corpus.database import (
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
    """Write random pairs from each part of the ranking: `source`, `target`, `corpus` (int16), `line`.

    Pairs are ranked from the lowest to the highest value and cut into parts of equal size, like the tenths of
    ParaNMT-50M (section 3); if the pairs do not divide evenly, the first parts have one more. Pairs with the
    same value are ranked at random: if a cut falls among them, neither part gets more of one region of the
    corpus. Duplicates count once; pairs without a value and contaminated pairs do not count.

    Args:
        candidates: Parquet files made by `select_pairs` with the column `measure`; `corpus` is the index in
            this list, from 0.
        outputs: one Parquet file per part, the lowest values first; the pairs of each are shuffled.
        summary: JSON file with the result, which is also returned: the `measure`; pairs `read`, `unscored`
            (without a value), `duplicates`, `contaminated` and `ranked`; and for each part its number
            (`part`, from 1), lowest and highest value (`min`, `max`), `pairs` and `sampled` pairs.
        measure: a column of the candidates.
        sample: number of pairs to draw from each part; a smaller part is taken as a whole.
        contaminated: Parquet files made by `mark_contamination`, one per file of `candidates`, or none if
            `drop` is empty.
        drop: kinds of contaminated pairs to leave out: `exact`, `near`.
        seed: seed for the sample and its order.
        **resources: memory, threads and temporary folder for DuckDB.

    Raises:
        InputError: no pair has a value, pairs are fewer than parts, an input is damaged, the disk is full.
    """
    with open_database(f"{summary}: pairs cannot be ranked", **resources) as database:
        list_rows(database, candidates, columns=[measure])
        read = integer(database, "SELECT count(*) FROM rows")
        scored = integer(database, f"SELECT count({measure}) FROM rows")  # noqa: S608
        names = ", ".join(map(str, candidates))
        if not scored:
            raise InputError(f"{names}: no pair has a {measure.replace('_', ' ')} to rank by")
        drop_duplicates(database, where=f"{measure} IS NOT NULL")
        unique = integer(database, "SELECT count(*) FROM kept")
        drop_contaminated(database, contaminated, drop)
        ranked = integer(database, "SELECT count(*) FROM kept")
        counts = {
            "read": read,
            "unscored": read - scored,
            "duplicates": scored - unique,
            "contaminated": unique - ranked,
            "ranked": ranked,
        }
        if ranked < len(outputs):
            reasons = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise InputError(f"{names}: too few pairs to cut into {len(outputs)} parts: {reasons}")
        _rank(database, measure, len(outputs), seed)
        query = "SELECT part, min(value), max(value), count(*) FROM ranked GROUP BY part ORDER BY part"
        parts = [
            {"part": part, "min": low, "max": high, "pairs": pairs, "sampled": min(sample, pairs)}
            for part, low, high, pairs in database.execute(query).fetchall()
        ]
        _write(database, outputs, sample, seed)
    result = {"measure": measure, **counts, "parts": parts}
    write_json(summary, result)
    return result


def _rank(database: duckdb.DuckDBPyConnection, measure: str, parts: int, seed: int) -> None:
    """Make the table `ranked` with place, value and part (from 1) of every pair that counts."""
    database.execute(
        f"""
        CREATE TABLE ranked AS
        SELECT place, {measure} AS value,
               ntile({parts}) OVER (ORDER BY {measure}, {random_number(seed, "tie")}, place) AS part
        FROM rows JOIN kept USING (place)
        """  # noqa: S608
    )


def _write(
    database: duckdb.DuckDBPyConnection, outputs: Sequence[str | Path], sample: int, seed: int
) -> None:
    # One pass over the texts, since they are many times larger than everything else.
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
