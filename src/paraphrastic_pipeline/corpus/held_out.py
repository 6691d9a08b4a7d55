"""Choose the pairs that a model is not trained on, so that it can be judged by them."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.corpus.counts import warn
from paraphrastic_pipeline.corpus.database import (
    MERGED_SCHEMA,
    Resources,
    list_rows,
    open_database,
    random_number,
)
from paraphrastic_pipeline.corpus.normal_form import words_of

# Few pairs say little, so a small corpus gives so many, but at most a quarter of its lines.
_FEWEST, _LARGEST_SHARE = 10, 0.25
# Lines that are looked at for each one that is needed, since not every pair is suitable, and at least.
_CANDIDATES, _LEAST_CANDIDATES = 8, 10_000
# A sentence in more lines is only held out if all that are lost so are at most a quarter.
_FEW = 5
# Random pairs, each of another line, with the number of lines that have one of their sentences, all of which
# leave the training data; pairs with few such lines come first. A line is chosen before a pair of it, so that
# one with many pairs is not chosen more often.
_CHOSEN = """
WITH candidates AS MATERIALIZED (
    SELECT source, target, corpus, line FROM pairs SEMI JOIN (
        SELECT DISTINCT corpus, line FROM pairs ORDER BY {of_line}, corpus, line LIMIT {most}
    ) USING (corpus, line)
    QUALIFY 1 = row_number() OVER (PARTITION BY corpus, line ORDER BY {of_pair}, place)
), counted AS (
    SELECT sentence, count(*) AS lines
    FROM (SELECT DISTINCT unnest([source, target]) AS sentence, corpus, line FROM pairs)
    SEMI JOIN (SELECT unnest([source, target]) AS sentence FROM candidates) USING (sentence)
    GROUP BY sentence
)
SELECT source, target, corpus, line,
    greatest(one.lines, other.lines) AS most, one.lines + other.lines - 1 AS lost
FROM candidates JOIN counted one ON one.sentence = source JOIN counted other ON other.sentence = target
ORDER BY most > {few}, {of_line}, corpus, line
"""
_SCHEMA = pa.schema(
    [*MERGED_SCHEMA, *((name, pa.string()) for name in ("name", "source_language", "target_language"))]
)


def hold_out_pairs(
    selected: Sequence[str | Path],
    pairs: str | Path,
    *,
    table: str | Path,
    sentences: str | Path,
    number: int,
    share: float,
    corpora: Sequence[tuple[str, Sequence[str]]],
    texts: Sequence[int] = (),
    seed: int,
    resources: Resources,
) -> int:
    """Write random pairs that stay out of the training data, and return their number, which may be 0.

    At most one pair comes from a line, all of whose pairs may mean the same. No two of the pairs have a
    sentence in common, not even one that is only written otherwise (`normal_form.words_of`).

    Args:
        selected: Parquet files made by `select_pairs`; `corpus` is the index in this list, from 0.
        pairs: Parquet file with `source`, `target`, `corpus` (int16), `line`, the `name` of the corpus, and
            the languages of the sides, `source_language` and `target_language`, in random order.
        table: the same pairs as lines `source TAB target`, which commands such as `paraphrastic score` take.
        sentences: the targets, one per line.
        number: number of pairs to hold out.
        share: largest share of all lines; if this is less than ten pairs, ten are held out, or a quarter of
            the lines.
        corpora: name of each corpus, and the languages of source and target.
        texts: the corpora without pairs, of which nothing is held out.
        seed: seed for the choice.
        resources: threads, memory and temporary folder for DuckDB.

    Raises:
        InputError: the disk is full, or the memory is too small.
    """
    with open_database(f"{pairs}: cannot be made", **resources) as database:
        list_rows(database, selected)
        without = f"NOT list_contains({list(texts)}::SMALLINT[], corpus)"
        database.execute(f"CREATE VIEW pairs AS FROM rows WHERE {without}")
        ((total,),) = database.execute("SELECT count(DISTINCT (corpus, line)) FROM pairs").fetchall()
        wanted = min(number, max(int(share * total), min(_FEWEST, int(_LARGEST_SHARE * total))))
        of_line = random_number(seed, "hold out", "corpus || ' ' || line")
        of_pair = random_number(seed, "hold out of a line")
        most = max(_CANDIDATES * wanted, _LEAST_CANDIDATES)
        query = _CHOSEN.format(of_line=of_line, of_pair=of_pair, most=most, few=_FEW)
        candidates = database.execute(query).fetchall()
    found: list[tuple[str, str, int, int]] = []
    seen: set[str] = set()
    all_lost = 0
    for source, target, corpus, line, most_lines, lost in candidates:
        forms = {"".join(words_of(text)) for text in (source, target)}
        # Both sides have words, and those of a paraphrase differ.
        is_suitable = len(forms) == 2 and "" not in forms and not forms & seen
        if (
            len(found) < wanted
            and is_suitable
            and (most_lines <= _FEW or all_lost + lost <= _LARGEST_SHARE * total)
        ):
            seen |= forms
            all_lost += lost
            found.append((source, target, corpus, line))
    if len(found) < max(1, wanted):
        why = "since others have no words, or would take too many lines with their sentences along"
        warn(f"{len(found)} of {wanted:,} wanted pairs are held out of {total:,} lines, {why}")
    rows = ((*pair, corpora[pair[2]][0], *corpora[pair[2]][1]) for pair in found)
    named = [dict(zip(_SCHEMA.names, row, strict=True)) for row in rows]
    write_table(pairs, pa.Table.from_pylist(named, schema=_SCHEMA))
    for path, line in ((table, "{0}\t{1}\n"), (sentences, "{1}\n")):
        with atomic_output(path) as temporary:
            temporary.write_text("".join(line.format(*pair) for pair in found), encoding="utf-8")
    return len(found)
