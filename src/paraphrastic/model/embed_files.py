"""Embed and score files block by block, so that memory does not grow with the file."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from paraphrastic.base.arrays import unit_rows
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json, write_json
from paraphrastic.base.rows import BATCH_ROWS, Batch, Source
from paraphrastic.base.text import clean
from paraphrastic.base.text_files import byte_output, is_special, text_output
from paraphrastic.base.threads import available_cores, in_order
from paraphrastic.model.encoder import Encoder, SentenceEncoder, Vectors, finite_vectors

# The columns of a table of vectors, and the key of a Parquet file's metadata that says which model made it.
ID, VECTOR, METADATA = "id", "vector", "paraphrastic"
# Numbers of vectors hardly recur: looking for those that do, and packing them, would take most of the time.
_FAST = {
    "use_dictionary": [ID],
    "write_statistics": [ID],
    "compression": {ID: "snappy", f"{VECTOR}.list.element": "none"},
}
_JSON = (".jsonl", ".ndjson")

# Called with the number of rows that are done.
OnRows = Callable[[int], None]
# Appends the rows of a batch and their vectors, [n, dim].
_Write = Callable[[Batch, Vectors], None]


def description_path(matrix: str | Path) -> Path:
    """The file beside a `.npy` file that says which model made it."""
    return Path(f"{matrix}.json")


def embed_file(
    model: Encoder,
    source: str | Source,
    output: str,
    *,
    language: str | None = None,
    dtype: npt.DTypeLike = np.float32,
    normalize: bool = False,
    threads: int | None = None,
    batch: int = BATCH_ROWS,
    progress: OnRows | None = None,
) -> int:
    """Embed the sentences of a file; return their number.

    The output is a `.npy` file, [n, dim], with one row per sentence, zero for an empty one; or, by the ending
    of its name, Parquet or JSON lines with the columns `id` and `vector`. A file beside a `.npy` file,
    `vectors.npy.json` for `vectors.npy`, says which model made it. There is none for standard output, pipes
    and devices. A Parquet file says it of itself.

    Args:
        model: the encoder, or another library's.
        source: the file, or its path; see `rows.Source`.
        output: the file to write; `-` is standard output.
        language: see `SentenceEncoder.embed_raw_text`.
        dtype: type of the vectors, float32 or float16.
        normalize: scale vectors to length 1.
        threads: CPU threads; None uses all cores. Another library's encoder has threads of its own.
        batch: sentences per block.
        progress: called with the number of sentences done.

    Raises:
        InputError: a file cannot be read or written, or a vector is not finite; see also `embed_raw_text` and
            `rows.Source`.
    """
    source = Source(source) if isinstance(source, str) else source
    _check_output(output, source)
    kind = np.dtype(dtype)
    about = {
        "label": model.label, "digest": model.digest, "language": language, "dtype": kind.name,
        "normalized": normalize, "dimension": model.dim,
    }  # fmt: skip

    def work(rows: Batch) -> tuple[Batch, Vectors]:
        (texts,) = rows.columns
        if isinstance(model, SentenceEncoder):
            return rows, model.embed_raw_text(
                texts, language=language, threads=1, dtype=kind, normalize=normalize
            )
        vectors = finite_vectors(model, texts, language, name=source.path)
        return rows, (unit_rows(vectors) if normalize else vectors).astype(kind)

    done, workers = 0, (threads or available_cores()) if isinstance(model, SentenceEncoder) else 1
    ending = PurePath(output).suffix.lower()
    writing = _parquet_output if ending == ".parquet" else _json_output if ending in _JSON else _matrix_output
    # The output is opened first, so that no work is lost if it cannot be written.
    with writing(output, kind, about) as write:
        for rows, vectors in in_order(work, source.batches(batch), workers):
            write(rows, vectors)
            done += len(vectors)
            if progress:
                progress(done)
    return done


def _check_output(output: str, source: Source) -> None:
    """Refuse an output that would replace the text, or whose name is that of another kind of file."""
    ending = PurePath(output).suffix.lower()
    if output == "-" or is_special(output):
        ending = ""
    elif Path(output).exists() and Path(source.path).exists() and Path(output).samefile(source.path):
        raise InputError(f"{output}: is the text itself; name another file for the vectors")
    if ending not in ("", ".npy", ".parquet", *_JSON):
        raise InputError(f"{output}: vectors are written as .npy, .parquet or .jsonl, not as {ending}")
    about = description_path(output)
    if ending == ".npy" and about.is_file() and "digest" not in read_json(about):
        raise InputError(f"{about}: would be overwritten, but does not describe vectors")
    if source.id and ending in ("", ".npy"):
        raise InputError(f"{output}: a matrix has no ids of rows; write a .parquet or a .jsonl file")


@contextmanager
def _matrix_output(output: str, dtype: np.dtype[Any], about: Json) -> Iterator[_Write]:
    is_file = output != "-" and not is_special(output)
    rows = 0

    def write_header() -> None:
        # numpy pads the header, so that it can be written again with the final number of rows.
        shape = rows, about["dimension"]
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

    def write(_: Batch, vectors: Vectors) -> None:
        nonlocal rows
        file.write(np.ascontiguousarray(vectors).data)
        rows += len(vectors)

    with byte_output(output) as stream, ExitStack() as stack:
        # The header comes first but needs the number of rows, and what a stream has taken is gone.
        made = nullcontext(stream) if is_file else tempfile.TemporaryFile()  # noqa: SIM115
        file: IO[bytes] = stack.enter_context(made)
        write_header()
        yield write
        file.seek(0)
        write_header()
        if not is_file:
            file.seek(0)
            shutil.copyfileobj(file, stream)
    if is_file:
        write_json(description_path(output), {**about, "rows": rows})


@contextmanager
def _json_output(output: str, _: np.dtype[Any], about: Json) -> Iterator[_Write]:
    with text_output(output) as file:

        def write(rows: Batch, vectors: Vectors) -> None:
            for name, vector in zip(rows.ids, vectors.tolist(), strict=True):
                # So many digits tell apart all numbers in single precision.
                numbers = ", ".join(map("{:.9g}".format, vector))
                file.write(f'{{"{ID}": {json.dumps(name)}, "{VECTOR}": [{numbers}]}}\n')

        yield write


@contextmanager
def _parquet_output(output: str, dtype: np.dtype[Any], about: Json) -> Iterator[_Write]:
    kind = pa.list_(pa.from_numpy_dtype(dtype), about["dimension"])
    metadata = {METADATA: json.dumps(about, ensure_ascii=False)}
    writer: Any = None

    def write(rows: Batch, vectors: Vectors) -> None:
        nonlocal writer
        if writer is None:
            # Ids are all numbers or all text, as the first ones are.
            of_type = pa.int64() if all(isinstance(name, int) for name in rows.ids) else pa.string()
            writer = ParquetWriter(file, pa.schema({ID: of_type, VECTOR: kind}, metadata), **_FAST)
        of_type = writer.schema.field(ID).type
        try:
            ids = pa.array(rows.ids if of_type == pa.int64() else list(map(str, rows.ids)), of_type)
        except (pa.ArrowException, OverflowError, TypeError) as error:
            cause = f"the first ids are whole numbers of 64 bits, and others are not: {error}"
            raise InputError(f"{output}: {cause}") from None
        numbers = pa.FixedSizeListArray.from_arrays(
            pa.array(np.ascontiguousarray(vectors).ravel()), kind.list_size
        )
        writer.write_batch(pa.record_batch([ids, numbers], schema=writer.schema))

    with byte_output(output) as file:
        try:
            yield write
            if writer is None:
                write(Batch([], [], [], []), np.empty((0, about["dimension"]), dtype))
        finally:
            # It writes to the file even when it is forgotten.
            if writer is not None:
                writer.close()


def score_file(
    model: SentenceEncoder,
    source: str | Source,
    output: str,
    *,
    languages: tuple[str, str] | None = None,
    threads: int | None = None,
    batch: int = BATCH_ROWS,
    progress: OnRows | None = None,
) -> int:
    """Score the sentence pairs of a file; return their number.

    Args:
        model: the encoder.
        source: the file, or the path of one with lines `sentence TAB sentence`; see `rows.Source`.
        output: file for lines `cosine TAB sentence TAB sentence`; `-` is standard output.
        languages: languages of the two sides; see `SentenceEncoder.score_raw_text`.
        threads: CPU threads; None uses all cores.
        batch: pairs per block.
        progress: called with the number of pairs done.

    Raises:
        InputError: a file cannot be read or written, or a line does not have two columns; see also
            `score_raw_text` and `rows.Source`.
    """
    source = Source(source, texts=2) if isinstance(source, str) else source

    def score(rows: Batch) -> tuple[str, int]:
        pairs = list(zip(*rows.columns, strict=True))
        scores = model.score_raw_text(pairs, languages=languages, threads=1)
        cells = ((f"{score:.6f}", *map(clean, pair)) for score, pair in zip(scores, pairs, strict=True))
        return "".join("\t".join(row) + "\n" for row in cells), len(pairs)

    done = 0
    with text_output(output) as file:
        for text, pairs in in_order(score, source.batches(batch), threads or available_cores()):
            file.write(text)
            done += pairs
            if progress:
                progress(done)
    return done
