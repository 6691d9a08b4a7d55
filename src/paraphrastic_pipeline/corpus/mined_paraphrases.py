"""Mine paraphrases from a bitext: different translations of one sentence (Dadas 2022, section III-A)."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

import duckdb
import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Indel

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.blocks import BLOCK_ROWS, PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.counts import FilterFiles
from paraphrastic_pipeline.corpus.database import (
    Resources,
    insert,
    integer,
    list_rows,
    open_database,
    random_number,
)
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.sampling import EXAMPLES, Samples

_FORM_SCHEMA = pa.schema([("source_form", pa.string()), ("target_form", pa.string()), ("place", pa.int64())])
_PAIR_COLUMNS = ("similarity", "line", "source", "target")
# Marks and spaces that are taken off a sentence's ends: only one of two translations may be quoted speech.
_MARKS = " \"'`“”„‟«»‹›‘’‚-—–"
# Pairs whose Levenshtein ratio is above this are dropped, such as long sentences with one spelling mistake.
_ALIKE = 0.99
# Most sentences of a group among the examples.
_SHOWN_SENTENCES = 10


def sample_paraphrases(
    measured: Sequence[str | Path],
    files: FilterFiles,
    *,
    min_similarity: float,
    seed: int,
    **resources: Unpack[Resources],
) -> dict[str, Any]:
    """Write pairs of targets that have the same source: `source`, `target`, `line`.

    Sources are the same if they differ only in case and white space. Punctuation counts here, because a
    question and a statement have different translations. Within a group, only the first of the targets with
    the same `normal_form.words_of` is kept: pairs that differ only in punctuation teach nothing. Quotation
    marks and dashes at the ends of sentences are taken off.

    The sentences of a group are shuffled and paired two by two. If their number is odd, the last one is
    paired with the first. So each sentence occurs once, except one of an odd group, and a group of n gives
    n / 2 pairs, rounded up. Then pairs with a Levenshtein ratio above 0.99 are dropped: 1 less the
    insertions and deletions between both sides over their lengths together. The output does not depend on
    how the bitexts are divided into shards.

    Args:
        measured: Parquet files made by `measure_similarity`: the shards of all bitexts, in order.
        files: the files to write. `line` is the same for all pairs of a group: the number of its first pair
            in all bitexts together, from 1. The counts, which are also returned, are pairs `read`,
            `below_similarity`, `empty` (a side has no word), `repeated` (the source had an equal target
            before) and `alone` (the source has no other target); then the `groups`, their `sentences`, the
            size of the `largest_group`, the pairs of them that are too `alike`, and the `pairs` that are
            left. `read` is the sum of the four reasons and the sentences. The examples are 20 groups and as
            many pairs below the similarity.
        min_similarity: pairs of the bitext must be more similar than this (0.7 in the paper).
        seed: seed for the pairs and the examples.
        **resources: memory, threads and temporary folder for DuckDB.

    Raises:
        InputError: no group has two sentences, an input is damaged, or the disk is full.
    """
    below = Samples(["below_similarity"], seed)
    with open_database(f"{files.pairs}: cannot be mined", **resources) as database:
        list_rows(database, measured, columns=["similarity"], numbered_through=True)
        empty = _read(database, measured, min_similarity, below)
        _group(database)
        result = {"read": below.read, **below.counts, "empty": empty, **_count(database)}
        if not result["groups"]:
            reasons = ("below_similarity", "empty", "repeated", "alone")
            causes = ", ".join(f"{reason} {result[reason]}" for reason in reasons if result[reason])
            raise InputError(
                f"{Path(measured[0]).parent}: no source has two different targets among the "
                f"{result['read']} pairs read; {causes or 'the bitext is empty'}"
            )
        _sample(database, seed)
        written = _write_sampled(database, files.pairs)
        sampled = integer(database, "SELECT count(*) FROM sampled")
        result |= {"alike": sampled - written, "pairs": written}
        groups = _example_groups(database, seed)
    shown = [
        [reason, None, None, *(row[name] for name in _PAIR_COLUMNS)] for reason, row in below.rows("place")
    ]
    files.describe(result, ("kind", "group", "sentences", *_PAIR_COLUMNS), [*groups, *shown])
    return result


def _write_sampled(database: duckdb.DuckDBPyConnection, output: str | Path) -> int:
    """Write the pairs of the table `sampled` that are not too alike, and return their number."""
    pairs = database.sql(
        """
        SELECT
            trim(one.target, $marks) AS source,
            trim(other.target, $marks) AS target,
            sampled.first + 1 AS line
        FROM sampled
        JOIN rows AS one ON one.place = sampled.place
        JOIN rows AS other ON other.place = sampled.other
        ORDER BY sampled.place
        """,
        params={"marks": _MARKS},
    )
    written = 0
    with write_blocks(output, PAIR_SCHEMA) as writer:
        for block in pairs.to_arrow_reader(BLOCK_ROWS):
            sides = zip(block["source"].to_pylist(), block["target"].to_pylist(), strict=True)
            kept = block.filter(pa.array([Indel.normalized_similarity(*pair) <= _ALIKE for pair in sides]))
            written += kept.num_rows
            writer.write(kept.cast(PAIR_SCHEMA))
    return written


def _read(
    database: duckdb.DuckDBPyConnection,
    measured: Sequence[str | Path],
    min_similarity: float,
    below: Samples[str],
) -> int:
    """Make the table `pairs` of pairs to group, and return how many pairs have a side without a word.

    Its columns are the place and the digests of the normalised source and target. Pairs below the similarity
    are counted and sampled in `below`.
    """
    # Group by digests: the texts themselves would all have to be held in memory or spilled to disk.
    database.execute("CREATE TABLE pairs (source UHUGEINT, target UHUGEINT, place BIGINT)")
    empty = 0
    for block in chain.from_iterable(map(read_blocks, measured)):
        places = np.arange(below.read, below.read + block.num_rows)
        block = block.append_column("place", pa.array(places))
        # As in the code of the paper, where the similarity has to be above the threshold.
        similar = block["similarity"].to_numpy() > np.float32(min_similarity)
        below.add(block, np.where(similar, -1, 0))
        kept = block.filter(pa.array(similar))
        forms = [
            {"source_form": " ".join(source.lower().split()), "target_form": form, "place": place}
            for source, target, place in zip(
                *(kept[name].to_pylist() for name in ("source", "target", "place")), strict=True
            )
            if (form := "".join(words_of(target))) and any(map(str.isalnum, source))
        ]
        insert(
            database,
            "pairs",
            pa.Table.from_pylist(forms, schema=_FORM_SCHEMA),
            "md5_number(source_form), md5_number(target_form), place",
        )
        empty += kept.num_rows - len(forms)
    return empty


def _group(database: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `sentences`, the distinct targets of each source, and `groups` of two or more."""
    database.execute(
        """
        CREATE TABLE sentences AS SELECT source, min(place) AS place FROM pairs GROUP BY source, target;
        CREATE TABLE groups AS
        SELECT source, count(*) AS sentences, min(place) AS first FROM sentences
        GROUP BY source HAVING count(*) > 1
        """
    )


def _count(database: duckdb.DuckDBPyConnection) -> dict[str, int]:
    kept = integer(database, "SELECT count(*) FROM pairs")
    different = integer(database, "SELECT count(*) FROM sentences")
    query = "SELECT count(*), coalesce(sum(sentences), 0)::BIGINT, coalesce(max(sentences), 0) FROM groups"
    ((groups, grouped, largest),) = database.execute(query).fetchall()
    numbers = {"groups": groups, "sentences": grouped, "largest_group": largest}
    return {"repeated": kept - different, "alone": different - grouped, **numbers}


def _sample(database: duckdb.DuckDBPyConnection, seed: int) -> None:
    """Make the table `sampled`: the places of the two sentences of each pair, and their group's first one."""
    database.execute(
        f"""
        CREATE TABLE sampled AS
        SELECT place, other, first FROM (
            SELECT place, first,
                   row_number() OVER shuffled AS number,
                   coalesce(lead(place) OVER shuffled, first_value(place) OVER shuffled) AS other
            FROM sentences JOIN groups USING (source)
            WINDOW shuffled AS (PARTITION BY source ORDER BY {random_number(seed, "draw")}, place)
        ) WHERE number % 2 = 1
        """  # noqa: S608
    )


def _example_groups(database: duckdb.DuckDBPyConnection, seed: int) -> list[tuple[Any, ...]]:
    """Example rows of random groups; the groups are numbered from 1."""
    return database.execute(
        f"""
        WITH
            chosen AS (
                SELECT source, sentences, row_number() OVER (ORDER BY random, first) AS number FROM (
                    SELECT *, {random_number(seed, "examples", "first")} AS random FROM groups
                    ORDER BY random, first LIMIT {EXAMPLES}
                )
            ),
            shown AS (
                SELECT number, sentences.place, chosen.sentences
                FROM sentences JOIN chosen USING (source)
                QUALIFY row_number() OVER (PARTITION BY number ORDER BY sentences.place) <= {_SHOWN_SENTENCES}
            )
        SELECT 'group', number, sentences, similarity, line, rows.source, target
        FROM shown JOIN rows USING (place)
        ORDER BY number, place
        """  # noqa: S608
    ).fetchall()
