"""Groups of sentences that mean the same, and the pairs that are drawn from them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from paraphrastic_pipeline.corpus.blocks import BLOCK_ROWS, READ_ROWS
from paraphrastic_pipeline.corpus.database import Resources, insert, open_database
from paraphrastic_pipeline.corpus.group_files import GroupRow
from paraphrastic_pipeline.registry.group_layouts import GroupLayout

# The key of a group, the number of a row, and one of its sentences.
_SENTENCES = pa.schema([("key", pa.string()), ("place", pa.int64()), ("text", pa.string())])
# A row's number, its sentences, and the values by which it is linked to other rows.
_LINKED = pa.schema(
    [("place", pa.int64()), ("texts", pa.list_(pa.string())), ("links", pa.list_(pa.string()))]
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """How pairs are drawn from groups.

    Attributes:
        pairs_per_group: most pairs of one group.
        seed: seed of the draw.
        resources: of the database that gathers the sentences of a key.
    """

    pairs_per_group: int
    seed: int
    resources: Resources

    @classmethod
    def of_rule(cls, settings: Mapping[str, int], resources: Resources) -> "Drawing | None":
        """Make it from a rule's settings, which are empty if the corpus has no groups."""
        return cls(**settings, resources=resources) if settings else None


def drawn_pairs(
    groups: Iterable[tuple[int, Sequence[str]]], *, pairs_per_group: int, seed: int
) -> Iterator[tuple[str, str, int]]:
    """Draw pairs `source, target, group` from groups of sentences, which come with their numbers.

    Sentences that differ only in case and white space count once. The sentences of a group are put into a
    random circle. Neighbours are paired first, beginning with pairs that share no sentence, then sentences
    that are two places apart, and so on. So every sentence of a group is in about as many pairs as any other,
    and in at least one if `pairs_per_group` allows it. Which sentence of a pair is the source does not depend
    on the order of the two in the corpus, so that a pair which is listed in both directions has two copies.
    """
    for number, sentences in groups:
        distinct = {" ".join(text.lower().split()): text for text in reversed(sentences) if text.strip()}
        ranks = {form: _digest(seed, form) for form in distinct}
        order = [distinct[form] for form in sorted(distinct, key=ranks.__getitem__)]
        for one, other in islice(_circle(len(order)), pairs_per_group):
            pair = order[one], order[other]
            yield *(pair if _digest(seed, *sorted(pair))[0] % 2 else pair[::-1]), number


def _circle(n: int) -> Iterator[tuple[int, int]]:
    """All pairs of n places on a circle, each once and with the smaller place first, neighbours first."""
    for distance in range(1, n // 2 + 1):
        # Opposite places are as far apart in both directions.
        starts = range(n // 2) if 2 * distance == n else range(n)
        for part in range(2):
            for start in starts:
                if start // distance % 2 == part:
                    one, other = start, (start + distance) % n
                    yield (one, other) if one < other else (other, one)


def _digest(seed: int, *texts: str) -> bytes:
    return md5("\n".join([str(seed), *texts]).encode(), usedforsecurity=False).digest()


def groups_of(
    rows: Iterable[GroupRow], layout: GroupLayout, label: str, resources: Resources
) -> Iterator[tuple[int, list[str]]]:
    """The groups that rows form, with their numbers; without keys and links, every row is one."""
    if layout.key or layout.keys:
        return _by_key(rows, label, resources)
    if layout.link:
        return _by_link(rows, label, resources)
    return ((number, sentences) for number, (_, sentences) in enumerate(rows, start=1))


def _by_key(rows: Iterable[GroupRow], label: str, resources: Resources) -> Iterator[tuple[int, list[str]]]:
    """Groups of the sentences with equal keys, wherever they are, with the number of their first row."""
    with open_database(f"{label}: the sentences cannot be grouped", **resources) as database:
        database.execute("CREATE TABLE sentences (key UHUGEINT, place BIGINT, text VARCHAR)")
        flat = (
            # Keys may hold any character, so no separator would keep their parts apart.
            {"key": repr(key), "place": place, "text": text}
            for place, (key, texts) in enumerate(rows, start=1)
            for text in texts
        )
        _fill(database, "sentences", flat, _SENTENCES, "md5_number(key), place, text")
        grouped = database.sql(
            """
            SELECT min(place) OVER (PARTITION BY key) AS number, text FROM sentences
            QUALIFY count(*) OVER (PARTITION BY key) > 1
            ORDER BY number, place, text
            """
        )
        for number, members in groupby(_rows(grouped), key=itemgetter(0)):
            yield number, [text for _, text in members]


def _by_link(rows: Iterable[GroupRow], label: str, resources: Resources) -> Iterator[tuple[int, list[str]]]:
    """The sentences of each row, with the number of the first row that it is linked to, through others, too.

    Rows are linked by a value that both have in any of the columns. Pairs are drawn from each row by itself,
    since sentences that are linked by many others need not be good pairs.
    """
    with open_database(f"{label}: the rows cannot be linked", **resources) as database:
        database.execute("CREATE TABLE rows (place BIGINT, texts VARCHAR[], links UHUGEINT[])")
        numbered = (
            {"place": place, "texts": texts, "links": links}
            for place, (links, texts) in enumerate(rows, start=1)
        )
        links = "list_transform(links, lambda each: md5_number(each))"
        _fill(database, "rows", numbered, _LINKED, f"place, texts, {links}")
        edges = database.sql(
            """
            SELECT place, dense_rank() OVER (ORDER BY link) AS link
            FROM (SELECT place, unnest(links) AS link FROM rows)
            """
        ).fetchnumpy()
        # Rows come first among the nodes of the graph, then the values that link them; both count from 1.
        place, link = edges["place"], edges["link"]
        size = int(place.max(initial=0))
        nodes = size + int(link.max(initial=0))
        graph = scipy.sparse.coo_array(
            (np.ones(len(place), bool), (place - 1, size + link - 1)), shape=(nodes, nodes)
        )
        _, components = connected_components(graph, directed=False)
        _, first, of_row = np.unique(components[:size], return_index=True, return_inverse=True)
        numbers = (first[of_row] + 1).tolist()
        for row, texts in _rows(database.sql("SELECT place, texts FROM rows ORDER BY place")):
            yield numbers[row - 1], texts


def _fill(
    database: duckdb.DuckDBPyConnection,
    table: str,
    rows: Iterator[dict[str, Any]],
    schema: pa.Schema,
    columns: str,
) -> None:
    """Insert rows into a table, block by block; `columns` are SQL expressions over their columns."""
    while block := list(islice(rows, READ_ROWS)):
        insert(database, table, pa.Table.from_pylist(block, schema=schema), columns)


def _rows(query: duckdb.DuckDBPyRelation) -> Iterator[tuple[Any, ...]]:
    """The rows of a query, which are read block by block."""
    for block in query.to_arrow_reader(BLOCK_ROWS):
        yield from zip(*(column.to_pylist() for column in block.columns), strict=True)
