"""Distances between languages from URIEL (Littell et al. 2017), in the archives of the lang2vec project.

`distances2.zip` in its repository holds a sparse matrix for each kind of distance: its upper triangle, with
two decimals. `distances_languages.txt` beside it lists the languages in the order of rows and columns.
The older `distances.zip` holds a CSV file for each kind, with the languages in the header and first column.
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
from paraphrastic_pipeline.registry.archive import open_members

log = logging.getLogger(__name__)

DISTANCES = ("featural", "syntactic", "genetic", "geographic", "phonological", "inventory")
ENGLISH = "eng"

# Codes of macrolanguages, and the single language that corpora are in. URIEL may not know a macrolanguage
# well: for Arabic as a whole, all geographic distances are 1.
_SINGLE = {
    "ara": "arb", "aze": "azj", "fas": "pes", "kur": "kmr", "mlg": "plt", "mon": "khk",
    "msa": "zsm", "sqi": "als", "swa": "swh", "uzb": "uzn", "yid": "ydd", "zho": "cmn",
}  # fmt: skip
_DAMAGE = (OSError, EOFError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)


def distances_to_english(
    files: Sequence[Path], languages: Sequence[str], *, max_bytes: int = 1 << 30
) -> dict[str, dict[str, float]]:
    """Distances from English to each language, by kind; a distance missing in URIEL is left out and logged.

    Args:
        files: the data set: an archive (`.zip`), a table from two-letter to three-letter codes (`.json`) and,
            if the archive holds matrices, the order of their languages (`.txt`).
        languages: ISO 639 codes with two or three letters.
        max_bytes: largest unpacked size of a member of the archive.

    Raises:
        InputError: a file is missing or damaged, or its layout differs from lang2vec's.
    """
    archive, (order, *_) = _of(files, ".zip"), [*(file for file in files if file.suffix == ".txt"), None]
    codes = _codes(_of(files, ".json"), languages)
    distances: dict[str, dict[str, float]] = {language: {} for language in languages}
    for kind in DISTANCES:
        name = f"{kind}_upper_round2_sparse.npz" if order else f"{kind.upper()}.csv"
        with open_members(archive, [name], max_bytes=max_bytes) as (stream,):
            label = f"{archive}: {name}"
            row = _matrix_row(stream.read(), label, order, max_bytes) if order else _csv_row(stream, label)
        for language, code in codes.items():
            distance = row.get(code, math.nan)
            if distance >= 0:
                distances[language][kind] = distance
            else:
                log.warning("%s: no %s distance from English to %s (%s)", archive, kind, language, code)
    return distances


def _of(files: Sequence[Path], suffix: str) -> Path:
    chosen = [file for file in files if file.suffix == suffix]
    if len(chosen) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise InputError(f"distances of URIEL: one {suffix} file is needed; the data set has {names}")
    return chosen[0]


def _codes(path: Path, languages: Sequence[str]) -> dict[str, str]:
    """Three-letter codes of the languages, by the given codes."""
    known = read_json(path)
    if not (isinstance(known, Mapping) and all(isinstance(code, str) for code in known.values())):
        raise InputError(f"{path}: not a table of language codes")
    codes = {language: known.get(language, language) for language in languages}
    return {language: _SINGLE.get(code, code) for language, code in codes.items()}


def _matrix_row(data: bytes, label: str, order: Path, max_bytes: int) -> dict[str, float]:
    """Distances from English, by code, from the upper triangle of a matrix."""
    try:
        codes = [code.strip() for code in order.read_text(encoding="utf-8").split(",")]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{order}: not readable as a list of languages: {error}") from None
    try:
        # The member is itself a compressed file, so its unpacked size has to be checked again.
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
    upper = sparse.triu(matrix, 1, format="csr")
    if not upper.nnz:
        raise InputError(f"{label}: there is nothing above the diagonal")
    if ENGLISH not in codes:
        raise InputError(f"{order}: {ENGLISH} is not among the languages")
    english = codes.index(ENGLISH)
    distances = (upper[english] + upper[:, english].T).toarray()[0]
    return dict(zip(codes, distances.tolist(), strict=True))


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
