"""Read the files of a corpus, as published or as people have them, into one Parquet file of pairs."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import UnreadableRows, aligned_lines, readable_lines, unreadable_rows
from paraphrastic.corpus.blocks import BLOCK_ROWS, write_blocks
from paraphrastic.corpus.tables import (
    Rows,
    finite_score,
    jsonl_rows,
    parquet_rows,
    parse_rows,
    split_cells,
    tsv_rows,
)
from paraphrastic.corpus.tmx import tmx_rows
from paraphrastic.registry.archive import open_members, open_stream

_log = logging.getLogger(__name__)

_PAIR_FIELDS = [("source", pa.string()), ("target", pa.string()), ("line", pa.int64())]


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of a corpus; `languages` and `members` are those of the registry's row."""

    path: Path
    languages: tuple[str, ...]
    members: tuple[str, ...] = ()


def extract_corpus(
    kind: str,
    files: Sequence[CorpusFile],
    languages: tuple[str, str],
    output: str | Path,
    *,
    max_member_bytes: int,
    unreadable: str | Path | None = None,
    max_unreadable: int = 0,
    block_rows: int = BLOCK_ROWS,
) -> dict[str, int]:
    """Write the pairs of a corpus as Parquet: `source`, `target`, `line` (from 1, in the original).

    Kinds:
        opus: a zip with one member a language, aligned by line.
        aligned: two files, one a language, aligned by line.
        manythings: a zip with lines `text TAB translation [TAB attribution]`.
        paranmt: a zip with lines `reference TAB paraphrase TAB score`.
        captions: k files of one language, aligned by line; every two of the k sentences of a line are a
            pair, k (k - 1) / 2 pairs a line. Sides are swapped in every other pair, so that neither side
            holds the sentences of one annotator.
        tsv, jsonl, parquet: tables with a column a side; the module `tables` says which ones.
        tmx: translation memories, by the languages of their variants.

    Files that are no archives may be compressed with gzip, bzip2 or Zstandard, Parquet apart. Where a file
    has scores they are written as `paraphrase_score` and `translation_score`. Lines end at a newline only,
    with or without a carriage return; a byte order mark is dropped and every control character but NUL
    becomes a space. Pairs with an empty side are kept here: dropping them is for the selection, which counts
    them.

    A row that cannot be read (bytes that are not UTF-8, a NUL character, more than a MiB, a wrong number of
    columns, a score that is no number of float32, broken JSON, a unit without one of the languages) is left
    out and counted; where the corpus is aligned by line, it is left out on all sides.

    Args:
        kind: one of the above.
        files: of the corpus; all but `aligned` and `captions` have one.
        languages: of the sources and of the targets; the same one twice for paraphrases.
        output: the Parquet file.
        max_member_bytes: no file or member may hold more bytes than this, unpacked.
        unreadable: TSV: file, line and cause of every row that was left out.
        max_unreadable: with one more, reading stops.
        block_rows: pairs held in memory; the output does not depend on it.

    Returns:
        How many `lines` were read, how many `pairs` were written, and how many rows were `unreadable`.

    Raises:
        InputError: too many unreadable rows, sides of unequal length, damaged files, the byte order mark of
            another encoding than UTF-8, columns that are not there or there twice, no pairs at all, a full
            disk.
    """
    lines = 0
    with (
        unreadable_rows(unreadable, max_unreadable) as bad,
        _open_rows(kind, files, languages, max_member_bytes, bad) as rows,
    ):
        schema = pa.schema([*_PAIR_FIELDS, *((score, pa.float32()) for score in rows.scores)])
        with write_blocks(output, schema) as writer:
            while block := list(islice(rows.rows, block_rows)):
                columns = zip(*block, strict=True)
                arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
                writer.write(pa.RecordBatch.from_arrays(arrays, schema=schema))
                lines = block[-1][2]
            if not writer.rows:
                names = ", ".join(str(file.path) for file in files)
                cause = f"none of its {bad.count} rows can be read" if bad.count else "no lines"
                raise InputError(f"{names}: the corpus is empty: {cause}")
    counts = {"lines": max(lines, bad.last_line), "pairs": writer.rows, "unreadable": bad.count}
    _log.info("%s: %s", output, ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    return counts


@contextmanager
def _open_rows(
    kind: str,
    files: Sequence[CorpusFile],
    languages: tuple[str, str],
    max_bytes: int,
    unreadable: UnreadableRows,
) -> Iterator[Rows]:
    """Rows `source, target, line[, scores]` of a corpus."""
    first = files[0]
    with ExitStack() as stack:
        if kind == "opus":
            # Each language's member has several possible names: OPUS writes a pair in either order.
            width = len(first.languages)
            names = [first.members[first.languages.index(code) :: width] for code in languages]
            streams = stack.enter_context(open_members(first.path, names, max_bytes=max_bytes))
            labels = [f"{first.path}: {code} side" for code in languages]
            yield Rows(_aligned_rows(streams, labels, unreadable))
        elif kind in ("aligned", "captions"):
            paths = [file.path for file in files]
            if kind == "aligned":
                paths = [next(f.path for f in files if f.languages == (code,)) for code in languages]
            streams = tuple(stack.enter_context(open_stream(path, max_bytes=max_bytes)) for path in paths)
            pairs_of = _aligned_rows if kind == "aligned" else _caption_rows
            yield Rows(pairs_of(streams, list(map(str, paths)), unreadable))
        else:
            rows = _open_pairs(kind, first, max_bytes, unreadable, stack)
            yield rows if languages[0] == first.languages[0] else Rows(_swapped(rows.rows), rows.scores)


def _open_pairs(
    kind: str, file: CorpusFile, max_bytes: int, unreadable: UnreadableRows, stack: ExitStack
) -> Rows:
    """Rows of the kinds that have both sides in one file, in the order of the file's languages."""
    if kind in ("manythings", "paranmt"):
        (stream,) = stack.enter_context(open_members(file.path, [file.members[:1]], max_bytes=max_bytes))
        label = f"{file.path}: {file.members[0]}"
        lines = readable_lines(stream, label, unreadable)
        if kind == "manythings":
            return Rows(parse_rows(lines, _manythings_row, label, unreadable))
        return Rows(parse_rows(lines, _paranmt_row, label, unreadable), ("paraphrase_score",))
    sides = file.languages[0], file.languages[-1]
    if kind == "parquet":
        return parquet_rows(file.path, sides, file.members, unreadable)
    stream = stack.enter_context(open_stream(file.path, max_bytes=max_bytes))
    label = str(file.path)
    if kind == "tsv":
        return tsv_rows(stream, label, file.members, unreadable)
    if kind == "jsonl":
        return jsonl_rows(stream, label, sides, file.members, unreadable)
    if kind == "tmx":
        return Rows(tmx_rows(stream, label, sides, unreadable))
    raise ValueError(f"{kind!r} is not a kind of corpus")


def _swapped(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for one, other, *rest in rows:
        yield other, one, *rest


def _aligned_rows(
    streams: Sequence[BinaryIO], labels: Sequence[str], unreadable: UnreadableRows
) -> Iterator[tuple[str, str, int]]:
    for number, (source, target) in aligned_lines(streams, labels, unreadable):
        yield source, target, number


def _caption_rows(
    streams: Sequence[BinaryIO], labels: Sequence[str], unreadable: UnreadableRows
) -> Iterator[tuple[str, str, int]]:
    for number, sentences in aligned_lines(streams, labels, unreadable):
        for rank, (one, other) in enumerate(combinations(sentences, 2)):
            yield (other, one, number) if (number + rank) % 2 else (one, other, number)


def _manythings_row(number: int, line: str) -> tuple[str, str, int]:
    text, translation, *_ = split_cells(line, (2, 3), "expected text, translation and attribution")
    return text, translation, number


def _paranmt_row(number: int, line: str) -> tuple[str, str, int, float]:
    reference, paraphrase, score = split_cells(line, (3,), "expected reference, paraphrase and score")
    return reference, paraphrase, number, finite_score(score)
