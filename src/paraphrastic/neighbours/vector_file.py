"""A matrix of vectors in a `.npy` file, as `paraphrastic embed` writes it, read in blocks."""

from pathlib import Path
from tokenize import TokenError

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.neighbours.kernels import Float32
from paraphrastic.neighbours.vectors import single

_KINDS = ("float16", "float32", "float64")


class VectorFile:
    """The rows of a `.npy` file; nothing of it stays in memory.

    Attributes:
        name: of the file.
        rows: their number.
        dim: of each.

    Raises:
        InputError: it cannot be read, or does not hold rows of floating-point numbers.
    """

    def __init__(self, path: str) -> None:
        self.name = path
        try:
            size = Path(path).stat().st_size
            with Path(path).open("rb") as file:
                version = np.lib.format.read_magic(file)
                if version not in ((1, 0), (2, 0)):
                    raise ValueError(f"its version of the format is {version[0]}.{version[1]}")
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, in_columns, self._kind = read(file)
                self._start = file.tell()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        except (ValueError, EOFError, TypeError, SyntaxError, TokenError) as error:
            cause = " ".join(str(error).split()) or "it ends too early"
            raise InputError(f"{path}: not a .npy file of vectors: {cause}") from None
        if len(shape) != 2 or self._kind.name not in _KINDS:
            raise InputError(f"{path}: not rows of floating-point numbers, but {self._kind} {shape}")
        if any(isinstance(size, bool) or size < 0 for size in shape):
            raise InputError(f"{path}: damaged: its shape is {shape}")
        if in_columns and min(shape) > 1:
            raise InputError(f"{path}: is stored by columns; save numpy.ascontiguousarray(vectors)")
        self.rows, self.dim = shape
        expected = self._start + self.rows * self.dim * self._kind.itemsize
        if size < expected:
            raise InputError(f"{path}: damaged: {size} bytes, where its {self.rows} rows take {expected}")

    def read(self, start: int, stop: int) -> Float32:
        """These rows, float32 [stop - start, dim]."""
        count = (stop - start) * self.dim
        offset = self._start + start * self.dim * self._kind.itemsize
        try:
            values = np.fromfile(self.name, self._kind, count, offset=offset)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror}") from None
        if len(values) < count:
            raise InputError(f"{self.name}: has become shorter while it was read")
        return single(values.reshape(stop - start, self.dim))
