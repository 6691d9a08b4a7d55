"""Embed and score text files block by block, so that memory does not grow with the file."""

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from paraphrastic.base.compressed import open_stream
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, unwritable_named
from paraphrastic.base.lines import read_batches
from paraphrastic.base.streams import is_stream, own_descriptor, stream_output
from paraphrastic.base.threads import available_cores, in_order
from paraphrastic.model.encoder import BLOCK_SENTENCES, SentenceEncoder, Vectors
from paraphrastic.model.matrix_description import MatrixDescription, description_path, require_replaceable

_MAX_FILE_BYTES = 1 << 50

# Called with the number of sentences or lines that are done.
OnSentences = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Encoding:
    """How sentences become vectors.

    Attributes:
        language: see `SentenceEncoder.embed_raw_text`.
        dtype: type of the vectors, float32 or float16.
        normalize: scale vectors to length 1.
    """

    language: str | None = None
    dtype: npt.DTypeLike = np.float32
    normalize: bool = False


def embed_file(
    model: SentenceEncoder,
    source: str,
    output: str,
    *,
    encoding: Encoding = Encoding(),
    threads: int | None = None,
    batch: int = BLOCK_SENTENCES,
    name: str | None = None,
    progress: OnSentences | None = None,
) -> int:
    """Embed a text file with one sentence per line; return the number of sentences.

    A file beside the output, `vectors.npy.json` for `vectors.npy`, says which model made it; see
    `MatrixDescription`. There is none for standard output, pipes and devices.

    Args:
        model: the encoder.
        source: the file, plain or compressed (gzip, bzip2, Zstandard); `-` is standard input.
        output: the `.npy` file, [n, dim], one row per line, zero for an empty one; `-` is standard output.
        encoding: how sentences become vectors.
        threads: CPU threads; None uses all cores.
        batch: sentences per block.
        name: the model as `--model` takes it, for the description; None stands for its name.
        progress: called with the number of sentences done.

    Raises:
        InputError: a file cannot be read or written or is not UTF-8, or another file is in the description's
            place; see also `embed_raw_text`.
    """

    def embed(sentences: list[str]) -> Vectors:
        return model.embed_raw_text(
            sentences,
            language=encoding.language,
            threads=1,
            dtype=encoding.dtype,
            normalize=encoding.normalize,
        )

    beside = _beside(output)
    made = None

    def describe(vectors: Vectors) -> None:
        nonlocal made
        if beside:
            made = MatrixDescription.of(
                model,
                vectors,
                model=name or model.config["model"],
                language=encoding.language,
                normalized=encoding.normalize,
            )
            # It describes the matrix that is about to be replaced.
            beside.unlink(missing_ok=True)

    count = 0
    # The output is opened first, so that no work is lost if it cannot be written.
    with (
        _npy_output(output, model.dim, np.dtype(encoding.dtype), describe) as write,
        text_input(source) as stream,
    ):
        for vectors in in_order(embed, read_batches(stream, source, batch), threads or available_cores()):
            write(vectors)
            count += len(vectors)
            if progress:
                progress(count)
    if beside and made:
        made.write(beside)
    return count


def _beside(output: str) -> Path | None:
    """The place of the description of a matrix; None if the matrix is not a file."""
    if output == "-" or is_stream(output):
        return None
    require_replaceable(description_path(output))
    return description_path(output)


def score_file(
    model: SentenceEncoder,
    source: str,
    output: str,
    *,
    languages: tuple[str, str] | None = None,
    threads: int | None = None,
    batch: int = BLOCK_SENTENCES,
    on_error: Literal["stop", "skip"] = "stop",
    progress: OnSentences | None = None,
) -> tuple[int, int]:
    """Score a TSV file with one sentence pair per line; return how many lines were scored and left out.

    Args:
        model: the encoder.
        source: file with lines `sentence TAB sentence`; see `embed_file`.
        output: file for lines `cosine TAB sentence TAB sentence`; `-` is standard output.
        languages: languages of the two sides; see `SentenceEncoder.score_raw_text`.
        threads: CPU threads; None uses all cores.
        batch: pairs per block.
        on_error: whether to stop at a line that does not have two columns, or skip it.
        progress: called with the number of lines done.

    Raises:
        InputError: a file cannot be read or written or is not UTF-8, or a line does not have two columns; see
            also `score_raw_text`.
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
    """Yield the lines of a text file; see `embed_file` and `read_batches`."""
    with text_input(path) as stream:
        for batch in read_batches(stream, path, BLOCK_SENTENCES):
            yield from batch


@contextmanager
def text_input(path: str) -> Iterator[BinaryIO]:
    """Open a file as bytes, plain or compressed (gzip, bzip2, Zstandard); `-` is standard input."""
    if path == "-":
        yield _standard("input")
        return
    own_descriptor(path)  # if it is closed, another file is in its place
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open_stream(path, max_bytes=_MAX_FILE_BYTES))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        yield stream


@contextmanager
def byte_output(path: str) -> Iterator[IO[bytes]]:
    """Open a binary file that gets its name only when it is complete, or a stream; `-` is standard output."""
    if path == "-":
        stream = _standard("output")
        with unwritable_named("standard output"):
            yield stream
            stream.flush()
        return
    with ExitStack() as stack:
        try:
            if Path(path).is_dir():
                raise InputError(f"{path}: cannot be written: Is a directory")
            if is_stream(path):
                stack.enter_context(unwritable_named(path))
                file = stack.enter_context(stream_output(path))
            else:
                file = stack.enter_context(stack.enter_context(atomic_output(path)).open("wb"))
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        yield file


@contextmanager
def text_output(path: str) -> Iterator[IO[str]]:
    """Open a text file in UTF-8, whatever the terminal's encoding is; see `byte_output`."""
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
def _npy_output(
    path: str, dim: int, dtype: np.dtype[Any], describe: Callable[[Vectors], None]
) -> Iterator[Callable[[Vectors], None]]:
    """Yield a function that appends rows to a `.npy` file, [n, dim].

    If the file is a regular one, `describe` is called with all rows before the file gets its name.
    """
    rows = 0

    def write_header(file: IO[bytes]) -> None:
        # numpy pads the header, so that it can be written again with the final number of rows.
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (rows, dim)}
        np.lib.format.write_array_header_1_0(file, header)

    def write(vectors: Vectors) -> None:
        nonlocal rows
        file.write(np.ascontiguousarray(vectors).data)
        rows += len(vectors)

    with byte_output(path) as output, ExitStack() as stack:
        # The header comes first but needs the number of rows, and what a stream has taken is gone.
        is_file = path != "-" and not is_stream(path)
        file = output if is_file else stack.enter_context(tempfile.TemporaryFile())
        with unwritable_named(path if is_file else tempfile.gettempdir()):
            write_header(file)
            yield write
            file.seek(0)
            write_header(file)
            file.flush()
        if is_file:
            describe(np.load(file.name, mmap_mode="r", allow_pickle=False))
        else:
            file.seek(0)
            shutil.copyfileobj(file, output)
