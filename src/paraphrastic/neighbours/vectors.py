"""Vectors that are compared by direction: rows of numbers in memory or in a file."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Float32, Float64
from paraphrastic.base.errors import InputError
from paraphrastic.model.columns import as_list
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.matrix_description import Maker
from paraphrastic.neighbours.kernels import Entries

_LARGEST = 32767
# Types of number that a file of vectors can hold, and the header reader of each version of its format.
_KINDS = ("float16", "float32", "float64")
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def direction_entries(vectors: Float32, *, in_16_bits: bool = False) -> Entries:
    """Divide finite vectors, [n, dim], by their largest entry, which keeps cosines and avoids overflow.

    With `in_16_bits`, they are also multiplied by 32,767 and rounded to int16, which takes half the memory
    and keeps cosines to four digits.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = vectors / np.where(largest > 0, largest, 1)
    return np.rint(scaled * np.float32(_LARGEST)).astype(np.int16) if in_16_bits else scaled


def vectors_of(values: Any, model: SentenceEncoder | None, language: str | None, name: str) -> Any:
    """The vectors of texts, [n, dim], if a model is given; otherwise the values themselves.

    Raises:
        InputError: the values are text, and no model is given.
    """
    if isinstance(values, Matrix) or len(getattr(values, "shape", (0,))) != 1:
        return values
    if isinstance(model, str):
        raise InputError(f"model: {model!r} is a name; open the model with load_model({model!r})")
    texts = [values] if isinstance(values, str) else as_list(values)
    if not isinstance(texts[0], str) if texts else model is None:
        return values
    if model is None:
        raise InputError(f"{name}: are text; name the model that embeds them: model=load_model()")
    return model.embed_raw_text(texts, language=language)


def require_several(values: Any) -> None:
    """Refuse one text where several rows are needed, since it may be meant as the path of a file."""
    if isinstance(values, str):
        cause = f"{values!r} is one text; sentences come in a list, and the place of a file as a Path"
        raise InputError(f"vectors: {cause}")


def single(values: npt.NDArray[Any]) -> Float32:
    """Convert rows to single precision, float32 [n, dim]; doubles are divided by their row's largest entry.

    Only direction counts, and a double may be out of the range of single precision.
    """
    if values.dtype == np.float64:
        largest = np.abs(values).max(axis=1, keepdims=True, initial=0)
        with np.errstate(invalid="ignore"):
            values = values / np.where(largest > 0, largest, 1)
    return np.ascontiguousarray(values, np.float32)


def two_axes(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return floating-point numbers, [n, dim]; a column of a table may have a list of them in each row.

    Raises:
        InputError: the values are something else, or rows differ in length.
    """
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


def require_finite(norms: Float64, name: str, first: int = 0) -> None:
    """Raise an `InputError` that names the first row whose norm is not finite; `first` rows come before."""
    finite = np.isfinite(norms)
    if not finite.all():
        raise InputError(f"{name}: row {first + int(finite.argmin()) + 1} has numbers that are not finite")


class Matrix(ABC):
    """Rows that are read from a file on demand, as `matrix[start:stop]`.

    Attributes:
        name: name of the file.
        shape: number of rows, and of numbers per row.
        is_exact: whether the file holds the vectors unchanged.
        maker: the model that made the vectors, if the file says it of itself.
        has_all_rows: whether rows of a text that could not be read have a vector, too.
    """

    name: str
    shape: tuple[int, ...]
    is_exact: bool = True
    maker: Maker | None = None
    has_all_rows: bool = True

    @abstractmethod
    def __getitem__(self, rows: slice) -> npt.NDArray[Any]:
        """Return the numbers of these rows."""

    def some(self, rows: Sequence[int]) -> npt.NDArray[Any] | None:
        """Return the numbers of a few rows, or None if the file cannot tell them one by one."""
        return np.concatenate([np.empty((0, self.shape[1])), *(self[row : row + 1] for row in rows)])

    def identities(self, rows: Sequence[int]) -> list[Any] | None:
        """The identities of some rows; None if the file has none."""
        return None


class VectorFile(Matrix):
    """The rows of a `.npy` file as `paraphrastic embed` writes it; none of them stay in memory.

    Raises:
        InputError: the file cannot be read, or does not hold rows of floating-point numbers.
    """

    def __init__(self, path: str) -> None:
        self.name = path
        try:
            size = Path(path).stat().st_size
            with Path(path).open("rb") as file:
                version = np.lib.format.read_magic(file)
                if version not in _HEADERS:
                    raise ValueError(f"its version of the format is {version[0]}.{version[1]}")
                self.shape, in_columns, self._kind = _HEADERS[version](file)
                self._start = file.tell()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        except (ValueError, EOFError, TypeError, SyntaxError, TokenError) as error:
            cause = " ".join(str(error).split()) or "it ends too early"
            raise InputError(f"{path}: not a .npy file of vectors: {cause}") from None
        if len(self.shape) != 2 or self._kind.name not in _KINDS:
            raise InputError(f"{path}: not rows of floating-point numbers, but {self._kind} {self.shape}")
        if any(isinstance(length, bool) or length < 0 for length in self.shape):
            raise InputError(f"{path}: damaged: its shape is {self.shape}")
        if in_columns and min(self.shape) > 1:
            raise InputError(f"{path}: is stored by columns; save numpy.ascontiguousarray(vectors)")
        rows, dim = self.shape
        expected = self._start + rows * dim * self._kind.itemsize
        if size < expected:
            raise InputError(f"{path}: damaged: it has {size} bytes, but its {rows} rows need {expected}")

    def __getitem__(self, rows: slice) -> npt.NDArray[Any]:
        dim = self.shape[1]
        count = (rows.stop - rows.start) * dim
        offset = self._start + rows.start * dim * self._kind.itemsize
        try:
            values = np.fromfile(self.name, self._kind, count, offset=offset)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror}") from None
        if len(values) < count:
            raise InputError(f"{self.name}: has become shorter while it was read")
        return values.reshape(rows.stop - rows.start, dim)
