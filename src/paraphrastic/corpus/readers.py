"""Read the files of a corpus, as published or as people have them, into one Parquet file of pairs."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import UnreadableRows, aligned_lines, readable_lines, unreadable_rows
from paraphrastic.corpus.blocks import READ_ROWS, write_blocks
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

    Returns:
        How many `lines` were read, how many `pairs` were written, and how many rows were `unreadable`.

    Raises:
        InputError: too many unreadable rows, sides of unequal length, damaged files, the byte order mark of
            another encoding than UTF-8, columns that are not there or there twice, no pairs at all, a full
            disk.
    """
    lines = 0
    with unreadable_rows(unreadable, max_unreadable) as bad, ExitStack() as opened:
        rows = _read(kind, _Source(files, languages, max_member_bytes, bad, opened))
        schema = pa.schema([*_PAIR_FIELDS, *((score, pa.float32()) for score in rows.scores)])
        with write_blocks(output, schema) as writer:
            while block := list(islice(rows.rows, READ_ROWS)):
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


@dataclass(frozen=True, slots=True)
class _Source:
    """The files of a corpus while they are read, whose streams `opened` closes at the end."""

    files: Sequence[CorpusFile]
    languages: tuple[str, str]
    max_bytes: int
    unreadable: UnreadableRows
    opened: ExitStack

    @property
    def label(self) -> str:
        """What the first file is called in messages."""
        return str(self.files[0].path)

    @property
    def sides(self) -> tuple[str, str]:
        """The languages of the first file's two sides, in its own order."""
        languages = self.files[0].languages
        return languages[0], languages[-1]

    def stream(self, file: CorpusFile | None = None) -> BinaryIO:
        """The content of a file, by default the first, which may be compressed."""
        path = (file or self.files[0]).path
        return self.opened.enter_context(open_stream(path, max_bytes=self.max_bytes))

    def members(self, names: Sequence[tuple[str, ...]]) -> Sequence[BinaryIO]:
        """Members of the first file, an archive; each is given by the names that it may have."""
        return self.opened.enter_context(open_members(self.files[0].path, names, max_bytes=self.max_bytes))

    def aligned(self, files: Sequence[CorpusFile]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Numbers and lines of files that are aligned by line."""
        labels = [str(file.path) for file in files]
        return aligned_lines([self.stream(file) for file in files], labels, self.unreadable)

    def rows_of_lines(self, parse: Callable[[int, str], Any]) -> Iterator[Any]:
        """The rows of an archive whose member has a line for each pair."""
        name, *_ = self.files[0].members
        (stream,) = self.members([(name,)])
        label = f"{self.label}: {name}"
        return parse_rows(readable_lines(stream, label, self.unreadable), parse, label, self.unreadable)


def _opus(source: _Source) -> Rows:
    # Each language's member has several possible names: OPUS writes a pair in either order.
    first, width = source.files[0], len(source.files[0].languages)
    names = [first.members[first.languages.index(code) :: width] for code in source.languages]
    labels = [f"{source.label}: {code} side" for code in source.languages]
    return Rows(_pairs(aligned_lines(source.members(names), labels, source.unreadable)))


def _aligned(source: _Source) -> Rows:
    files = [next(f for f in source.files if f.languages == (code,)) for code in source.languages]
    return Rows(_pairs(source.aligned(files)))


def _pairs(lines: Iterator[tuple[int, tuple[str, ...]]]) -> Iterator[tuple[str, str, int]]:
    for number, (source, target) in lines:
        yield source, target, number


def _captions(source: _Source) -> Rows:
    def pairs() -> Iterator[tuple[str, str, int]]:
        for number, sentences in source.aligned(source.files):
            for rank, (one, other) in enumerate(combinations(sentences, 2)):
                yield (other, one, number) if (number + rank) % 2 else (one, other, number)

    return Rows(pairs())


def _paranmt(source: _Source) -> Rows:
    def parse(number: int, line: str) -> tuple[str, str, int, float]:
        reference, paraphrase, score = split_cells(line, (3,), "expected reference, paraphrase and score")
        return reference, paraphrase, number, finite_score(score)

    return Rows(source.rows_of_lines(parse), ("paraphrase_score",))


def _manythings(source: _Source) -> Rows:
    def parse(number: int, line: str) -> tuple[str, str, int]:
        text, translation, *_ = split_cells(line, (2, 3), "expected text, translation and attribution")
        return text, translation, number

    return Rows(source.rows_of_lines(parse))


def _tsv(source: _Source) -> Rows:
    return tsv_rows(source.stream(), source.label, source.files[0].members, source.unreadable)


def _jsonl(source: _Source) -> Rows:
    return jsonl_rows(source.stream(), source.label, source.sides, source.files[0].members, source.unreadable)


def _parquet(source: _Source) -> Rows:
    first = source.files[0]
    return parquet_rows(first.path, source.sides, first.members, source.unreadable)


def _tmx(source: _Source) -> Rows:
    return Rows(tmx_rows(source.stream(), source.label, source.sides, source.unreadable))


# Readers whose rows have the order of the languages that are asked for, and those whose rows have the file's.
_READERS = {"opus": _opus, "aligned": _aligned, "captions": _captions, "paranmt": _paranmt}
_READERS_OF_SIDES = {
    "manythings": _manythings,
    "tsv": _tsv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "tmx": _tmx,
}


def _read(kind: str, source: _Source) -> Rows:
    """Rows `source, target, line[, scores]` of a corpus."""
    if kind in _READERS:
        return _READERS[kind](source)
    rows = _READERS_OF_SIDES[kind](source)
    if source.languages[0] == source.sides[0]:
        return rows
    return Rows(((other, one, *rest) for one, other, *rest in rows.rows), rows.scores)
