"""Distances between languages from URIEL (Littell et al. 2017), in the archives of the lang2vec project.

`distances2.zip` of its repository has the upper triangle of a sparse matrix for each kind of distance,
rounded to two digits; `distances_languages.txt` beside it has the languages in the order of rows and columns.
The older `distances.zip` has a CSV file a kind, whose header and first column are the languages.
"""

import csv
import io
import logging
import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from scipy import sparse

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.registry.archive import open_members

log = logging.getLogger(__name__)

KINDS = ("featural", "syntactic", "genetic", "geographic", "phonological", "inventory")
ENGLISH = "eng"

# Codes of several languages, and the one of them that corpora are in: for Arabic as a whole, all of URIEL's
# geographic distances are 1.
_SINGLE = {
    "ara": "arb", "aze": "azj", "fas": "pes", "kur": "kmr", "mlg": "plt", "mon": "khk",
    "msa": "zsm", "sqi": "als", "swa": "swh", "uzb": "uzn", "yid": "ydd", "zho": "cmn",
}  # fmt: skip
_DAMAGE = (OSError, EOFError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)


def distances_to_english(
    files: Sequence[Path], languages: Sequence[str], *, max_bytes: int
) -> dict[str, dict[str, float]]:
    """Distances from English to each language, by kind; what URIEL does not have is left out, and logged.

    Args:
        files: the data set: an archive (`.zip`), codes of two letters with those of three (`.json`), and, if
            the archive has matrices, the order of their languages (`.txt`).
        languages: codes of ISO 639, of two letters or three.
        max_bytes: bound of each member of the archive, unpacked.

    Raises:
        InputError: a file is missing, damaged or not laid out as those of lang2vec.
    """
    archive, (order, *_) = _of(files, ".zip"), [*(file for file in files if file.suffix == ".txt"), None]
    codes = _codes(_of(files, ".json"), languages)
    found: dict[str, dict[str, float]] = {language: {} for language in languages}
    for kind in KINDS:
        name = f"{kind}_upper_round2_sparse.npz" if order else f"{kind.upper()}.csv"
        with open_members(archive, [name], max_bytes=max_bytes) as (stream,):
            label = f"{archive}: {name}"
            row = _matrix_row(stream.read(), label, order, max_bytes) if order else _csv_row(stream, label)
        for language, code in codes.items():
            distance = row.get(code, math.nan)
            if distance >= 0:
                found[language][kind] = distance
            else:
                log.warning("%s: no %s distance from English to %s (%s)", archive, kind, language, code)
    return found


def _of(files: Sequence[Path], suffix: str) -> Path:
    found = [file for file in files if file.suffix == suffix]
    if len(found) != 1:
        there = ", ".join(file.name for file in files) or "none"
        raise InputError(f"distances of URIEL: one {suffix} file is needed; the data set has {there}")
    return found[0]


def _codes(path: Path, languages: Sequence[str]) -> dict[str, str]:
    """The languages' codes of three letters, by the codes that were asked for."""
    known = read_json(path)
    if not (isinstance(known, Mapping) and all(isinstance(code, str) for code in known.values())):
        raise InputError(f"{path}: not a table of language codes")
    codes = {language: known.get(language, language) for language in languages}
    return {language: _SINGLE.get(code, code) for language, code in codes.items()}


def _matrix_row(data: bytes, label: str, order: Path, max_bytes: int) -> dict[str, float]:
    """Distances from English, by code, from the upper triangle of a matrix."""
    codes = [code.strip() for code in _text(order).split(",")]
    try:
        # The arrays in it are compressed once more.
        with zipfile.ZipFile(io.BytesIO(data)) as arrays:
            size = sum(array.file_size for array in arrays.infolist())
        if size > max_bytes:
            raise InputError(f"{label}: {size} bytes when unpacked, more than the bound of {max_bytes}")
        matrix = sparse.load_npz(io.BytesIO(data)).tocsr()
    except _DAMAGE as error:
        raise InputError(f"{label}: not a sparse matrix: {' '.join(str(error).split())}") from None
    if matrix.shape != (len(codes), len(codes)):
        rows, columns = matrix.shape
        raise InputError(f"{label}: {rows} × {columns} distances, but {order} has {len(codes)} languages")
    if not sparse.triu(matrix, 1).nnz:
        raise InputError(f"{label}: there is nothing above the diagonal")
    if ENGLISH not in codes:
        raise InputError(f"{order}: {ENGLISH} is not among the languages")
    english = codes.index(ENGLISH)
    after, before = matrix[english].toarray()[0], matrix[:, english].toarray()[:, 0]
    return {code: float((after if place > english else before)[place]) for place, code in enumerate(codes)}


def _csv_row(stream: BinaryIO, label: str) -> dict[str, float]:
    """Distances from English, by code, from a table of all languages."""
    rows = csv.reader(io.TextIOWrapper(stream, encoding="utf-8", newline=""))
    try:
        _, *codes = (cell.strip() for cell in next(rows, [""]))
        cells = next((row[1:] for row in rows if row[0].strip() == ENGLISH), None)
        if cells is None:
            raise InputError(f"{label}: {ENGLISH} is not among the languages")
        return {code: float(cell) for code, cell in zip(codes, cells, strict=True)}
    except (ValueError, IndexError, csv.Error) as error:
        raise InputError(f"{label}: line {rows.line_num}: not a table of distances: {error}") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as a list of languages: {error}") from None
