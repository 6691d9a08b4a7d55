"""Mine paraphrases from a bitext: translations of the same sentence (Dadas 2022, section III-A)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, write_json
from paraphrastic.corpus.blocks import BLOCK_ROWS, open_parquet, read_blocks, write_blocks
from paraphrastic.corpus.database import open_database, quoted, random_number
from paraphrastic.corpus.normal_form import words_of
from paraphrastic.corpus.sampling import StreamSample

_MINED_SCHEMA = pa.schema([("source", pa.string()), ("target", pa.string()), ("line", pa.int64())])
_EXAMPLE_COLUMNS = ("kind", "group", "sentences", "similarity", "line", "source", "target")
# Of a large group, so many sentences are shown.
_SHOWN_SENTENCES = 10


def sample_paraphrases(
    measured: Sequence[str | Path],
    output: str | Path,
    *,
    counts: str | Path,
    examples: str | Path,
    min_similarity: float,
    seed: int,
    memory_mb: int,
    threads: int,
    temporary: str | Path,
    sample_size: int = 20,
    block_rows: int = BLOCK_ROWS,
) -> dict[str, Any]:
    """Write pairs of targets that have the same source: `source`, `target`, `line`.

    Sources are the same where they agree but for case and white space. Punctuation counts there: a
    question and a statement have different translations. Targets of a group are the same where they agree
    in `normal_form.words_of`, of which the first is kept: a pair that differs in punctuation teaches nothing.

    The sentences of a group are shuffled and taken two by two; of an odd number, the last is paired with the
    first. So every sentence occurs, none but one of a group twice, and a group of n has n / 2 pairs,
    rounded up, however large it is. All random choice is by the MD5 of the seed and the sentence's place in
    the input: the output depends on neither threads, memory nor shards.

    Args:
        measured: made by `measure_similarity`: the shards of all bitexts, in order.
        output: the Parquet file; `line` is that of the bitext's pair which `source` comes from.
        counts: JSON: pairs `read`, those `below_similarity`, `empty` (a side without a word), `repeated` (an
            equal target of the same source came before) and `alone` (its source has no other target);
            then the `groups`, their `sentences`, those of the `largest_group`, and the `pairs` drawn.
            What is read is the sum of the four reasons and the sentences.
        examples: TSV for reading: `sample_size` random groups and as many pairs below the similarity.
        min_similarity: pairs of the bitext with less are dropped (the paper's is 0.7).
        seed: of the draw and of the examples.
        memory_mb: memory for DuckDB, in MB; what needs more goes to the disk.
        threads: of DuckDB.
        temporary: a folder for that, made if need be and left as it was.
        sample_size: groups, and pairs, among the examples.
        block_rows: pairs held in memory; no output depends on it.

    Returns:
        The counts.

    Raises:
        InputError: no group has two sentences; a damaged input; a full disk.
    """
    reading = _Reading(measured, min_similarity, seed, sample_size, block_rows)
    purpose = f"{output}: cannot be mined"
    with open_database(temporary, memory_mb=memory_mb, threads=threads, purpose=purpose) as database:
        _group(database, reading)
        result = _count(database, reading)
        if not result["groups"]:
            reasons = ("below_similarity", "empty", "repeated", "alone")
            causes = ", ".join(f"{reason} {result[reason]}" for reason in reasons if result[reason])
            raise InputError(
                f"{Path(measured[0]).parent}: no source has two different targets, of {result['read']} pairs "
                f"read; {causes or 'the bitext is empty'}"
            )
        _list_rows(database, measured)
        _draw(database, seed)
        result["pairs"] = _number(database, "SELECT count(*) FROM drawn")
        with write_blocks(output, _MINED_SCHEMA) as writer:
            pairs = database.sql(
                """
                SELECT one.target AS source, other.target AS target, one.line AS line
                FROM drawn
                JOIN rows AS one ON one.place = drawn.place
                JOIN rows AS other ON other.place = drawn.other
                ORDER BY drawn.place
                """
            )
            for block in pairs.to_arrow_reader(BLOCK_ROWS):
                writer.write(block.cast(_MINED_SCHEMA))
        table = [*_example_groups(database, seed, sample_size), *reading.below()]
    with atomic_output(examples) as temporary_file:
        rows = "".join("\t".join(cells) + "\n" for cells in (_EXAMPLE_COLUMNS, *table))
        temporary_file.write_text(rows, encoding="utf-8", newline="\n")
    write_json(counts, result)
    return result


class _Reading:
    """Goes once through the pairs, and keeps count of those that cannot be grouped."""

    def __init__(
        self,
        measured: Sequence[str | Path],
        min_similarity: float,
        seed: int,
        sample_size: int,
        block_rows: int,
    ) -> None:
        self.counts = Counter[str]()
        self._measured = measured
        self._bound = np.float32(min_similarity)
        self._block_rows = block_rows
        self._random = np.random.default_rng(seed)
        self._below = StreamSample[tuple[int, list[str]]](sample_size)

    def forms(self) -> Iterator[pa.Table]:
        """Of the pairs that can be grouped: `source_form`, `target_form`, and `place` in the whole input."""
        for path in self._measured:
            for block in read_blocks(path, rows=self._block_rows):
                yield self._forms_of(block)

    def _forms_of(self, block: pa.RecordBatch) -> pa.Table:
        first = self.counts["read"]
        self.counts["read"] += block.num_rows
        similar = block["similarity"].to_numpy() >= self._bound
        self._sample_below(block, similar, first)
        kept = block.filter(pa.array(similar))
        forms = []
        rows = zip(
            kept["source"].to_pylist(), kept["target"].to_pylist(), np.flatnonzero(similar), strict=True
        )
        for source, target, row in rows:
            target_form = "".join(words_of(target))
            if target_form and any(map(str.isalnum, source)):
                forms.append((" ".join(source.lower().split()), target_form, first + int(row)))
            else:
                self.counts["empty"] += 1
        columns = zip(*forms, strict=True) if forms else ([], [], [])
        types = (pa.string(), pa.string(), pa.int64())
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        return pa.table(arrays, names=["source_form", "target_form", "place"])

    def _sample_below(self, block: pa.RecordBatch, similar: np.ndarray[Any, Any], first: int) -> None:
        # One draw a pair, dropped or not: the sample does not depend on how the pairs came in blocks.
        keys = self._random.random(block.num_rows)
        rows = np.flatnonzero(~similar)
        self.counts["below_similarity"] += len(rows)
        for row in rows[self._below.candidates(keys[rows])]:
            values = [block[name][int(row)].as_py() for name in ("similarity", "line", "source", "target")]
            self._below.add(keys[row], (first + int(row), _cells("below_similarity", "", "", *values)))

    def below(self) -> list[list[str]]:
        """Random pairs below the similarity, in their order."""
        return [cells for _, cells in sorted(self._below.items())]


def _group(database: duckdb.DuckDBPyConnection, reading: _Reading) -> None:
    """Make the tables `sentences`, the different ones of each source, and `groups` of two and more."""
    # Grouped by digests, since the texts themselves would have to be held, or spilled, as a whole.
    database.execute("CREATE TABLE pairs (source UHUGEINT, target UHUGEINT, place BIGINT)")
    for forms in reading.forms():
        database.register("forms", forms)
        database.execute(
            "INSERT INTO pairs SELECT md5_number(source_form), md5_number(target_form), place FROM forms"
        )
        database.unregister("forms")
    database.execute(
        "CREATE TABLE sentences AS SELECT source, min(place) AS place FROM pairs GROUP BY source, target"
    )
    database.execute(
        """
        CREATE TABLE groups AS
        SELECT source, count(*) AS sentences, min(place) AS first FROM sentences
        GROUP BY source HAVING count(*) > 1
        """
    )


def _count(database: duckdb.DuckDBPyConnection, reading: _Reading) -> dict[str, Any]:
    kept = _number(database, "SELECT count(*) FROM pairs")
    different = _number(database, "SELECT count(*) FROM sentences")
    grouped = _number(database, "SELECT coalesce(sum(sentences), 0) FROM groups")
    return {
        "read": reading.counts["read"],
        "below_similarity": reading.counts["below_similarity"],
        "empty": reading.counts["empty"],
        "repeated": kept - different,
        "alone": different - grouped,
        "groups": _number(database, "SELECT count(*) FROM groups"),
        "sentences": grouped,
        "largest_group": _number(database, "SELECT coalesce(max(sentences), 0) FROM groups"),
    }


def _number(database: duckdb.DuckDBPyConnection, query: str) -> int:
    ((number,),) = database.execute(query).fetchall()
    return int(number)


def _list_rows(database: duckdb.DuckDBPyConnection, measured: Sequence[str | Path]) -> None:
    """Define the view `rows`: all pairs, read from the files each time, with their place."""
    parts, first = [], 0
    for path in measured:
        parts.append(
            f"""
            SELECT source, target, line, similarity, {first}::BIGINT + file_row_number AS place
            FROM read_parquet({quoted(path)}, file_row_number = true)
            """  # noqa: S608 - the name is quoted, and there is no other input
        )
        with open_parquet(path) as file:
            first += file.metadata.num_rows
    database.execute(f"CREATE VIEW rows AS {' UNION ALL '.join(parts)}")


def _draw(database: duckdb.DuckDBPyConnection, seed: int) -> None:
    """Make the table `drawn`: the places of the two sentences of each pair."""
    database.execute(
        f"""
        CREATE TABLE drawn AS
        SELECT place, other FROM (
            SELECT place,
                   row_number() OVER shuffled AS number,
                   coalesce(lead(place) OVER shuffled, first_value(place) OVER shuffled) AS other
            FROM sentences SEMI JOIN groups USING (source)
            WINDOW shuffled AS (PARTITION BY source ORDER BY {random_number(seed, "draw")}, place)
        ) WHERE number % 2 = 1
        """  # noqa: S608
    )


def _example_groups(database: duckdb.DuckDBPyConnection, seed: int, size: int) -> Iterator[list[str]]:
    """Rows of random groups, numbered from 1."""
    found = database.execute(
        f"""
        WITH
            chosen AS (
                SELECT source, sentences, row_number() OVER (ORDER BY random, first) AS number FROM (
                    SELECT *, {random_number(seed, "examples", "first")} AS random FROM groups
                    ORDER BY random, first LIMIT {size}
                )
            ),
            shown AS (
                SELECT number, sentences.place, chosen.sentences
                FROM sentences JOIN chosen USING (source)
                QUALIFY row_number() OVER (PARTITION BY number ORDER BY sentences.place) <= {_SHOWN_SENTENCES}
            )
        SELECT number, sentences, similarity, line, rows.source, target FROM shown JOIN rows USING (place)
        ORDER BY number, place
        """  # noqa: S608
    )
    yield from (_cells("group", *row) for row in found.fetchall())


def _cells(*values: Any) -> list[str]:
    return [f"{value:.4f}" if isinstance(value, float) else " ".join(str(value).split()) for value in values]
