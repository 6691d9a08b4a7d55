"""Small files with the layout of lang2vec's."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from paraphrastic_pipeline.evaluation.language_choice import DISTANCES

# As in the real archive, English stands in the middle of the order.
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


def write_matrices(folder: Path, matrices: dict[str, np.ndarray]) -> list[Path]:
    """Write the data set that stores the upper triangles of matrices."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "distances2.zip", "w") as archive:
        for kind, matrix in matrices.items():
            data = io.BytesIO()
            sparse.save_npz(data, sparse.csr_matrix(np.triu(matrix)))
            archive.writestr(f"{kind}_upper_round2_sparse.npz", data.getvalue())
    (folder / "distances_languages.txt").write_text(",".join(ORDER))
    (folder / "letter_codes.json").write_text(json.dumps(CODES))
    return [folder / name for name in ("distances2.zip", "distances_languages.txt", "letter_codes.json")]
