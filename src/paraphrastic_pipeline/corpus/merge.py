"""Merge the selected pairs of all corpora: drop duplicates and contaminated pairs, cap, shuffle."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Unpack

import duckdb
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic_pipeline.corpus.blocks import BLOCK_ROWS, write_blocks
from paraphrastic_pipeline.corpus.contamination import HELD_OUT
from paraphrastic_pipeline.corpus.counts import MERGE_REASONS, loss, merge_reasons, warn
from paraphrastic_pipeline.corpus.database import (
    CORPUS,
    FILE_SHIFT,
    MERGED_SCHEMA,
    Resources,
    integer,
    list_rows,
    open_database,
    quoted,
    random_number,
)

# What becomes of pairs that occur more than once.
Duplicates = Literal["keep_one", "drop_all", "keep_all"]
# Rows that are joined with their texts and sorted at a time, per MB of DuckDB's memory.
_ROWS_PER_MB = 50_000
# A sentence in more groups says too little for all of them to mean the same, and each of its pairs would have
# to list them all.
_MOST_GROUPS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """What a merge drops, how much of each corpus it keeps, and what it says about groups.

    Attributes:
        duplicates: `keep_one` keeps the first of the pairs whose source and target are both the same in the
            form that the selection wrote (white space collapsed, perhaps lower-cased), by corpus and then by
            line. `drop_all` drops every copy of a line that a corpus has more than once (the original's
            `sort | uniq -u`); this needs the column `raw`. `keep_all` keeps all.
        drop: kinds of contaminated pairs to leave out: `exact`, `near`.
        max_pairs: most pairs to keep of each corpus, chosen at random after everything else was dropped.
        weights: how often the kept pairs of each corpus are written, 1 or more; with 2.5, a random half is
            written three times and the others twice. `kept` counts each pair once.
        grouped: whether all sentences from the same line of a corpus mean the same. The file then has the
            column `groups` with the numbers of all such groups that a sentence of the pair is in, also by
            pairs that were dropped; a line is a group. A sentence in more than 256 of them counts only in
            that of the pair.
        texts: numbers of corpora without pairs, whose counts are marked `without_pairs`.
    """

    duplicates: Duplicates
    drop: Sequence[str]
    max_pairs: Sequence[int | None]
    weights: Sequence[float]
    grouped: bool = False
    texts: Sequence[int] = ()


def merge_pairs(
    selected: Sequence[str | Path],
    output: str | Path,
    *,
    counts: str | Path,
    contaminated: Sequence[str | Path],
    held_out: str | Path | None = None,
    merging: Merging,
    seed: int,
    **resources: Unpack[Resources],
) -> dict[str, Any]:
    """Write the pairs of all corpora in random order: `source`, `target`, `corpus` (int16), `line`.

    Args:
        selected: Parquet files made by `select_pairs`; `corpus` is the index in this list, from 0.
        output: the Parquet file.
        counts: JSON file with the result, which is also returned: pairs `read`, `duplicates`,
            `contaminated`, `held_out`, `capped` and `kept`, in total and by corpus. If a pair has several
            reasons to be dropped, the first counts.
        contaminated: Parquet files made by `mark_contamination`, one per file of `selected`, or none if
            `merging.drop` is empty and nothing is held out.
        held_out: Parquet file made by `hold_out_pairs` from the same files, whose sentences `contaminated`
            tells, too. All pairs of these lines are left out, and all with such a sentence; with `near` in
            `merging.drop`, also those with one that is nearly the same. None holds out nothing.
        merging: what is dropped, capped and repeated.
        seed: seed for the random choice and order.
        **resources: threads, memory and temporary folder for DuckDB.

    Raises:
        InputError: no pair is left, the disk is full, or the memory is too small.
    """
    with open_database(f"{output}: cannot be merged", **resources) as database:
        list_rows(database, selected, columns=["raw"] if merging.duplicates == "drop_all" else [])
        left = [_count(database, "rows")]
        _drop_duplicates(database, merging.duplicates)
        left.append(_count(database, "kept"))
        _drop_marked(database, contaminated, f"testset <> '{HELD_OUT}'", merging.drop)
        left.append(_count(database, "kept"))
        if held_out:
            database.execute(
                f"""
                CREATE OR REPLACE TABLE kept AS FROM kept ANTI JOIN (
                    SELECT place FROM rows SEMI JOIN read_parquet({quoted(held_out)}) USING (corpus, line)
                ) USING (place)
                """  # noqa: S608
            )
            _drop_marked(database, contaminated, f"testset = '{HELD_OUT}'", ["exact", *merging.drop])
        left.append(_count(database, "kept"))
        _cap(database, merging.max_pairs, seed)
        left.append(_count(database, "kept"))
        result = _describe(selected, left, merging.texts)
        if not result["kept"]:
            names = ", ".join(map(str, selected))
            causes = {"contaminated": "the others occur in a test set", "held_out": "the others are held out"}
            cause = next((causes[reason] for reason in causes if result[reason]), "each has a duplicate")
            raise InputError(f"{names}: no pair is left of {result['read']}: {cause}")
        schema = MERGED_SCHEMA
        if merging.grouped:
            _list_groups(database)
            schema = schema.append(pa.field("groups", pa.list_(pa.int32())))
        with write_blocks(output, schema) as writer:
            for block in _shuffled(database, merging, seed, resources["memory_mb"]):
                writer.write(block.cast(schema))
    write_json(counts, result)
    for corpus in result["corpora"]:
        warn(loss(corpus["file"], corpus["read"], merge_reasons(corpus)))
    return result


def _count(database: duckdb.DuckDBPyConnection, table: str) -> dict[int, int]:
    """Number of rows of a table, by corpus."""
    return dict(database.execute(f"SELECT {CORPUS}, count(*) FROM {table} GROUP BY ALL").fetchall())  # noqa: S608


def _drop_duplicates(database: duckdb.DuckDBPyConnection, rule: Duplicates) -> None:
    """Make the table `kept` with the `place` of each pair that remains without duplicates."""
    # Group by digests: the texts themselves would all have to be held in memory or spilled to disk.
    grouped = {
        "keep_one": "GROUP BY md5_number(source || chr(10) || target)",
        "drop_all": "GROUP BY corpus, raw HAVING count(*) = 1",
        "keep_all": "GROUP BY place",
    }
    database.execute(f"CREATE TABLE kept AS SELECT min(place) AS place FROM rows {grouped[rule]}")  # noqa: S608


def _drop_marked(
    database: duckdb.DuckDBPyConnection, files: Sequence[str | Path], where: str, kinds: Sequence[str]
) -> None:
    """Remove the pairs that files of `mark_contamination` list with these kinds from the table `kept`.

    All copies of a pair are contaminated alike, so it does not matter which copy was kept.
    """
    for number, path in enumerate(files):
        database.execute(
            f"""
            CREATE OR REPLACE TABLE kept AS FROM kept ANTI JOIN (
                SELECT ({number}::BIGINT << {FILE_SHIFT}) + row AS place FROM read_parquet({quoted(path)})
                WHERE {where} AND list_contains({list(kinds)}::VARCHAR[], kind)
            ) USING (place)
            """  # noqa: S608
        )


def _cap(database: duckdb.DuckDBPyConnection, max_pairs: Sequence[int | None], seed: int) -> None:
    """Reduce the table `kept` to at most `max_pairs` random places of each corpus."""
    parts = []
    for number, limit in enumerate(max_pairs):
        part = f"SELECT place FROM kept WHERE {CORPUS} = {number}"  # noqa: S608
        if limit is not None:
            part += f" ORDER BY {random_number(seed, 'cap')}, place LIMIT {limit}"
        parts.append(f"({part})")
    database.execute(f"CREATE OR REPLACE TABLE kept AS {' UNION ALL '.join(parts)}")


def _list_groups(database: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `lines`, which numbers the groups, and `shared` of sentences in several groups."""
    database.execute(
        """
        CREATE TABLE lines AS
        SELECT corpus, line, (row_number() OVER (ORDER BY corpus, line) - 1)::INTEGER AS group_number
        FROM (SELECT DISTINCT corpus, line FROM rows)
        """
    )
    database.execute(
        f"""
        CREATE TABLE shared AS
        SELECT sentence, list(group_number) AS groups FROM (
            SELECT DISTINCT md5_number(unnest([source, target])) AS sentence, group_number
            FROM rows JOIN lines USING (corpus, line)
        ) GROUP BY sentence HAVING count(*) BETWEEN 2 AND {_MOST_GROUPS}
        """  # noqa: S608 - a number of ours
    )


def _shuffled(
    database: duckdb.DuckDBPyConnection, merging: Merging, seed: int, memory_mb: int
) -> Iterator[pa.RecordBatch]:
    """The kept rows in random order, each as often as its corpus weighs."""
    copies = []
    for number, weight in enumerate(merging.weights):
        for copy in range(math.ceil(weight)):
            order = random_number(seed, f"shuffle {copy}" if copy else "shuffle")
            rows = f"SELECT place, {order} AS number FROM kept WHERE {CORPUS} = {number}"  # noqa: S608
            if weight - copy < 1:
                rows += f" AND {random_number(seed, 'weight')} < {int((weight - copy) * 2**64)}"
            copies.append(rows)
    database.execute(f"CREATE TABLE numbered AS {' UNION ALL '.join(copies)}")
    size = integer(database, "SELECT count(*) FROM numbered")
    # DuckDB cannot join and sort more rows at a time in its memory. Reading the files once per slice is
    # faster than storing the texts in between.
    slices = 1 + size // (memory_mb * _ROWS_PER_MB)
    edges = [index * 2**64 // slices for index in range(slices)] + [2**64]
    groups, joined = "", ""
    if merging.grouped:
        every = "[group_number] || coalesce(of_source.groups, []) || coalesce(of_target.groups, [])"
        groups = f", list_sort(list_distinct({every})) AS groups"
        joined = """
            JOIN lines USING (corpus, line)
            LEFT JOIN shared of_source ON of_source.sentence = md5_number(source)
            LEFT JOIN shared of_target ON of_target.sentence = md5_number(target)
        """
    for first, end in pairwise(edges):
        part = database.sql(
            f"""
            SELECT source, target, corpus, line {groups}
            FROM rows JOIN (FROM numbered WHERE number BETWEEN {first} AND {end - 1}) USING (place) {joined}
            ORDER BY number, place
            """  # noqa: S608 - numbers of ours
        )
        yield from part.to_arrow_reader(BLOCK_ROWS)


def _describe(
    selected: Sequence[str | Path], left: Sequence[Mapping[int, int]], texts: Sequence[int]
) -> dict[str, Any]:
    """The counts by reason, from the number of pairs of each corpus that each step has left."""
    corpora: list[dict[str, Any]] = []
    for number, path in enumerate(selected):
        pairs = [counts.get(number, 0) for counts in left]
        dropped = zip(MERGE_REASONS, (before - after for before, after in pairwise(pairs)), strict=True)
        mark = {"without_pairs": True} if number in texts else {}
        corpora.append({"file": str(path), **mark, "read": pairs[0], **dict(dropped), "kept": pairs[-1]})
    totals = {key: sum(corpus[key] for corpus in corpora) for key in ("read", *MERGE_REASONS, "kept")}
    return {**totals, "corpora": corpora}
