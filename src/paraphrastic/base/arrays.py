"""Types of numpy's arrays by the type of their entries; docstrings give the shapes."""

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
