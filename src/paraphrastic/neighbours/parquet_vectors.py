"""Vectors in Parquet files, as `paraphrastic embed` writes them: one file, or a folder of shards."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Int64
from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.identities import identity_values
from paraphrastic.model.matrix_description import read_maker
from paraphrastic.model.vector_tables import IDENTITY, METADATA, VECTOR, is_parquet
from paraphrastic.neighbours.vectors import Matrix, VectorFile


def open_vectors(path: str) -> Matrix:
    """Open a `.npy` file, a `.parquet` file or a folder of such files.

    Raises:
        InputError: see `VectorFile` and `ParquetVectors`.
    """
    return ParquetVectors(path) if is_parquet(path) or Path(path).is_dir() else VectorFile(path)


class ParquetVectors(Matrix):
    """The vectors of a Parquet file, or of all such files of a folder in the order of their names.

    A part of a file, its row group, stays in memory until another one is read.

    Args:
        path: the file or the folder. The column `vector` has lists of floating-point numbers.

    Raises:
        InputError: pyarrow is not installed, or a file cannot be read, has no such column, or differs from
            the first one in its dimension or in the model that made it.
    """

    has_all_rows = False

    def __init__(self, path: str) -> None:
        try:
            import pyarrow as pa
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise InputError(f"{path}: Parquet needs pyarrow: pip install pyarrow") from None
        self.name, self._error = path, (pa.ArrowException, OSError)
        names = sorted(map(str, Path(path).glob("*.parquet"))) if Path(path).is_dir() else [path]
        if not names:
            raise InputError(f"{path}: a folder without .parquet files")
        self._files: list[Any] = []
        parts, lengths, dims, makers = [], [], [], []
        for name in names:
            try:
                file = ParquetFile(name, memory_map=True)
                dims.append(_dimension(file, name))
            except self._error as error:
                raise InputError(f"{name}: cannot be read: {on_one_line(error)}") from None
            about = (file.schema_arrow.metadata or {}).get(METADATA.encode())
            makers.append(about and read_maker(about, name))
            groups = range(file.num_row_groups)
            parts += [(len(self._files), group) for group in groups]
            lengths += [file.metadata.row_group(group).num_rows for group in groups]
            self._files.append(file)
        known = {dim: name for dim, name in zip(reversed(dims), reversed(names), strict=True) if dim}
        if len(known) > 1:
            (dim, name), (other, other_name) = list(known.items())[:2]
            raise InputError(
                f"{name}: has vectors of {dim} dimensions, but those of {other_name} have {other}"
            )
        for name, maker in zip(names, makers, strict=True):
            if (maker and maker.digest) != (makers[0] and makers[0].digest):
                raise InputError(f"{name}: another model made it than {names[0]}")
        self.maker = makers[0]
        self._names, self._parts = names, parts
        self._starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self.shape = int(self._starts[-1]), next(iter(known), 0)
        self._kept: tuple[int, npt.NDArray[Any]] | None = None

    def __getitem__(self, rows: slice) -> npt.NDArray[Any]:
        found = [np.empty((0, self.shape[1]), np.float32)]
        row = rows.start
        while row < rows.stop:
            part = int(np.searchsorted(self._starts, row, "right")) - 1
            start, end = int(self._starts[part]), min(rows.stop, int(self._starts[part + 1]))
            found.append(self._read(part)[row - start : end - start])
            row = end
        return np.concatenate(found[1:] or found)

    def identities(self, rows: Sequence[int]) -> list[Any] | None:
        """The identities of some rows, if all files have them."""
        if not all(IDENTITY in file.schema_arrow.names for file in self._files):
            return None
        parts = np.searchsorted(self._starts, rows, "right") - 1
        places = np.asarray(rows) - self._starts[parts]
        found: dict[int, Any] = {}
        for part in set(parts.tolist()):
            of_part = np.flatnonzero(parts == part)
            column = identity_values(self._column(part, IDENTITY), f"{self.name}: {IDENTITY!r}")
            found |= {place: column[places[place]] for place in of_part.tolist()}
        return [found[place] for place in range(len(rows))]

    def _read(self, part: int) -> npt.NDArray[Any]:
        """The vectors of a row group."""
        if self._kept is None or self._kept[0] != part:
            name = self._names[self._parts[part][0]]
            self._kept = part, _matrix(self._column(part, VECTOR), self.shape[1], name)
        return self._kept[1]

    def _column(self, part: int, name: str) -> Any:
        """A column of a row group."""
        file, group = self._parts[part]
        try:
            return self._files[file].read_row_group(group, [name]).column(name).combine_chunks()
        except self._error as error:
            raise InputError(f"{self._names[file]}: cannot be read: {on_one_line(error)}") from None


def _dimension(file: Any, name: str) -> int:
    """The length of the vectors in a file; 0 if nothing says it, since there are no rows."""
    import pyarrow as pa

    columns = file.schema_arrow
    if VECTOR not in columns.names:
        raise InputError(f"{name}: has no column {VECTOR!r}, but {', '.join(map(repr, columns.names))}")
    kind = columns.field(VECTOR).type
    is_fixed = pa.types.is_fixed_size_list(kind)
    is_list = is_fixed or pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not is_list or not pa.types.is_floating(kind.value_type):
        raise InputError(f"{name}: column {VECTOR!r} has {kind}, not lists of floating-point numbers")
    if is_fixed:
        return int(kind.list_size)
    first = next(file.iter_batches(1, columns=[VECTOR]), None)
    value = None if first is None or not len(first) else first.column(0)[0].as_py()
    return 0 if value is None else len(value)


def _matrix(column: Any, dim: int, name: str) -> npt.NDArray[Any]:
    """A column of lists as rows, [n, dim]."""
    numbers: npt.NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
    lengths: Int64 = np.diff(np.arange(len(column) + 1) * dim)
    if not column.null_count and hasattr(column, "offsets"):
        lengths = np.diff(column.offsets.to_numpy())
    if column.null_count or column.flatten().null_count or (lengths != dim).any():
        raise InputError(f"{name}: not every row has a vector of {dim} numbers in column {VECTOR!r}")
    return numbers.reshape(len(column), dim)
