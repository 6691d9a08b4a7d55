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
from paraphrastic.base.text_files import byte_output, text_output
from paraphrastic.base.threads import available_cores, in_order
from paraphrastic.model.encoder import BLOCK_SENTENCES, SentenceEncoder, Vectors
from paraphrastic.model.matrix_description import (
    Maker,
    MatrixDescription,
    description_path,
    require_replaceable,
)
from paraphrastic.model.system import System
from paraphrastic.model.vector_tables import Write, is_parquet, is_table, of_one_type, table_output

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
    made it; see `MatrixDescription`. There is none for standard output, pipes and devices. A Parquet file
    says it of itself.

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
    source = Source(source) if isinstance(source, str) else source
    _check_output(output, source)
    embed = _embedder(model, encoding)
    workers = 1 if isinstance(model, System) else threads or available_cores()
    dtype = np.dtype(encoding.dtype)
    maker = Maker.of(
        model,
        model=name or (model.label if isinstance(model, System) else model.config["model"]),
        language=encoding.language,
        dtype=dtype.name,
        normalized=encoding.normalize,
    )
    if is_table(output):
        writing = table_output(output, model.dim, dtype, maker, source)
    elif source.identity is not None:
        raise InputError(f"{output}: a matrix has no identities of rows; write a .parquet or a .jsonl file")
    else:
        writing = _matrix_output(output, model.dim, dtype, maker)

    batches = of_one_type(source, batch) if is_parquet(output) else source.batches(batch)

    def work(rows: Batch) -> tuple[Batch, Vectors]:
        return rows, embed(rows.columns[0])

    done = embedded = 0
    # The output is opened first, so that no work is lost if it cannot be written.
    with writing as write:
        for rows, vectors in in_order(work, batches, workers):
            write(rows, vectors)
            done, embedded = done + len(vectors), embedded + len(vectors) - len(rows.faults)
            if progress:
                progress(done)
    return embedded


def _check_output(output: str, source: Source) -> None:
    """Refuse an output that would replace the text, or whose name is that of another kind of file."""
    if output == "-" or is_stream(output):
        return
    ending = Path(output).suffix
    if ending not in ("", ".npy") and not is_table(output):
        raise InputError(f"{output}: vectors are written as .npy, .parquet or .jsonl, not as {ending}")
    if Path(output).exists() and Path(source.path).exists() and Path(output).samefile(source.path):
        raise InputError(f"{output}: is the text itself; name another file for the vectors")


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


@contextmanager
def _matrix_output(output: str, dim: int, dtype: np.dtype[Any], maker: Maker) -> Iterator[Write]:
    """Yield a function that appends rows to a `.npy` file, beside which its description is written."""
    is_file = output != "-" and not is_stream(output)
    beside = description_path(output)
    if is_file:
        require_replaceable(beside)
    rows = 0

    def write_header() -> None:
        # numpy pads the header, so that it can be written again with the final number of rows.
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (rows, dim)}
        np.lib.format.write_array_header_1_0(file, header)

    def write(_: Batch, vectors: Vectors) -> None:
        nonlocal rows
        file.write(np.ascontiguousarray(vectors).data)
        rows += len(vectors)

    with byte_output(output) as stream, ExitStack() as stack:
        # The header comes first but needs the number of rows, and what a stream has taken is gone.
        file: IO[bytes] = stream if is_file else stack.enter_context(tempfile.TemporaryFile())
        with unwritable_named(output if is_file else tempfile.gettempdir()):
            write_header()
            yield write
            file.seek(0)
            write_header()
            file.flush()
        if is_file:
            written = np.load(file.name, mmap_mode="r", allow_pickle=False)
            made = MatrixDescription.about(maker, written)
            # It describes the matrix that is about to be replaced.
            beside.unlink(missing_ok=True)
        else:
            file.seek(0)
            shutil.copyfileobj(file, stream)
    if is_file:
        made.write(beside)


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
    source = Source(source, texts=2) if isinstance(source, str) else source

    def score(rows: Batch) -> tuple[str, int, int]:
        bad = set(rows.faults)
        pairs = [pair for place, pair in enumerate(zip(*rows.columns, strict=True)) if place not in bad]
        scores = model.score_raw_text(pairs, languages=languages, threads=1)
        text = "".join(f"{score:.6f}\t{a}\t{b}\n" for score, (a, b) in zip(scores, pairs, strict=True))
        return text, len(rows.identities), len(pairs)

    done = scored = 0
    with text_output(output) as file:
        for text, rows, pairs in in_order(score, source.batches(batch), threads or available_cores()):
            file.write(text)
            done, scored = done + rows, scored + pairs
            if progress:
                progress(done)
    return scored
