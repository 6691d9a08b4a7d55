"""Small archives with the layout of lang2vec's archives."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from paraphrastic_pipeline.evaluation.uriel import DISTANCES

# As in the real archives, English stands in the middle of the order.
ORDER = ["aap", "deu", "arb", "eng", "cmn", "fra", "zho"]
CODES = {"de": "deu", "fr": "fra", "en": "eng", "zh": "zho", "ar": "ara", "tr": "tur", "ger": "deu"}


def distances(seed: int = 0) -> dict[str, np.ndarray]:
    """Return a symmetric matrix for each kind of distance, with zeros on the diagonal."""
    generator = np.random.default_rng(seed)
    found = {}
    for kind in DISTANCES:
        matrix = np.triu(generator.uniform(0.05, 1, (len(ORDER), len(ORDER))).round(2), 1)
        found[kind] = matrix + matrix.T
    return found


def write_matrices(folder: Path, matrices: dict[str, np.ndarray], layout: str = "csr") -> list[Path]:
    """Write the data set that stores the upper triangles of matrices; `whole` adds all other numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "distances2.zip", "w") as archive:
        for kind, matrix in matrices.items():
            data = io.BytesIO()
            stored = matrix + np.eye(len(matrix)) if layout == "whole" else np.triu(matrix)
            sparse.save_npz(data, sparse.coo_matrix(stored).asformat("csr" if layout == "whole" else layout))
            archive.writestr(f"{kind}_upper_round2_sparse.npz", data.getvalue())
    (folder / "distances_languages.txt").write_text(",".join(ORDER))
    return [folder / "distances2.zip", folder / "distances_languages.txt", write_codes(folder)]


def write_tables(folder: Path, matrices: dict[str, np.ndarray]) -> list[Path]:
    """Write the data set that has one CSV file per kind of distance."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "distances.zip", "w") as archive:
        for kind, matrix in matrices.items():
            lines = [",".join(["G_CODE", *ORDER])]
            lines += [",".join([code, *map(str, row)]) for code, row in zip(ORDER, matrix, strict=True)]
            archive.writestr(f"{kind.upper()}.csv", "\n".join(lines) + "\n")
    return [folder / "distances.zip", write_codes(folder)]


def write_codes(folder: Path) -> Path:
    (folder / "letter_codes.json").write_text(json.dumps(CODES))
    return folder / "letter_codes.json"
