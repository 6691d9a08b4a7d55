"""Convert the files of a published corpus, or a user's own files, into one Parquet file of pairs."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.compressed import open_stream
from paraphrastic_pipeline.base.lines import UnreadableRows, aligned_lines, readable_lines, unreadable_rows
from paraphrastic_pipeline.base.row_values import parse_rows, split_cells
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, READ_ROWS, write_blocks
from paraphrastic_pipeline.corpus.counts import UNREADABLE, loss, warn
from paraphrastic_pipeline.corpus.group_files import GroupRow, group_rows
from paraphrastic_pipeline.corpus.pair_tables import (
    PairRows,
    csv_pairs,
    finite_score,
    jsonl_rows,
    parquet_rows,
    tsv_rows,
)
from paraphrastic_pipeline.corpus.sentence_groups import Drawing, drawn_pairs, groups_of
from paraphrastic_pipeline.corpus.tmx import tmx_rows
from paraphrastic_pipeline.registry.archive import open_members
from paraphrastic_pipeline.registry.group_layouts import group_layout, text_layout

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of a corpus, with the `languages` and `members` of its row in the registry."""

    path: str | Path
    languages: tuple[str, ...]
    members: tuple[str, ...] = ()


def extract_corpus(
    kind: str,
    files: Sequence[CorpusFile],
    languages: tuple[str, str],
    output: str | Path,
    *,
    max_member_bytes: int = 100 << 30,
    unreadable: str | Path | None = None,
    max_unreadable: int = 0,
    drawing: Drawing | None = None,
) -> dict[str, int]:
    """Write the pairs of a corpus as Parquet: `source`, `target`, `line` (in the original file, from 1).

    Files other than archives and Parquet may be compressed with gzip, bzip2 or Zstandard. Scores in a file
    are written as `paraphrase_score` and `translation_score`. Text is read by the rules of
    `lines.read_lines`. Pairs with an empty side are kept here, since the selection drops and counts them.

    A row that cannot be read (bytes that are not UTF-8, a NUL character, more than a MiB, a wrong number of
    columns, a score that float32 cannot hold, broken JSON, an empty key, a unit without one of the languages)
    is left out and counted. If the corpus is aligned by line, the row is left out on all sides.

    Args:
        kind: a key of `registry.datasets.KINDS`, which describes the format of the files.
        files: the files of the corpus; only `aligned` and `captions` have more than one.
        languages: languages of the sources and of the targets; for paraphrases, the same one twice.
        output: the Parquet file.
        max_member_bytes: most bytes that a file or member may have, unpacked.
        unreadable: TSV file with file, line and cause of every row that was left out.
        max_unreadable: most unreadable rows that are allowed.
        drawing: how pairs are drawn from groups, for the kind `groups`. The `line` of such a pair is the
            number of its group's first row.

    Returns:
        How many `lines` were read, how many `pairs` were written, and how many rows were `unreadable`.

    Raises:
        InputError: there are too many unreadable rows, sides of unequal length, damaged files, an encoding
            other than UTF-8, columns that are missing or occur twice, no pairs at all, or no disk space.
    """
    lines = 0
    with unreadable_rows(unreadable, max_unreadable) as bad, ExitStack() as opened:
        source = _Source(files, max_member_bytes, bad, opened, drawing)
        rows = _READERS[kind](source)
        if languages[0] != source.sides[0]:
            rows = PairRows(((other, one, *rest) for one, other, *rest in rows.rows), rows.scores)
        schema = pa.schema([*PAIR_SCHEMA, *(pa.field(score, pa.float64()) for score in rows.scores)])
        with write_blocks(output, schema) as writer:
            while block := list(islice(rows.rows, READ_ROWS)):
                columns = list(zip(*block, strict=True))
                arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
                writer.write(pa.RecordBatch.from_arrays(arrays, schema=schema))
                # Groups need not come in the order of their numbers.
                lines = max(lines, *columns[2])
            if not writer.rows:
                cause = f"none of its {bad.count} rows can be read" if bad.count else "no lines"
                raise source.is_empty(cause)
            writer.note(UNREADABLE, bad.count)
    counts = {"lines": max(lines, bad.last_line), "pairs": writer.rows, "unreadable": bad.count}
    _log.info("%s: %s", output, ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    warn(loss(str(output), writer.rows + bad.count, {UNREADABLE: bad.count}))
    return counts


@dataclass(frozen=True, slots=True)
class _Source:
    """The files of a corpus while they are read; `opened` closes their streams at the end."""

    files: Sequence[CorpusFile]
    max_bytes: int
    unreadable: UnreadableRows
    opened: ExitStack
    drawing: Drawing | None = None

    @property
    def label(self) -> str:
        """Name of the first file in messages."""
        return str(self.files[0].path)

    @property
    def sides(self) -> tuple[str, str]:
        """The languages of the two sides, in the order of the files."""
        return self.files[0].languages[0], self.files[-1].languages[-1]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table, if they are named."""
        return self.files[0].members

    def is_empty(self, cause: str) -> InputError:
        """The error for a corpus that has no pairs."""
        names = ", ".join(str(file.path) for file in self.files)
        return InputError(f"{names}: the corpus is empty: {cause}")

    def stream(self, number: int = 0) -> BinaryIO:
        """Open a file, which may be compressed."""
        path = self.files[number].path
        return self.opened.enter_context(open_stream(path, max_bytes=self.max_bytes))

    def members(self, names: Sequence[tuple[str, ...]]) -> Sequence[BinaryIO]:
        """Open members of the first file, an archive; `names` lists the possible names of each member."""
        return self.opened.enter_context(open_members(self.files[0].path, names, max_bytes=self.max_bytes))

    def aligned(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Line numbers and lines of files that are aligned by line."""
        streams = [self.stream(number) for number in range(len(self.files))]
        return aligned_lines(streams, [str(file.path) for file in self.files], self.unreadable)


def _opus(source: _Source) -> PairRows:
    # Each language's member has several possible names, since OPUS writes a language pair in either order.
    languages, members = source.files[0].languages, source.files[0].members
    names = [members[number :: len(languages)] for number in range(len(languages))]
    labels = [f"{source.label}: {code} side" for code in languages]
    lines = aligned_lines(source.members(names), labels, source.unreadable)
    return PairRows((one, other, number) for number, (one, other) in lines)


def _captions(lines: Iterator[tuple[int, tuple[str, ...]]]) -> Iterator[tuple[str, str, int]]:
    """Pair every two of a line's k sentences, which gives k (k - 1) / 2 pairs per line.

    The sides of every other pair are swapped, so that no side collects the sentences of one annotator.
    """
    for number, sentences in lines:
        for rank, (one, other) in enumerate(combinations(sentences, 2)):
            yield (other, one, number) if (number + rank) % 2 else (one, other, number)


def _lines_of_member(
    source: _Source, widths: Sequence[int], expected: str, scores: tuple[str, ...] = ()
) -> PairRows:
    """Rows of an archive's member whose lines have two sides, scores and cells that are skipped."""

    def parse(number: int, line: str) -> tuple[Any, ...]:
        one, other, *rest = split_cells(line, widths, expected)
        return one, other, number, *map(finite_score, rest[: len(scores)])

    name, *_ = source.files[0].members
    (stream,) = source.members([(name,)])
    label = f"{source.label}: {name}"
    lines = readable_lines(stream, label, source.unreadable)
    return PairRows(parse_rows(lines, parse, label, source.unreadable), scores)


def _groups(source: _Source) -> PairRows:
    """Draw pairs from groups; files with the same layout are read together, as they may share keys."""
    if (drawing := source.drawing) is None:
        raise ValueError("groups need a drawing")

    layouts = {file.members: group_layout(file.members) for file in source.files}
    read = 0

    def counted(rows: Iterator[GroupRow]) -> Iterator[GroupRow]:
        nonlocal read
        for row in rows:
            read += 1
            yield row

    def groups() -> Iterator[tuple[int, list[str]]]:
        last = 0
        for members, layout in layouts.items():
            paths = [Path(file.path) for file in source.files if file.members == members]
            rows = counted(group_rows(paths, layout, source.unreadable, max_bytes=source.max_bytes))
            first = last
            for number, sentences in groups_of(rows, layout, str(paths[0]), drawing.resources):
                last = max(last, first + number)
                yield first + number, sentences

    def pairs() -> Iterator[tuple[str, str, int]]:
        pair = None
        for pair in drawn_pairs(groups(), pairs_per_group=drawing.pairs_per_group, seed=drawing.seed):
            yield pair
        wanted = [f"{column}={value}" for layout in layouts.values() for column, value in layout.where]
        if pair is None and read:
            single = not any(
                layout.lines or layout.key or len(layout.text) > 1 for layout in layouts.values()
            )
            hint = "; key:… says which rows belong together" if single else ""
            raise source.is_empty(f"none of its groups has two different sentences{hint}")
        if pair is None and wanted:
            rows = "row that can be read" if source.unreadable.count else "row"
            raise source.is_empty(f"no {rows} has {' and '.join(wanted)}")

    return PairRows(pairs())


def _text(source: _Source) -> PairRows:
    """Sentences without pairs, each of which is both sides of a pair: those of lines, or where words say."""

    def rows_of(number: int, file: CorpusFile) -> Iterator[tuple[int, Sequence[str]]]:
        layout = text_layout(file.members)
        if layout is None:
            return aligned_lines([source.stream(number)], [str(file.path)], source.unreadable)
        found = group_rows([Path(file.path)], layout, source.unreadable, max_bytes=source.max_bytes)
        return enumerate((texts for _, texts in found), start=1)

    def sentences() -> Iterator[tuple[str, str, int]]:
        last = 0
        for number, file in enumerate(source.files):
            # Rows of several files must not have the same numbers.
            before = last
            for row, texts in rows_of(number, file):
                last = before + row
                yield from ((text, text, last) for text in texts if text.strip())

    return PairRows(sentences())


# Each reader yields `source, target, line[, scores]`, with the sides in the order of the files' languages.
_READERS: dict[str, Callable[[_Source], PairRows]] = {
    "opus": _opus,
    "aligned": lambda source: PairRows((one, other, number) for number, (one, other) in source.aligned()),
    "captions": lambda source: PairRows(_captions(source.aligned())),
    "text": _text,
    "groups": _groups,
    "paranmt": lambda source: _lines_of_member(
        source, (3,), "expected reference, paraphrase and score", ("paraphrase_score",)
    ),
    "manythings": lambda source: _lines_of_member(
        source, (2, 3), "expected text, translation and attribution"
    ),
    "tsv": lambda source: tsv_rows(source.stream(), source.label, source.columns, source.unreadable),
    "csv": lambda source: csv_pairs(
        source.stream(), source.label, source.sides, source.columns, source.unreadable
    ),
    "jsonl": lambda source: jsonl_rows(
        source.stream(), source.label, source.sides, source.columns, source.unreadable
    ),
    "parquet": lambda source: parquet_rows(
        Path(source.label), source.sides, source.columns, source.unreadable
    ),
    "tmx": lambda source: PairRows(tmx_rows(source.stream(), source.label, source.sides, source.unreadable)),
}
