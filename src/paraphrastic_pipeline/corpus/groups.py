"""Groups of sentences that mean the same, and the pairs that are drawn from them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from itertools import groupby, islice
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, BinaryIO

import duckdb
import numpy as np
import pyarrow as pa
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from paraphrastic.base.compressed import COMPRESSED_SUFFIXES
from paraphrastic.base.errors import InputError, cut
from paraphrastic.base.lines import UnreadableRows, aligned_lines, readable_lines
from paraphrastic_pipeline.corpus.blocks import BLOCK_ROWS, READ_ROWS
from paraphrastic_pipeline.corpus.database import Resources, insert, open_database
from paraphrastic_pipeline.corpus.quoted_tables import table_rows
from paraphrastic_pipeline.corpus.tables import RowError, flat_record, parse_rows, readable_text, with_nested
from paraphrastic_pipeline.registry.layouts import GroupLayout

# What tells groups apart, and the sentences of a line or a row.
GroupRow = tuple[tuple[str, ...], list[str]]
# The key of a group, the number of a row, and one of its sentences.
_SENTENCES = pa.schema([("key", pa.string()), ("place", pa.int64()), ("text", pa.string())])
# A row's number, its sentences, and the values by which it is linked to other rows.
_LINKED = pa.schema(
    [("place", pa.int64()), ("texts", pa.list_(pa.string())), ("links", pa.list_(pa.string()))]
)
# The separators of tables by the endings of their names; rows in JSON have none.
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".json": "", ".jsonl": "", ".ndjson": ""}


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


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A stream of text, and its name in messages and for the recognition of its format."""

    stream: BinaryIO
    label: str
    name: str


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


def lines_of_groups(
    name: object, files: Sequence[OpenFile], keys: OpenFile | None, unreadable: UnreadableRows
) -> Iterator[GroupRow]:
    """The key of each line, or its own number, and the sentences of all files in that line.

    Args:
        name: what tells these files from others, since their keys are others, too.
        files: files that are aligned by line.
        keys: a file with the key of each line, if there is one.
        unreadable: where lines that are not text, or have an empty key, are noted.
    """
    every = [*([keys] if keys else []), *files]
    rows = aligned_lines([file.stream for file in every], [file.label for file in every], unreadable)
    for number, texts in rows:
        if keys is None:
            yield (str(name), "", str(number)), list(texts)
        elif texts[0].strip():
            yield (str(name), texts[0]), list(texts[1:])
        else:
            # All lines without a key would be one group.
            unreadable.add(keys.label, number, "has an empty key")


def rows_of_groups(file: OpenFile, layout: GroupLayout, unreadable: UnreadableRows) -> Iterator[GroupRow]:
    """The key of each row of a table, its links to others, or its own number, and its sentences.

    Raises:
        InputError: the table lacks a column of the layout, or its list of rows.
    """
    conditions = dict(layout.where)
    wanted = (*layout.text, *layout.key, *layout.link, *conditions)

    def parse(number: int, record: Mapping[str, Any]) -> GroupRow | None:
        for column in wanted:
            if column not in record:
                raise RowError(f"has no {column}")
        if any(_plain(record[column]) != value for column, value in conditions.items()):
            return None
        texts = [readable_text(record[column], column) for column in layout.text]
        columns = layout.key or layout.link
        for column in columns:
            # All rows without a value would be one group, or linked to each other.
            if (value := record[column]) is None or (isinstance(value, str) and not value.strip()):
                raise RowError(f"has an empty {column}")
        return tuple(_plain(record[column]) for column in columns) or (file.label, "", str(number)), texts

    parsed = parse_rows(_records(file, layout, wanted, unreadable), parse, file.label, unreadable)
    return (row for row in parsed if row is not None)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _records(
    file: OpenFile, layout: GroupLayout, wanted: Sequence[str], unreadable: UnreadableRows
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a table, by column, with their numbers; its name says which kind of table it is."""
    name = PurePosixPath(file.name.lower())
    ending = (name.with_suffix("") if name.suffix in COMPRESSED_SUFFIXES else name).suffix
    if ending not in _SEPARATORS:
        endings = ", ".join(_SEPARATORS)
        raise InputError(f"{file.label}: is no table: its name has none of the endings {endings}")
    if layout.rows and ending != ".json":
        raise InputError(f"{file.label}: rows:{layout.rows} is for .json files, not for {ending}")
    if ending == ".json":
        rows = enumerate(_json_rows(file, layout.rows), start=1)
        yield from parse_rows(rows, lambda number, row: (number, with_nested(row)), file.label, unreadable)
    elif separator := _SEPARATORS[ending]:
        yield from table_rows(file.stream, file.label, separator, wanted, unreadable)
    else:
        lines = (line for line in readable_lines(file.stream, file.label, unreadable) if line[1].strip())
        yield from parse_rows(lines, flat_record, file.label, unreadable)


def _json_rows(file: OpenFile, path: str) -> list[Any]:
    """The objects in the list at `path` of a JSON file, which is read as a whole."""
    try:
        content = json.load(file.stream)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.label}: not JSON: {error}") from None
    for step in path.split(".") if path else []:
        if not isinstance(content, dict) or step not in content:
            held = cut(", ".join(map(str, content))) if isinstance(content, dict) else "no keys"
            raise InputError(f"{file.label}: has no rows in {path}: no {step}; it holds {held}")
        content = content[step]
    if not isinstance(content, list):
        raise InputError(
            f"{file.label}: has no list of rows{f' in {path}' if path else '; name it by rows:…'}"
        )
    return content


def without_keys(rows: Iterable[GroupRow]) -> Iterator[tuple[int, list[str]]]:
    """Groups, with their numbers from 1, if every row is one."""
    return ((number, sentences) for number, (_, sentences) in enumerate(rows, start=1))


def by_key(rows: Iterable[GroupRow], label: str, resources: Resources) -> Iterator[tuple[int, list[str]]]:
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


def by_link(rows: Iterable[GroupRow], label: str, resources: Resources) -> Iterator[tuple[int, list[str]]]:
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
