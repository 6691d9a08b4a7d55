"""Choose the pairs that a model is not trained on, so that it can be judged by them."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Unpack

import duckdb
import pyarrow as pa

from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.corpus.database import (
    CORPUS,
    MERGED_SCHEMA,
    Resources,
    insert,
    list_rows,
    open_database,
    random_number,
)
from paraphrastic_pipeline.corpus.losses import warn
from paraphrastic_pipeline.corpus.normal_form import words_of

# Few pairs say little, so a small corpus gives so many, but at most a quarter of its lines.
_FEWEST, _LARGEST_SHARE = 10, 0.25
# All pairs with a sentence that is held out leave the training data, so a sentence from more lines stays.
_MOST_LINES = 5
# Lines that are looked at for each one that is needed, since not every pair is suitable.
_CANDIDATES = 8
_ABOUT = ("name", "source_language", "target_language")


class _Candidate(NamedTuple):
    source: str
    target: str
    corpus: int
    line: int


@dataclass(frozen=True, slots=True)
class HeldOutFiles:
    """The files of held-out pairs, which are in random order.

    Attributes:
        pairs: Parquet file with `source`, `target`, `corpus` (int16), `line`, the `name` of the corpus, and
            the languages of the sides, `source_language` and `target_language`.
        table: lines `source TAB target`, which commands such as `paraphrastic score` take.
        sentences: the targets, one per line.
    """

    pairs: str | Path
    table: str | Path
    sentences: str | Path


def hold_out_pairs(
    selected: Sequence[str | Path],
    output: HeldOutFiles,
    *,
    pairs: int,
    share: float,
    corpora: Sequence[tuple[str, Sequence[str]]],
    max_pairs: Sequence[int | None],
    texts: Sequence[int] = (),
    seed: int,
    **resources: Unpack[Resources],
) -> int:
    """Write pairs that are to be kept out of the training data, and return their number, which may be 0.

    Each corpus gives as many as its lines are among all lines that are used. At most one pair comes from a
    line, all of whose pairs may mean the same. No two of the pairs have a sentence in common, not even one
    that is only written otherwise (`normal_form.words_of`), and no sentence is in many lines.

    Args:
        selected: Parquet files made by `select_pairs`; `corpus` is the index in this list, from 0.
        output: the files.
        pairs: number of pairs to hold out.
        share: largest share of all lines; if this is less than ten pairs, ten are held out, or a quarter of
            the lines.
        corpora: name of each corpus, and the languages of source and target.
        max_pairs: most pairs that are used of each corpus.
        texts: the corpora without pairs, of which nothing is held out.
        seed: seed for the choice.
        **resources: threads, memory and temporary folder for DuckDB.

    Raises:
        InputError: an input is damaged, or the disk is full.
    """
    with open_database(f"{output.pairs}: cannot be made", **resources) as database:
        list_rows(database, selected)
        used = [0 if number in texts else most for number, most in enumerate(max_pairs)]
        lines = _lines(database, len(selected), used)
        total = sum(lines)
        wanted = min(pairs, max(int(share * total), min(_FEWEST, int(_LARGEST_SHARE * total))))
        found: list[_Candidate] = []
        seen: set[str] = set()
        for corpus, number in enumerate(_in_proportion(wanted, lines)):
            if number:
                suitable = _suitable(_candidates(database, corpus, _CANDIDATES * number, seed), seen)
                found += islice(suitable, number)
    if not found:
        warn(f"no pair can be held out of {total:,} lines, so the model cannot be judged by its own pairs")
    random.Random(seed).shuffle(found)
    rows = [
        {**each._asdict(), **dict(zip(_ABOUT, (name, *languages), strict=True))}
        for each in found
        for name, languages in [corpora[each.corpus]]
    ]
    schema = pa.schema([*MERGED_SCHEMA, *((name, pa.string()) for name in _ABOUT)])
    write_table(output.pairs, pa.Table.from_pylist(rows, schema=schema))
    _write_lines(output.table, (f"{each.source}\t{each.target}" for each in found))
    _write_lines(output.sentences, (each.target for each in found))
    return len(found)


def _write_lines(path: str | Path, lines: Iterable[str]) -> None:
    with atomic_output(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _lines(database: duckdb.DuckDBPyConnection, corpora: int, max_pairs: Sequence[int | None]) -> list[int]:
    """Number of lines of each corpus, of which no more are used than pairs."""
    query = f"SELECT {CORPUS}, count(DISTINCT line) FROM rows GROUP BY ALL"  # noqa: S608
    counts = dict(database.execute(query).fetchall())
    lines = [counts.get(number, 0) for number in range(corpora)]
    return [count if most is None else min(count, most) for count, most in zip(lines, max_pairs, strict=True)]


def _in_proportion(wanted: int, sizes: Sequence[int]) -> list[int]:
    """Whole numbers in proportion to sizes, whose sum is `wanted`; the largest remainders are rounded up."""
    total = sum(sizes)
    exact = [wanted * size / total for size in sizes] if total else [0.0 for _ in sizes]
    parts = [int(part) for part in exact]
    order = sorted(range(len(sizes)), key=lambda place: (parts[place] - exact[place], place))
    for place in order[: wanted - sum(parts)]:
        parts[place] += 1
    return parts


def _candidates(
    database: duckdb.DuckDBPyConnection, corpus: int, most: int, seed: int
) -> Iterator[_Candidate]:
    """Random pairs of a corpus, each of another line, whose sentences are in few lines."""
    # A line is chosen first, so that one with many pairs is not chosen more often.
    database.execute(
        f"""
        CREATE OR REPLACE TABLE chosen AS
        SELECT place, line, source, target FROM rows
        WHERE {CORPUS} = {corpus} AND line IN (
            SELECT line FROM (SELECT DISTINCT line FROM rows WHERE {CORPUS} = {corpus})
            ORDER BY {random_number(seed, f"hold out {corpus}", "line")}, line LIMIT {most}
        )
        """  # noqa: S608 - numbers of ours
    )
    database.execute("CREATE OR REPLACE TABLE looked_up (sentence VARCHAR)")
    texts = database.sql("SELECT source FROM chosen UNION SELECT target FROM chosen").to_arrow_table()
    insert(database, "looked_up", texts)
    found = database.execute(
        f"""
        WITH frequent AS (
            SELECT sentence FROM (
                SELECT DISTINCT unnest([source, target]) AS sentence, corpus, line FROM rows
            ) SEMI JOIN looked_up USING (sentence)
            GROUP BY sentence HAVING count(*) > {_MOST_LINES}
        )
        SELECT source, target, {corpus}, line FROM chosen
        WHERE source NOT IN (FROM frequent) AND target NOT IN (FROM frequent)
        QUALIFY 1 = row_number() OVER (
            PARTITION BY line ORDER BY {random_number(seed, "hold out of a line")}, place
        )
        ORDER BY {random_number(seed, f"hold out {corpus}", "line")}, line
        """  # noqa: S608
    ).fetchall()
    return map(_Candidate._make, found)


def _suitable(candidates: Iterator[_Candidate], seen: set[str]) -> Iterator[_Candidate]:
    """The candidates whose sentences have words, and no sentence of an earlier one; `seen` has these."""
    for each in candidates:
        forms = {"".join(words_of(each.source)), "".join(words_of(each.target))}
        # The two sides of a paraphrase must differ.
        if len(forms) == 2 and "" not in forms and not forms & seen:
            seen |= forms
            yield each
