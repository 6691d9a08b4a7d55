"""Merge the selected pairs of all corpora: drop duplicates and contaminated pairs, cap, shuffle."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic_pipeline.corpus.blocks import BLOCK_ROWS, write_blocks
from paraphrastic_pipeline.corpus.contamination import HELD_OUT
from paraphrastic_pipeline.corpus.counts import FEWEST, MERGE_REASONS, loss, merge_reasons, warn
from paraphrastic_pipeline.corpus.database import (
    FILE_SHIFT,
    MERGED_SCHEMA,
    Resources,
    list_rows,
    open_database,
    quoted,
    random_number,
)

# What becomes of pairs that occur more than once.
Duplicates = Literal["keep_one", "drop_all", "keep_all"]
# One pair of those that are the same. Digests are grouped, since the texts would have to be held in memory.
_FIRSTS = {
    "keep_one": "GROUP BY md5_number(source || chr(10) || target)",
    "drop_all": "GROUP BY corpus, raw HAVING count(*) = 1",
    "keep_all": "GROUP BY place",
}
# What becomes of each of them: the first reason to drop it, or `kept`. All copies of a pair are contaminated
# alike, so it does not matter which one this is.
_FATES = """
CREATE TABLE fates AS
SELECT place, corpus, coalesce(reason, if({capped}, 'capped', 'kept')) AS fate
FROM (SELECT min(place) AS place, min(place) >> {shift} AS corpus FROM rows {firsts})
JOIN corpora USING (corpus)
LEFT JOIN (SELECT place, min(reason) AS reason FROM ({marked}) GROUP BY place) USING (place)
"""
_CAPPED = "row_number() OVER (PARTITION BY corpus, reason IS NULL ORDER BY {random}, place) > max_pairs"
# In the order of the alphabet, `contaminated` comes before `held_out`.
_CONTAMINATED = """
SELECT (file_index << {shift}) + row AS place,
    if(testset = '{held_out}', 'held_out', 'contaminated') AS reason
FROM read_parquet({files}) WHERE kind IN {drop} OR (kind = 'exact' AND testset = '{held_out}')
"""
_HELD_OUT = "SELECT place, 'held_out' AS reason FROM rows SEMI JOIN read_parquet({file}) USING (corpus, line)"
# A random number for each copy of a pair: as many as the weight of its corpus, whose last part is a share.
_NUMBERED = """
CREATE TABLE numbered AS
SELECT place, CASE copy WHEN 0 THEN {first} ELSE {others} END AS number FROM (
    SELECT place, unnest(range(copies + ({random} < share)::INTEGER)) AS copy
    FROM fates JOIN corpora USING (corpus) WHERE fate = 'kept'
)
"""
# Rows that are joined with their texts and sorted at a time, per MB of DuckDB's memory.
_ROWS_PER_MB = 10_000
# `lines` numbers the groups, and `shared` has the sentences in several of them. A sentence in more than 256
# says too little for all of them to mean the same, and each of its pairs would have to list them all.
_GROUPS = """
CREATE TABLE lines AS
SELECT corpus, line, (row_number() OVER (ORDER BY corpus, line) - 1)::INTEGER AS group_number
FROM (SELECT DISTINCT corpus, line FROM rows);

CREATE TABLE shared AS
SELECT sentence, list(group_number) AS groups FROM (
    SELECT DISTINCT md5_number(unnest([source, target])) AS sentence, group_number
    FROM rows JOIN lines USING (corpus, line)
) GROUP BY sentence HAVING count(*) BETWEEN 2 AND 256
"""


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
        allow_few: whether fewer than 50 pairs may be left.
    """

    duplicates: Duplicates
    drop: Sequence[str]
    max_pairs: Sequence[int | None]
    weights: Sequence[float]
    grouped: bool = False
    texts: Sequence[int] = ()
    allow_few: bool = False


def merge_pairs(
    selected: Sequence[str | Path],
    pairs: str | Path,
    *,
    counts: str | Path,
    contaminated: Sequence[str | Path],
    held_out: str | Path | None = None,
    merging: Mapping[str, Any],
    seed: int,
    resources: Resources,
) -> dict[str, Any]:
    """Write the pairs of all corpora in random order: `source`, `target`, `corpus` (int16), `line`.

    Args:
        selected: Parquet files made by `select_pairs`; `corpus` is the index in this list, from 0.
        pairs: the Parquet file.
        counts: JSON file with the result, which is also returned: pairs `read`, `duplicates`,
            `contaminated`, `held_out`, `capped` and `kept`, in total and by corpus. If a pair has several
            reasons to be dropped, the first counts.
        contaminated: Parquet files made by `mark_contamination`, one per file of `selected`, or none if
            `drop` is empty and nothing is held out.
        held_out: Parquet file made by `hold_out_pairs` from the same files, whose sentences `contaminated`
            tells, too. All pairs of these lines are left out, and all with such a sentence; with `near` in
            `drop`, also those with one that is nearly the same. None holds out nothing.
        merging: the fields of `Merging`.
        seed: seed for the random choice and order.
        resources: threads, memory and temporary folder for DuckDB.

    Raises:
        InputError: too few pairs are left, the disk is full, or the memory is too small.
    """
    settings = Merging(**merging)
    with open_database(f"{pairs}: cannot be merged", **resources) as database:
        list_rows(database, selected, columns=["raw"] if settings.duplicates == "drop_all" else [])
        _decide(database, contaminated, held_out, settings, seed)
        result = _describe(database, selected, settings.texts)
        if result["kept"] < (1 if settings.allow_few else FEWEST):
            reasons = ", ".join(f"{reason} {result[reason]}" for reason in MERGE_REASONS if result[reason])
            raise InputError(
                f"{', '.join(map(str, selected))}: {result['kept']} of {result['read']} pairs are left to "
                f"train on, after what the filters left out (see the counts beside); dropped here: "
                f"{reasons or 'none'}; for fewer than {FEWEST}, set `allow_few: true` in the definition"
            )
        schema = MERGED_SCHEMA
        if settings.grouped:
            database.execute(_GROUPS)
            schema = schema.append(pa.field("groups", pa.list_(pa.int32())))
        with write_blocks(pairs, schema) as writer:
            for block in _shuffled(database, settings, seed, resources["memory_mb"]):
                writer.write(block.cast(schema))
    write_json(counts, result)
    for corpus in result["corpora"]:
        warn(loss(corpus["file"], corpus["read"], merge_reasons(corpus)))
    return result


def _decide(
    database: duckdb.DuckDBPyConnection,
    contaminated: Sequence[str | Path],
    held_out: str | Path | None,
    merging: Merging,
    seed: int,
) -> None:
    """Make the tables `fates`, of all pairs but the duplicates, and `corpora`, of their settings."""
    database.execute("CREATE TABLE corpora (corpus BIGINT, max_pairs BIGINT, copies INTEGER, share UBIGINT)")
    for number, (most, weight) in enumerate(zip(merging.max_pairs, merging.weights, strict=True)):
        row = [number, most, int(weight), int(weight % 1 * 2**64)]
        database.execute("INSERT INTO corpora VALUES (?, ?, ?, ?)", row)
    marked = ["SELECT 0 AS place, '' AS reason WHERE false"]
    if contaminated:
        files = f"[{', '.join(map(quoted, contaminated))}]"
        kinds = f"{list(merging.drop)}::VARCHAR[]"
        marked.append(_CONTAMINATED.format(shift=FILE_SHIFT, held_out=HELD_OUT, files=files, drop=kinds))
    if held_out:
        marked.append(_HELD_OUT.format(file=quoted(held_out)))
    is_capped = any(most is not None for most in merging.max_pairs)
    database.execute(
        _FATES.format(
            capped=_CAPPED.format(random=random_number(seed, "cap")) if is_capped else "false",
            firsts=_FIRSTS[merging.duplicates],
            marked=" UNION ALL ".join(marked),
            shift=FILE_SHIFT,
        )
    )


def _describe(
    database: duckdb.DuckDBPyConnection, selected: Sequence[str | Path], texts: Sequence[int]
) -> dict[str, Any]:
    """The counts by reason."""
    query = "SELECT corpus, fate, count(*) FROM fates GROUP BY ALL"
    counted = {(corpus, fate): pairs for corpus, fate, pairs in database.execute(query).fetchall()}
    corpora: list[dict[str, Any]] = []
    for number, path in enumerate(selected):
        read = pq.read_metadata(path).num_rows
        fates = {fate: counted.get((number, fate), 0) for fate in (*MERGE_REASONS, "kept")}
        fates["duplicates"] = read - sum(fates.values())
        mark = {"without_pairs": True} if number in texts else {}
        corpora.append({"file": str(path), **mark, "read": read, **fates})
    totals = {key: sum(corpus[key] for corpus in corpora) for key in ("read", *MERGE_REASONS, "kept")}
    return {**totals, "corpora": corpora}


def _shuffled(
    database: duckdb.DuckDBPyConnection, merging: Merging, seed: int, memory_mb: int
) -> Iterator[pa.RecordBatch]:
    """The kept rows in random order, each as often as its corpus weighs."""
    database.execute(
        _NUMBERED.format(
            first=random_number(seed, "shuffle"),
            others=random_number(seed, "shuffle", "copy || ' ' || place"),
            random=random_number(seed, "weight"),
        )
    )
    groups, joined = "", ""
    if merging.grouped:
        every = "[group_number] || coalesce(of_source.groups, []) || coalesce(of_target.groups, [])"
        groups = f", list_sort(list_distinct({every})) AS groups"
        joined = """
            JOIN lines USING (corpus, line)
            LEFT JOIN shared of_source ON of_source.sentence = md5_number(source)
            LEFT JOIN shared of_target ON of_target.sentence = md5_number(target)
        """
    # DuckDB cannot join and sort more rows at a time in its memory.
    ((rows,),) = database.execute("SELECT count(*) FROM numbered").fetchall()
    slices = 1 + rows // (memory_mb * _ROWS_PER_MB)
    width = 2**64 // slices + 1
    for first in range(0, 2**64, width):
        part = database.sql(
            f"""
            SELECT source, target, corpus, line {groups}
            FROM rows JOIN numbered USING (place) {joined}
            WHERE number BETWEEN {first} AND {first + width - 1}
            ORDER BY number, place
            """  # noqa: S608 - numbers of ours
        )
        yield from part.to_arrow_reader(BLOCK_ROWS)
