"""Read the files of a corpus, as published, into one Parquet file of sentence pairs."""

import codecs
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import combinations, islice, zip_longest
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from paraphrastic.archive import open_members, open_stream
from paraphrastic.corpus.blocks import BLOCK_ROWS, write_blocks
from paraphrastic.errors import InputError

_CHUNK_BYTES = 1 << 20
# A longer line is no sentence: the file is not text by lines, and reading on would fill the memory.
_MAX_LINE_BYTES = 1 << 20
# Control characters but the newline, which ends a line, and the tab, which may part columns.
_CONTROL_BYTES = bytes(b for b in [*range(32), 127] if b not in b"\t\n")
_BLANK_CONTROL_BYTES = bytes.maketrans(_CONTROL_BYTES, b" " * len(_CONTROL_BYTES))
_C1_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")

_PAIR_FIELDS = [("source", pa.string()), ("target", pa.string()), ("line", pa.int64())]
_SCORE_FIELD = ("paraphrase_score", pa.float32())


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One downloaded file; `languages` and `members` are those of the registry's row."""

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
    block_rows: int = BLOCK_ROWS,
) -> dict[str, int]:
    """Write the pairs of a corpus as Parquet: `source`, `target`, `line` (from 1, in the original).

    Kinds:
        opus: a zip with one member a language, aligned by line.
        aligned: two files, one a language, aligned by line; gzip, bzip2 or plain.
        manythings: a zip with lines `text TAB translation [TAB attribution]`.
        paranmt: a zip with lines `reference TAB paraphrase TAB score`; the output has the score as
            `paraphrase_score` too.
        captions: k files of one language, aligned by line; every two of the k sentences of a line are a
            pair, k (k - 1) / 2 pairs a line. Sides are swapped in every other pair, so that neither side
            holds the sentences of one annotator.

    Lines end at a newline only, with or without a carriage return; a byte order mark is dropped and every
    control character becomes a space. Pairs with an empty side are kept here: dropping them is for the
    selection, which counts them.

    Args:
        kind: one of the above.
        files: of the corpus; all but `aligned` and `captions` have one.
        languages: of the sources and of the targets; the same one twice for paraphrases.
        output: the Parquet file.
        max_member_bytes: no file or member may hold more bytes than this, unpacked.
        block_rows: pairs held in memory; the output does not depend on it.

    Returns:
        How many `lines` were read and how many `pairs` were written.

    Raises:
        InputError: sides of unequal length, bytes that are not UTF-8, a wrong number of columns, a score
            that is no number, damaged archives, no lines at all, a full disk.
    """
    fields = [*_PAIR_FIELDS, _SCORE_FIELD] if kind == "paranmt" else _PAIR_FIELDS
    schema = pa.schema(fields)
    lines = 0
    with (
        _open_rows(kind, files, languages, max_member_bytes) as rows,
        write_blocks(output, schema) as writer,
    ):
        while block := list(islice(rows, block_rows)):
            columns = zip(*block, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write(pa.RecordBatch.from_arrays(arrays, schema=schema))
            lines = block[-1][2]
        if not writer.rows:
            names = ", ".join(str(file.path) for file in files)
            raise InputError(f"{names}: the corpus is empty: no lines")
    return {"lines": lines, "pairs": writer.rows}


@contextmanager
def _open_rows(
    kind: str, files: Sequence[CorpusFile], languages: tuple[str, str], max_bytes: int
) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Rows `source, target, line[, score]` of a corpus."""
    first = files[0]
    with ExitStack() as stack:
        if kind == "opus":
            # Each language's member has several possible names: OPUS writes a pair in either order.
            width = len(first.languages)
            names = [first.members[first.languages.index(code) :: width] for code in languages]
            streams = stack.enter_context(open_members(first.path, names, max_bytes=max_bytes))
            labels = [f"{first.path}: {code} side" for code in languages]
            yield _aligned_rows(streams, labels)
        elif kind in ("aligned", "captions"):
            if kind == "aligned":
                paths = [next(f.path for f in files if f.languages == (code,)) for code in languages]
            else:
                paths = [file.path for file in files]
            streams = tuple(stack.enter_context(open_stream(path, max_bytes=max_bytes)) for path in paths)
            labels = [str(path) for path in paths]
            yield (_aligned_rows if kind == "aligned" else _caption_rows)(streams, labels)
        elif kind in ("manythings", "paranmt"):
            (stream,) = stack.enter_context(
                open_members(first.path, [first.members[:1]], max_bytes=max_bytes)
            )
            label = f"{first.path}: {first.members[0]}"
            if kind == "paranmt":
                yield _paranmt_rows(stream, label)
            else:
                yield _manythings_rows(stream, label, swapped=languages[0] != first.languages[0])
        else:
            raise ValueError(f"{kind!r} is not a kind of corpus")


def _aligned_rows(streams: Sequence[BinaryIO], labels: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    for number, (source, target) in enumerate(_aligned_lines(streams, labels), start=1):
        yield source, target, number


def _caption_rows(streams: Sequence[BinaryIO], labels: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    for number, sentences in enumerate(_aligned_lines(streams, labels), start=1):
        for rank, (one, other) in enumerate(combinations(sentences, 2)):
            yield (other, one, number) if (number + rank) % 2 else (one, other, number)


def _manythings_rows(stream: BinaryIO, label: str, *, swapped: bool) -> Iterator[tuple[str, str, int]]:
    for number, line in enumerate(_lines(stream, label), start=1):
        cells = line.split("\t")
        if len(cells) not in (2, 3):
            raise InputError(
                f"{label}:{number}: {len(cells)} columns, expected text, translation and attribution"
            )
        one, other = cells[:2]
        yield (other, one, number) if swapped else (one, other, number)


def _paranmt_rows(stream: BinaryIO, label: str) -> Iterator[tuple[str, str, int, float]]:
    for number, line in enumerate(_lines(stream, label), start=1):
        cells = line.split("\t")
        if len(cells) != 3:
            raise InputError(
                f"{label}:{number}: {len(cells)} columns, expected reference, paraphrase and score"
            )
        try:
            score = float(cells[2])
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise InputError(f"{label}:{number}: the score {cells[2]!r} is not a number")
        yield cells[0], cells[1], number, score


def _aligned_lines(streams: Sequence[BinaryIO], labels: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Lines of all streams side by side; an `InputError` with the counts where they are not equally many."""
    sides = [_lines(stream, label) for stream, label in zip(streams, labels, strict=True)]
    for count, row in enumerate(zip_longest(*sides)):
        if None in row:
            totals = [
                f"{label} has {count + (line is not None) + sum(1 for _ in side)} lines"
                for label, line, side in zip(labels, row, sides, strict=True)
            ]
            raise InputError(f"sides of unequal length: {', '.join(totals)}")
        yield tuple(line.replace("\t", " ") for line in row)


def _lines(stream: BinaryIO, label: str) -> Iterator[str]:
    """Lines of UTF-8 text without their ends; every control character but the tab is a space."""
    number = 0
    rest = b""
    while chunk := stream.read(_CHUNK_BYTES):
        data = rest + chunk
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        if len(rest) > _MAX_LINE_BYTES:
            long_line = number + data.count(b"\n", 0, end) + 1
            raise InputError(f"{label}:{long_line}: longer than {_MAX_LINE_BYTES} bytes: no text by lines")
        if end:
            lines = _decode(data[:end], label, number)
            number += len(lines)
            yield from lines
    if rest:
        yield from _decode(rest + b"\n", label, number)


def _decode(data: bytes, label: str, lines_before: int) -> list[str]:
    """Lines of `data`, which ends with a newline."""
    if lines_before == 0:
        data = data.removeprefix(codecs.BOM_UTF8)
    data = data.replace(b"\r\n", b"\n").translate(_BLANK_CONTROL_BYTES)
    data = _C1_CONTROL.sub(b" ", data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = lines_before + data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{label}:{line}: not UTF-8: byte 0x{data[error.start]:02x}") from None
    return text[:-1].split("\n")
