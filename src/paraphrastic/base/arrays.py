"""Arrays of numpy: their types by the type of the entries (docstrings give the shapes), and unit rows."""

import numpy as np
import numpy.typing as npt

Bool = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
UInt64 = npt.NDArray[np.uint64]
Float16 = npt.NDArray[np.float16]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


def unit_rows(vectors: npt.ArrayLike) -> Float64:
    """Rows of length 1, [n, dim]; zero stays zero."""
    values = np.asarray(vectors, np.float64)
    with np.errstate(all="ignore"):
        values = values / np.maximum(np.abs(values).max(axis=1, keepdims=True, initial=0), 1e-300)
        return np.asarray(values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-300))
