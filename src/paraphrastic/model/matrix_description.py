"""Which model made vectors: `vectors.npy.json` says it of `vectors.npy`, Parquet files of themselves."""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Int64, unit_rows
from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import parse_json, read_json, write_json
from paraphrastic.base.limits import Count, Name
from paraphrastic.base.typed import faults
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.system import System

# The first entry of a description, by which it is told from other files, and the version of its format.
_MARK, _FORMAT = "paraphrastic_matrix", 1
# Rows that identify a matrix, and how many numbers of each: other ones in each row, where there are enough.
_ROWS, _NUMBERS = 16, 8
# Lowest cosine of the numbers in the description with those in the matrix: of one that holds the vectors as
# they are, possibly in 16 bits, and of one that holds them roughly. Those of another model are near 0.
_SAME, _ROUGHLY_SAME = 0.999, 0.4

Described = TypeVar("Described", bound="Maker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """The model that made vectors, and how.

    Attributes:
        label: the kind and name of the model, as messages show it.
        model: the model's folder or name, as `--model` takes it.
        digest: the model's digest.
        preparation: how the model prepares text; None for another library's.
        language: the language that was named.
        dtype: type of the numbers.
        normalized: whether the vectors have unit length.
        version: version of this package.
    """

    keeps_others: ClassVar[bool] = True

    label: Name
    model: str
    digest: str
    preparation: Mapping[str, Any] | None
    language: Name | None
    dtype: str
    normalized: bool
    version: str

    @classmethod
    def of(
        cls,
        encoder: SentenceEncoder | System,
        *,
        model: str,
        language: str | None,
        dtype: str,
        normalized: bool,
    ) -> "Maker":
        """Describe an encoder and how it is used."""
        try:
            version = metadata.version("paraphrastic")
        except metadata.PackageNotFoundError:
            version = "unknown"
        return Maker(
            label=encoder.label,
            model=model,
            digest=encoder.digest,
            preparation=encoder.preparation,
            language=language,
            dtype=dtype,
            normalized=normalized,
            version=version,
        )

    def content(self) -> dict[str, Any]:
        """The description as JSON has it."""
        return {_MARK: _FORMAT, **asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixDescription(Maker):
    """What is known about a matrix that `embed` wrote.

    Attributes:
        rows: number of rows, one per line of the text.
        dimension: numbers per row.
        sample: the direction of some rows, which shows whether the description belongs to a matrix.
    """

    rows: Count
    dimension: Count
    sample: str

    @classmethod
    def about(cls, maker: Maker, vectors: npt.NDArray[Any]) -> Self:
        """Describe vectors that an encoder made, [n, dim]."""
        sample = base64.b64encode(_numbers(vectors[sampled_rows(len(vectors))]).tobytes()).decode()
        return cls(**asdict(maker), rows=len(vectors), dimension=vectors.shape[1], sample=sample)

    def describes(self, rows: int, sample: npt.NDArray[Any], *, is_exact: bool = True) -> bool:
        """Whether a matrix with so many rows, of which these are the `sampled_rows`, is the one described."""
        if (rows, sample.shape[1]) != (self.rows, self.dimension):
            return False
        described = np.frombuffer(base64.b64decode(self.sample), "<f2").astype(np.float64)
        other = _numbers(sample).astype(np.float64)
        if not described.any() or not other.any():
            return not described.any() and not other.any()
        with np.errstate(all="ignore"):
            cosine = described @ other / np.sqrt((described @ described) * (other @ other))
        return bool(cosine >= (_SAME if is_exact else _ROUGHLY_SAME))

    def write(self, path: Path) -> None:
        """Write the description."""
        write_json(path, self.content())


def description_path(matrix: str | Path) -> Path:
    """The place of a matrix's description; if the matrix is a link, beside the file that it leads to."""
    return Path(f"{os.path.realpath(matrix) if Path(matrix).is_symlink() else matrix}.json")


def read_description(path: Path) -> MatrixDescription | None:
    """Read a description; None if there is none, or another program's file is there.

    Raises:
        InputError: the file cannot be read, or the description is damaged.
    """
    if not path.exists():
        return None
    try:
        content = read_json(path)
    except InputError as error:
        raise InputError(f"{error}; {_remedy(path)}") from None
    description = _checked(content, MatrixDescription, str(path), _remedy(path))
    if description is not None and not _is_sample(description):
        raise InputError(f"{path}: damaged: `sample` does not fit `rows` and `dimension`; {_remedy(path)}")
    return description


def read_maker(content: bytes, name: str) -> Maker | None:
    """Read a description that `name` holds; None if it is another program's.

    Raises:
        InputError: the description is damaged.
    """
    remedy = "make the file again with `paraphrastic embed`"
    try:
        parsed = parse_json(content)
    except ValueError as error:
        raise InputError(f"{name}: not readable as JSON: {on_one_line(error)}; {remedy}") from None
    return _checked(parsed, Maker, name, remedy)


def _checked(content: Any, kind: type[Described], name: str, remedy: str) -> Described | None:
    """The description that a file holds; None if it is another program's."""
    if not isinstance(content, dict) or _MARK not in content:
        return None
    if content[_MARK] != _FORMAT:
        raise InputError(f"{name}: written by another version of paraphrastic; {remedy}")
    for fault in faults(content, kind):
        raise InputError(f"{name}: damaged: {fault}; {remedy}")
    return kind(**{field.name: content[field.name] for field in fields(kind)})


def require_replaceable(path: Path) -> None:
    """Refuse to write a description over a file that is not one."""
    try:
        fits = read_description(path) is not None or not path.exists()
    except InputError:
        fits = False
    if not fits:
        raise InputError(
            f"{path}: is in the way: the description of the matrix goes there, but this file is not one; "
            "move it away, or choose another output"
        )


def sampled_rows(rows: int) -> Int64:
    """The rows that identify a matrix, spread evenly."""
    return np.linspace(0, max(0, rows - 1), min(_ROWS, rows)).astype(np.int64)


def _numbers(sample: npt.NDArray[Any]) -> npt.NDArray[np.float16]:
    """The numbers of the sampled rows that a description holds."""
    units = unit_rows(sample)
    count, dim = units.shape
    columns = (np.arange(count)[:, None] * _NUMBERS + np.arange(_NUMBERS)) % max(1, dim)
    return np.take_along_axis(units, columns, axis=1).astype("<f2").ravel()


def _is_sample(description: MatrixDescription) -> bool:
    try:
        content = base64.b64decode(description.sample, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(content) == 2 * _NUMBERS * min(_ROWS, description.rows)


def _remedy(path: Path) -> str:
    return f"remove {path.name}, or make the matrix again with `paraphrastic embed`"
