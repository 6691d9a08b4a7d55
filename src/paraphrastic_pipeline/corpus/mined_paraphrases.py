"""Mine paraphrases from a bitext: different translations of one sentence (Dadas 2022, section III-A)."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Indel

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic_pipeline.base.tables import write_tsv
from paraphrastic_pipeline.corpus.blocks import BLOCK_ROWS, PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.database import Resources, list_rows, open_database, random_number
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.sampling import Samples

_FORM_SCHEMA = pa.schema([("source_form", pa.string()), ("target_form", pa.string()), ("place", pa.int64())])
# Marks and spaces that are taken off a sentence's ends: only one of two translations may be quoted speech.
_MARKS = " \"'`“”„‟«»‹›‘’‚-—–"
# Pairs whose Levenshtein ratio is above this are dropped, such as long sentences with one spelling mistake.
_ALIKE = 0.99
# The distinct targets of each source, and the groups of two or more.
_GROUPS = """
CREATE TABLE sentences AS SELECT source, min(place) AS place FROM pairs GROUP BY source, target;
CREATE TABLE groups AS
SELECT source, count(*) AS sentences, min(place) AS first FROM sentences GROUP BY source HAVING count(*) > 1
"""
_COUNTS = """
SELECT
    (SELECT count(*) FROM pairs) - (SELECT count(*) FROM sentences) AS repeated,
    ((SELECT count(*) FROM sentences) - coalesce(sum(sentences), 0))::BIGINT AS alone,
    count(*) AS groups, coalesce(sum(sentences), 0)::BIGINT AS sentences,
    coalesce(max(sentences), 0) AS largest_group
FROM groups
"""
# The places of the two sentences of each pair, and their group's first one.
_SAMPLED = """
CREATE TABLE sampled AS SELECT place, other, first FROM (
    SELECT
        place, first, row_number() OVER shuffled AS number,
        coalesce(lead(place) OVER shuffled, first_value(place) OVER shuffled) AS other
    FROM sentences JOIN groups USING (source)
    WINDOW shuffled AS (PARTITION BY source ORDER BY {random}, place)
) WHERE number % 2 = 1
"""
_PAIRS = """
SELECT trim(one.target, $marks) AS source, trim(other.target, $marks) AS target, first + 1 AS line
FROM sampled JOIN rows AS one USING (place) JOIN rows AS other ON other.place = sampled.other
ORDER BY sampled.place
"""


def sample_paraphrases(
    measured: Sequence[str | Path],
    pairs: str | Path,
    counts: str | Path,
    examples: str | Path,
    *,
    min_similarity: float,
    seed: int,
    resources: Resources,
) -> dict[str, Any]:
    """Write pairs of targets that have the same source: `source`, `target`, `line`.

    Sources are the same if they differ only in case and white space. Punctuation counts here, because a
    question and a statement have different translations. Within a group, only the first of the targets with
    the same `normal_form.words_of` is kept: pairs that differ only in punctuation teach nothing. Quotation
    marks and dashes at the ends of sentences are taken off.

    The sentences of a group are shuffled and paired two by two; if their number is odd, the last one is
    paired with the first. Then pairs with a Levenshtein ratio above 0.99 are dropped: 1 less the insertions
    and deletions between both sides over their lengths together.

    Args:
        measured: Parquet files made by `measure_similarity`: the shards of all bitexts, in order.
        pairs: the Parquet file. `line` is the number of the first pair of a group in all bitexts together,
            from 1.
        counts: JSON file with the result, which is also returned: pairs `read`, `below_similarity`, `empty`
            (a side has no word), `repeated` (the source had an equal target before) and `alone` (the source
            has no other target); then the `groups`, their `sentences`, the size of the `largest_group`, the
            pairs of them that are too `alike`, and the `pairs` that are left.
        examples: TSV file for people to read: 20 pairs below the similarity, 20 that are too alike and 20
            that are left.
        min_similarity: pairs of the bitext must be more similar than this (0.7 in the paper).
        seed: seed for the pairs and the examples.
        resources: memory, threads and temporary folder for DuckDB.

    Raises:
        InputError: no group has two sentences, or the disk is full.
    """
    samples = Samples(["below_similarity", "alike", "pairs"], seed)
    with open_database(f"{pairs}: cannot be mined", **resources) as database:
        list_rows(database, measured, numbered_through=True)
        empty = _read(database, measured, min_similarity, samples)
        below = samples.counts["below_similarity"]
        result = {"read": samples.read, "below_similarity": below, "empty": empty}
        database.execute(_GROUPS)
        result |= database.sql(_COUNTS).to_arrow_table().to_pylist()[0]
        if not result["groups"]:
            causes = ", ".join(f"{reason} {number}" for reason, number in result.items() if number)
            raise InputError(
                f"{Path(measured[0]).parent}: no source has two different targets among the pairs; {causes}"
            )
        database.execute(_SAMPLED.format(random=random_number(seed, "draw")))
        with write_blocks(pairs, PAIR_SCHEMA) as writer:
            for block in database.sql(_PAIRS, params={"marks": _MARKS}).to_arrow_reader(BLOCK_ROWS):
                sides = zip(*(side.to_pylist() for side in block.columns[:2]), strict=True)
                differ = np.array([Indel.normalized_similarity(*pair) <= _ALIKE for pair in sides], bool)
                samples.add(block, np.where(differ, 2, 1))
                writer.write(block.filter(pa.array(differ)).cast(PAIR_SCHEMA))
    result |= {kind: samples.counts[kind] for kind in ("alike", "pairs")}
    columns = PAIR_SCHEMA.names
    shown = [[kind, *(row[name] for name in columns)] for kind, row in samples.rows("line", "source")]
    write_tsv(examples, ("kind", *columns), shown)
    write_json(counts, result)
    return result


def _read(
    database: duckdb.DuckDBPyConnection,
    measured: Sequence[str | Path],
    min_similarity: float,
    samples: Samples,
) -> int:
    """Make the table `pairs` of pairs to group, and return how many pairs have a side without a word.

    Its columns are the place and the digests of the normalised source and target, since the texts themselves
    would all have to be held in memory. Pairs below the similarity are counted and sampled.
    """
    database.execute("CREATE TABLE pairs (source UHUGEINT, target UHUGEINT, place BIGINT)")
    empty = 0
    for block in chain.from_iterable(map(read_blocks, measured)):
        places = np.arange(samples.read, samples.read + block.num_rows)
        # As in the code of the paper, where the similarity has to be above the threshold.
        similar = block["similarity"].to_numpy() > np.float32(min_similarity)
        samples.add(block.select(PAIR_SCHEMA.names), np.where(similar, -1, 0))
        kept = block.filter(pa.array(similar))
        sides = zip(*(side.to_pylist() for side in kept.columns[:2]), strict=True)
        forms = [
            {"source_form": " ".join(source.lower().split()), "target_form": form, "place": place}
            for place, (source, target) in zip(places[similar].tolist(), sides, strict=True)
            if (form := "".join(words_of(target))) and any(map(str.isalnum, source))
        ]
        database.register("forms", pa.Table.from_pylist(forms, schema=_FORM_SCHEMA))
        database.execute(
            "INSERT INTO pairs SELECT md5_number(source_form), md5_number(target_form), place FROM forms"
        )
        empty += kept.num_rows - len(forms)
    return empty
