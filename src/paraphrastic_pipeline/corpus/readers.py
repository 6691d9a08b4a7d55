"""Convert the files of a published corpus, or a user's own files, into one Parquet file of pairs."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import kind_of
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, READ_ROWS, write_blocks
from paraphrastic_pipeline.corpus.counts import loss, warn
from paraphrastic_pipeline.corpus.groups import drawn_pairs, read_groups
from paraphrastic_pipeline.corpus.lines import MAX_BYTES, Unreadable, aligned_lines, readable_lines
from paraphrastic_pipeline.corpus.tables import PairRows, pair_rows, scored, tabbed_rows, table_rows
from paraphrastic_pipeline.corpus.tmx import tmx_rows
from paraphrastic_pipeline.registry.archive import open_members, open_stream
from paraphrastic_pipeline.registry.datasets import KINDS


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of a corpus, with the `languages` and `members` of its row in the registry."""

    path: str | Path
    languages: tuple[str, ...]
    members: tuple[str, ...] = ()


_Files = Sequence[CorpusFile]
_Rows = Iterator[tuple[Any, ...]]


def extract_corpus(
    kind: str,
    files: Sequence[CorpusFile],
    languages: tuple[str, str],
    output: str | Path,
    *,
    max_unreadable: float = 0.01,
    seed: int = 1,
) -> dict[str, int]:
    """Write the pairs of a corpus as Parquet: `source`, `target`, `line` (in the original file, from 1).

    A row that cannot be read (bytes that are not UTF-8, a NUL character, more than a MiB, a wrong number of
    columns, a score that float32 cannot hold, broken JSON, a unit without one of the languages) is left out
    and counted, and the first ten are logged. Pairs with an empty side are kept, since the selection drops
    and counts them.

    Args:
        kind: a key of `registry.datasets.KINDS`, which describes the format of the files.
        files: the files of the corpus; tables, archives of bitext and TMX have just one.
        languages: languages of the sources and of the targets; for paraphrases, the same one twice.
        output: the Parquet file.
        max_unreadable: the largest share of the rows that may be unreadable.
        seed: seed of the pairs that are drawn from `groups`; their `line` is the number of a group.

    Returns:
        How many `lines` were read, how many `pairs` were written, and how many rows were `unreadable`.

    Raises:
        InputError: there are too many unreadable rows, sides of unequal length, damaged files, another
            encoding than UTF-8, columns that are missing, no pairs at all, or no disk space.
    """
    unreadable = Unreadable(max_unreadable)
    sides = files[0].languages[0], files[-1].languages[-1]
    if kind == "groups":
        groups = read_groups([Path(file.path) for file in files], files[0].members, unreadable)
        rows = PairRows(drawn_pairs(groups, seed))
    elif kind in _READERS:
        rows = PairRows(_READERS[kind](files, unreadable), KINDS[kind].scores)
    else:
        rows = file_rows(kind, Path(files[0].path), sides, files[0].members, unreadable)
    if languages[0] != sides[0]:
        rows = PairRows(((other, one, *rest) for one, other, *rest in rows.rows), rows.scores)
    schema = pa.schema([*PAIR_SCHEMA, *(pa.field(score, pa.float64()) for score in rows.scores)])
    with write_blocks(output, schema) as writer:
        while block := list(islice(rows.rows, READ_ROWS)):
            columns = zip(*block, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write(pa.RecordBatch.from_arrays(arrays, schema=schema))
        unreadable.check()
        if not writer.rows:
            names = ", ".join(str(file.path) for file in files)
            raise InputError(f"{names}: the corpus is empty: no pairs in {unreadable.rows:,} rows")
    warn(loss(str(output), unreadable.rows, {"unreadable": unreadable.count}))
    counts = {"lines": unreadable.rows, "pairs": writer.rows, "unreadable": unreadable.count}
    logging.info("%s: %s", output, counts)
    return counts


def file_rows(
    kind: str, path: Path, sides: tuple[str, str], columns: Sequence[str], unreadable: Unreadable
) -> PairRows:
    """The rows of a single file, a table or a translation memory, whose sides are in these languages."""
    if kind == "tmx":
        return PairRows(tmx_rows(path, sides, unreadable))
    return pair_rows(kind, path, sides, columns, unreadable)


def _opus(files: _Files, unreadable: Unreadable) -> _Rows:
    # Each language's member has several possible names, since OPUS writes a language pair in either order.
    (file,) = files
    names = [file.members[number :: len(file.languages)] for number in range(len(file.languages))]
    with open_members(file.path, names, max_bytes=MAX_BYTES) as streams:
        labels = [f"{file.path}: {code} side" for code in file.languages]
        yield from ((*sides, number) for number, sides in aligned_lines(streams, labels, unreadable))


def _side_by_side(files: _Files, unreadable: Unreadable) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Numbers and lines of files that are aligned by line."""
    with ExitStack() as opened:
        streams = [opened.enter_context(open_stream(file.path, max_bytes=MAX_BYTES)) for file in files]
        yield from aligned_lines(streams, [str(file.path) for file in files], unreadable)


def _aligned(files: _Files, unreadable: Unreadable) -> _Rows:
    yield from ((*sides, number) for number, sides in _side_by_side(files, unreadable))


def _captions(files: _Files, unreadable: Unreadable) -> _Rows:
    """Pair every two of a line's k sentences, which gives k (k - 1) / 2 pairs per line.

    The sides of every other pair are swapped, so that no side collects the sentences of one annotator.
    """
    for number, sentences in _side_by_side(files, unreadable):
        for rank, (one, other) in enumerate(combinations(sentences, 2)):
            yield (other, one, number) if (number + rank) % 2 else (one, other, number)


def _text(files: _Files, unreadable: Unreadable) -> _Rows:
    """Sentences without pairs, each of which is both sides of a pair; rows of all files have one count."""
    rows = chain.from_iterable(_sentences(file, unreadable) for file in files)
    for number, texts in enumerate(rows, start=1):
        yield from ((text, text, number) for text in texts if text.strip())


def _sentences(file: CorpusFile, unreadable: Unreadable) -> Iterator[Sequence[str]]:
    if not file.members:
        yield from (texts for _, texts in _side_by_side([file], unreadable))
    elif kind_of(file.path):
        yield from (texts for _, texts in table_rows(Path(file.path), file.members, unreadable))
    else:
        yield from (line.split("\t")[:1] for _, line in _member(file, unreadable))


def _member(file: CorpusFile, unreadable: Unreadable) -> Iterator[tuple[int, str]]:
    """The numbered lines of an archive's member."""
    name = file.members[0]
    with open_members(file.path, [name], max_bytes=MAX_BYTES) as (stream,):
        yield from readable_lines(stream, f"{file.path}: {name}", unreadable)


def _lines(widths: Sequence[int], cells: int, files: _Files, unreadable: Unreadable) -> _Rows:
    """Lines of an archive's member, whose first cells are two sides and scores."""
    (file,) = files
    label = f"{file.path}: {file.members[0]}"
    rows = tabbed_rows(_member(file, unreadable), widths, range(cells), label, unreadable)
    yield from scored(rows, label, unreadable)


# Each reader yields `source, target, line[, scores]`, with the sides in the order of the files' languages.
_READERS: dict[str, Callable[[_Files, Unreadable], _Rows]] = {
    "opus": _opus,
    "aligned": _aligned,
    "captions": _captions,
    "text": _text,
    "paranmt": partial(_lines, (3,), 3),
    "manythings": partial(_lines, (2, 3), 2),
}
