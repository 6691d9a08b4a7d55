"""Vectors that are compared by direction: in memory, in a `.npy` file, or in Parquet."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow.dataset import dataset

from paraphrastic.base.arrays import Float32, Float64
from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import Json, read_json
from paraphrastic.model.embed_files import ID, METADATA, VECTOR, description_path
from paraphrastic.model.encoder import Encoder, SentenceEncoder, as_list


class Matrix:
    """Rows of numbers in memory, or mapped into it.

    Attributes:
        name: name of the file, for messages.
        shape: number of rows, and of numbers per row.
        description: what `embed` wrote about the vectors, if it is there.
    """

    description: Json | None = None

    def __init__(self, rows: npt.NDArray[Any], name: str = "vectors") -> None:
        self._rows, self.name, self.shape = rows, name, rows.shape

    def blocks(self, size: int) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield at most `size` rows at a time, and the number of rows before them."""
        for start in range(0, self.shape[0], size):
            yield start, self._rows[start : start + size]

    def ids(self, rows: Sequence[int]) -> Sequence[Any]:
        """What tells some rows apart: their numbers from 1."""
        return [row + 1 for row in rows]


class ParquetMatrix(Matrix):
    """The vectors of a Parquet file, or of all such files of a folder in the order of their names.

    Raises:
        InputError: a file cannot be read or has no lists of numbers in a column `vector`, or two models made
            the files.
    """

    def __init__(self, path: str) -> None:
        self.name = path
        with self._readable():
            names = sorted(Path(path).glob("*.parquet")) if Path(path).is_dir() else [path]
            self._rows_of = dataset([*map(str, names)], format="parquet")
            schemas = [fragment.physical_schema for fragment in self._rows_of.get_fragments()]
            if not all(VECTOR in schema.names for schema in schemas):
                raise InputError(f"{path}: has no column {VECTOR!r}")
            first = self._rows_of.head(1, columns=[VECTOR])[VECTOR] if schemas else ()
            dim = getattr(getattr(first, "type", None), "list_size", 0) or (len(first[0]) if first else 0)
            about = {(schema.metadata or {}).get(METADATA.encode()) for schema in schemas}
            self.shape = self._rows_of.count_rows(), dim
            if len(about) != 1:
                raise InputError(f"{path}: does not have vectors of one model")
            self.description = json.loads(about.pop() or "null")
        self._has_ids = all(ID in schema.names for schema in schemas)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError, TypeError, ValueError) as error:
            raise InputError(f"{self.name}: cannot be read: {on_one_line(error)}") from None

    def blocks(self, size: int) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield at most `size` rows at a time, and the number of rows before them."""
        start, dim = 0, self.shape[1]
        with self._readable():
            for batch in self._rows_of.to_batches(columns=[VECTOR], batch_size=size):
                column = batch.column(0)
                numbers: npt.NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
                lengths = column.value_lengths().to_numpy(zero_copy_only=False)
                if column.null_count or numbers.dtype.kind != "f" or (lengths != dim).any():
                    raise InputError(f"{self.name}: not every row has {dim} numbers in column {VECTOR!r}")
                yield start, numbers.reshape(len(column), dim)
                start += len(column)

    def ids(self, rows: Sequence[int]) -> Sequence[Any]:
        """What tells some rows apart: their ids, or their numbers from 1 if a file has none."""
        if not self._has_ids:
            return super().ids(rows)
        with self._readable():
            return self._rows_of.take(rows, columns=[ID])[ID].to_pylist()


def open_vectors(path: str) -> Matrix:
    """Open a `.npy` file, a `.parquet` file or a folder of such files.

    Raises:
        InputError: the file cannot be read, or does not hold rows of floating-point numbers.
    """
    if Path(path).is_dir() or path.endswith(".parquet"):
        return ParquetMatrix(path)
    try:
        rows: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        raise InputError(f"{path}: not a .npy file of vectors: {on_one_line(error)}") from None
    if getattr(rows, "ndim", 0) != 2 or rows.dtype.kind != "f":
        raise InputError(f"{path}: does not hold rows of floating-point numbers")
    matrix = Matrix(rows, path)
    about = description_path(path)
    matrix.description = read_json(about) if about.is_file() else None
    return matrix


def check_maker(matrix: Matrix, encoder: Encoder) -> str | None:
    """Compare the model that made a matrix with the one that embeds the queries.

    Returns:
        A note for the user if nothing says which model made the matrix; otherwise None.

    Raises:
        InputError: it was another model, or the description belongs to another matrix.
    """
    made = matrix.description
    if not isinstance(made, dict) or "digest" not in made:
        doubt = "nothing says which model made it, so the result makes sense only if it was"
        return f"{matrix.name}: {doubt} {encoder.label}"
    if made["digest"] != encoder.digest:
        raise InputError(
            f"{matrix.name}: made by {made.get('label')}, but {encoder.label} embeds the sentences to search "
            "for, or one of them has changed; name the other with --model, or make the vectors again"
        )
    if (made.get("rows", matrix.shape[0]), made.get("dimension")) != matrix.shape:
        raise InputError(f"{matrix.name}: its description is of other vectors; make them again")
    return None


def vectors_of(
    values: Any, model: SentenceEncoder | None, language: str | None, name: str, *, one: bool = False
) -> npt.NDArray[Any]:
    """The vectors of texts, of which there may be `one`, if a model is given; otherwise the values, [n, dim].

    Values are floating-point numbers; a column of a table may have a list of them in each row.

    Raises:
        InputError: the values are text, and no model is given; they are one text where several are needed; or
            they are something else, or rows differ in length.
    """
    if isinstance(model, str):
        raise InputError(f"model: {model!r} is a name; open the model with load_model({model!r})")
    if isinstance(values, str) and not one:
        raise InputError(f"{name}: {values!r} is one text; sentences come in a list, and a file as a Path")
    values = [values] if isinstance(values, str) else values
    if len(getattr(values, "shape", (0,))) == 1:
        texts = as_list(values)
        if isinstance(texts[0], str) if texts else model is not None:
            if model is None:
                raise InputError(f"{name}: are text; name the model that embeds them: model=load_model()")
            return model.embed_raw_text(texts, language=language)
    values = np.asarray(values)
    if values.ndim == 1 and values.dtype == object:
        rows = [np.asarray(row) for row in values.tolist()]
        if len(lengths := {row.shape for row in rows}) > 1:
            shapes = ", ".join(sorted(map(str, lengths)))
            raise InputError(f"{name}: not rows of one length, but of the shapes {shapes}")
        values = np.stack(rows) if rows else np.empty((0, 0), np.float32)
    if values.ndim != 2 or values.dtype.kind != "f":
        raise InputError(f"{name}: not rows of floating-point numbers, but {values.dtype} {values.shape}")
    return values


def single(values: npt.NDArray[Any]) -> Float32:
    """Convert rows to single precision, float32 [n, dim]; doubles are divided by their row's largest entry.

    Only direction counts, and a double may be out of the range of single precision.
    """
    if values.dtype == np.float64:
        largest = np.abs(values).max(axis=1, keepdims=True, initial=0)
        with np.errstate(invalid="ignore"):
            values = values / np.where(largest > 0, largest, 1)
    return np.ascontiguousarray(values, np.float32)


def require_finite(norms: Float64, name: str, first: int = 0) -> None:
    """Raise an `InputError` that names the first row whose norm is not finite; `first` rows come before."""
    finite = np.isfinite(norms)
    if not finite.all():
        raise InputError(f"{name}: row {first + int(finite.argmin()) + 1} has numbers that are not finite")
