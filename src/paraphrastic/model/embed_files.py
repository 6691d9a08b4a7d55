"""Embed and score text files block by block, so that memory does not grow with the file."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import unit_rows
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import unwritable_named
from paraphrastic.base.rows import Batch, Source
from paraphrastic.base.streams import is_stream
from paraphrastic.base.tables import clean
from paraphrastic.base.text_files import byte_output, text_output
from paraphrastic.base.threads import available_cores, in_order
from paraphrastic.model.encoder import BLOCK_SENTENCES, SentenceEncoder, Vectors
from paraphrastic.model.matrix_description import MatrixDescription, description_path, require_replaceable
from paraphrastic.model.system import System
from paraphrastic.model.vector_tables import is_table, table_output

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
    model: SentenceEncoder | System,
    source: str | Source,
    output: str,
    *,
    encoding: Encoding = Encoding(),
    threads: int | None = None,
    batch: int = BLOCK_SENTENCES,
    name: str | None = None,
    progress: OnSentences | None = None,
) -> int:
    """Embed the sentences of a file; return their number.

    The output is a `.npy` file, [n, dim], with one row per sentence, zero for an empty one or one that cannot
    be read; or, by the ending of its name, Parquet or JSON lines with the identity of each row and its vector
    (see `vector_tables`). A file beside a `.npy` file, `vectors.npy.json` for `vectors.npy`, says which model
    made it; see `MatrixDescription`. There is none for standard output, pipes and devices.

    Args:
        model: the encoder, or another library's.
        source: the file, or its path; see `rows.Source`.
        output: the file to write; `-` is standard output.
        encoding: how sentences become vectors.
        threads: CPU threads; None uses all cores. Another library's encoder has threads of its own.
        batch: sentences per block.
        name: the model as `--model` takes it, for the description; None stands for its name.
        progress: called with the number of sentences done.

    Raises:
        InputError: a file cannot be read or written or is not UTF-8, or another file is in the description's
            place; see also `embed_raw_text` and `rows.Source`.
    """
    source = Source(source, strict=True) if isinstance(source, str) else source
    embed = _embedder(model, encoding)
    workers = 1 if isinstance(model, System) else threads or available_cores()
    is_matrix = not is_table(output)
    if is_matrix and source.identity is not None:
        raise InputError(f"{output}: a matrix has no identities of rows; write a .parquet or a .jsonl file")
    beside = _beside(output) if is_matrix else None
    made = None

    def describe(vectors: Vectors) -> None:
        nonlocal made
        if beside:
            made = MatrixDescription.of(
                model,
                vectors,
                model=name or model.label,
                language=encoding.language,
                normalized=encoding.normalize,
            )
            # It describes the matrix that is about to be replaced.
            beside.unlink(missing_ok=True)

    def work(rows: Batch) -> tuple[Batch, Vectors]:
        return rows, embed(rows.columns[0])

    count = 0
    with ExitStack() as stack:
        # The output is opened first, so that no work is lost if it cannot be written.
        if is_matrix:
            write = stack.enter_context(_npy_output(output, model.dim, np.dtype(encoding.dtype), describe))
        else:
            write_rows = stack.enter_context(table_output(output, model.dim, np.dtype(encoding.dtype)))
        for rows, vectors in in_order(work, source.batches(batch), workers):
            if is_matrix:
                write(vectors)
            else:
                write_rows(rows, vectors)
            count += len(vectors)
            if progress:
                progress(count)
    if beside and made:
        made.write(beside)
    return count - source.faults


def _embedder(model: SentenceEncoder | System, encoding: Encoding) -> Callable[[list[str]], Vectors]:
    """A function that turns sentences into vectors."""
    if isinstance(model, SentenceEncoder):
        return partial(
            model.embed_raw_text,
            language=encoding.language,
            threads=1,
            dtype=encoding.dtype,
            normalize=encoding.normalize,
        )

    def embed(sentences: list[str]) -> Vectors:
        vectors = model.embed_finite(sentences, encoding.language, name="the input")
        return (unit_rows(vectors) if encoding.normalize else vectors).astype(encoding.dtype)

    return embed


def _beside(output: str) -> Path | None:
    """The place of the description of a matrix; None if the matrix is not a file."""
    if output == "-" or is_stream(output):
        return None
    require_replaceable(description_path(output))
    return description_path(output)


def score_file(
    model: SentenceEncoder,
    source: str | Source,
    output: str,
    *,
    languages: tuple[str, str] | None = None,
    threads: int | None = None,
    batch: int = BLOCK_SENTENCES,
    progress: OnSentences | None = None,
) -> int:
    """Score the sentence pairs of a file; return their number.

    Args:
        model: the encoder.
        source: the file, or the path of one with lines `sentence TAB sentence`; see `rows.Source`.
        output: file for lines `cosine TAB sentence TAB sentence`; `-` is standard output.
        languages: languages of the two sides; see `SentenceEncoder.score_raw_text`.
        threads: CPU threads; None uses all cores.
        batch: pairs per block.
        progress: called with the number of lines done.

    Raises:
        InputError: a file cannot be read or written or is not UTF-8, or a line does not have two columns; see
            also `score_raw_text` and `rows.Source`.
    """
    source = Source(source, texts=2, strict=True) if isinstance(source, str) else source

    def score(rows: Batch) -> tuple[str, int]:
        bad = set(rows.faults)
        pairs = [pair for place, pair in enumerate(zip(*rows.columns, strict=True)) if place not in bad]
        scores = model.score_raw_text(pairs, languages=languages, threads=1)
        lines = zip(scores, pairs, strict=True)
        # A cell of a table may have tabs and line ends.
        return "".join(f"{score:.6f}\t{clean(a)}\t{clean(b)}\n" for score, (a, b) in lines), len(bad)

    done = 0
    with text_output(output) as file:
        for text, bad in in_order(score, source.batches(batch), threads or available_cores()):
            file.write(text)
            done += text.count("\n") + bad
            if progress:
                progress(done)
    return done - source.faults


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
