"""Text files into vectors and scores, a block at a time: memory does not grow with the file."""

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from errno import EISDIR
from os import strerror
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, unwritable_named
from paraphrastic.base.lines import read_batches
from paraphrastic.base.threads import available_cores, in_order
from paraphrastic.model.encoder import BLOCK_SENTENCES, SentenceEncoder, Vectors
from paraphrastic.registry.archive import open_stream

_MAX_FILE_BYTES = 1 << 50

# Told how many sentences are done.
Progress = Callable[[int], None]


def embed_file(
    model: SentenceEncoder,
    source: str,
    output: str,
    *,
    language: str | None = None,
    threads: int | None = None,
    batch: int = BLOCK_SENTENCES,
    dtype: npt.DTypeLike = np.float32,
    normalize: bool = False,
    progress: Progress | None = None,
) -> int:
    """Embed a text file with a sentence a line; the number of sentences.

    Args:
        model: whose vectors are wanted.
        source: the file, plain or compressed (gzip, bzip2, Zstandard); `-` is standard input.
        output: the `.npy` file, [n, dim], row i of line i; an empty line is zero. `-` is standard output.
        language: see `SentenceEncoder.embed_raw_text`.
        threads: of the processor; None, all.
        batch: sentences at a time.
        dtype: float32 or float16, of the vectors.
        normalize: make vectors as long as 1.
        progress: is told how many sentences are done.

    Raises:
        InputError: a file that cannot be read or written or is not UTF-8; see also `embed_raw_text`.
    """

    def embed(sentences: list[str]) -> Vectors:
        return model.embed_raw_text(sentences, language=language, threads=1, dtype=dtype, normalize=normalize)

    count = 0
    # Opened first, so that an output that cannot be written is told before work is lost.
    with _npy_output(output, model.dim, np.dtype(dtype)) as write, text_input(source) as stream:
        for vectors in in_order(embed, read_batches(stream, source, batch), threads or available_cores()):
            write(vectors)
            count += len(vectors)
            if progress:
                progress(count)
    return count


def score_file(
    model: SentenceEncoder,
    source: str,
    output: str,
    *,
    languages: tuple[str, str] | None = None,
    threads: int | None = None,
    batch: int = BLOCK_SENTENCES,
    on_error: Literal["stop", "skip"] = "stop",
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Score a TSV file with a pair of sentences a line; how many were scored, and how many lines left out.

    Args:
        model: whose cosines are wanted.
        source: the file, see `embed_file`; lines `sentence TAB sentence`.
        output: lines `cosine TAB sentence TAB sentence`; `-` is standard output.
        languages: of the two sides, see `SentenceEncoder.score_raw_text`.
        threads: of the processor; None, all.
        batch: pairs at a time.
        on_error: whether a line with another number of columns ends the work or is left out.
        progress: is told how many lines are done.

    Raises:
        InputError: a file that cannot be read or written or is not UTF-8, a line with another number of
            columns; see also `score_raw_text`.
    """

    def score(numbered: tuple[int, list[str]]) -> tuple[str, int, int]:
        first, lines = numbered
        pairs = []
        for number, line in enumerate(lines, start=first):
            columns = line.split("\t")
            if len(columns) == 2:
                pairs.append((columns[0], columns[1]))
            elif on_error == "stop":
                raise InputError(f"{source}:{number}: {len(columns)} columns where two are expected")
        scores = model.score_raw_text(pairs, languages=languages, threads=1)
        text = "".join(f"{score:.6f}\t{a}\t{b}\n" for score, (a, b) in zip(scores, pairs, strict=True))
        return text, len(pairs), len(lines)

    def numbered(stream: BinaryIO) -> Iterator[tuple[int, list[str]]]:
        number = 1
        for lines in read_batches(stream, source, batch):
            yield number, lines
            number += len(lines)

    scored = done = 0
    with text_output(output) as file, text_input(source) as stream:
        for text, pairs, lines in in_order(score, numbered(stream), threads or available_cores()):
            file.write(text)
            scored, done = scored + pairs, done + lines
            if progress:
                progress(done)
    return scored, done - scored


def read_sentences(path: str) -> Iterator[str]:
    """The lines of a text file; see `embed_file` and `read_batches`."""
    with text_input(path) as stream:
        for batch in read_batches(stream, path, BLOCK_SENTENCES):
            yield from batch


@contextmanager
def text_input(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file, plain or compressed (gzip, bzip2, Zstandard); `-` is standard input."""
    if path == "-":
        yield _standard("input")
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open_stream(path, max_bytes=_MAX_FILE_BYTES))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        yield stream


@contextmanager
def byte_output(path: str) -> Iterator[IO[bytes]]:
    """A file that takes its name when it is whole; `-` is standard output."""
    if path == "-":
        stream = _standard("output")
        with unwritable_named("standard output"):
            yield stream
            stream.flush()
        return
    with ExitStack() as stack:
        try:
            if Path(path).is_dir():
                raise IsADirectoryError(EISDIR, strerror(EISDIR))
            file = stack.enter_context(stack.enter_context(atomic_output(path)).open("wb"))
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        yield file


@contextmanager
def text_output(path: str) -> Iterator[IO[str]]:
    """A text file in UTF-8, whatever the terminal's encoding is; see `byte_output`."""
    with byte_output(path) as stream:
        file = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=path == "-")
        try:
            yield file
        finally:
            file.detach()


def _standard(which: Literal["input", "output"]) -> BinaryIO:
    stream = sys.stdin if which == "input" else sys.stdout
    if stream is None:
        raise InputError(f"standard {which} is closed")
    return stream.buffer


@contextmanager
def _npy_output(path: str, dim: int, dtype: np.dtype[Any]) -> Iterator[Callable[[Vectors], None]]:
    """What appends rows to a `.npy` file, [n, dim], in the order of calls."""
    rows = 0

    def write_header(file: IO[bytes]) -> None:
        # numpy leaves room in it for the largest number of rows.
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (rows, dim)}
        np.lib.format.write_array_header_1_0(file, header)

    def write(vectors: Vectors) -> None:
        nonlocal rows
        file.write(np.ascontiguousarray(vectors).data)
        rows += len(vectors)

    with byte_output(path) as output, ExitStack() as stack:
        # The header, which comes first, has the number of rows.
        seekable = path != "-" and output.seekable()
        file = output if seekable else stack.enter_context(tempfile.TemporaryFile())
        with unwritable_named(path if seekable else tempfile.gettempdir()):
            write_header(file)
            yield write
            file.seek(0)
            write_header(file)
        if not seekable:
            file.seek(0)
            shutil.copyfileobj(file, output)
