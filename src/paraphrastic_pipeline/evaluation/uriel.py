"""Distances between languages from URIEL (Littell et al. 2017), in the files of the lang2vec project."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from scipy import sparse

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json

DISTANCES = ("featural", "syntactic", "genetic", "geographic", "phonological", "inventory")
ENGLISH = "eng"

# Codes of macrolanguages, and the single language that corpora are in. URIEL may not know a macrolanguage
# well: for Arabic as a whole, all geographic distances are 1.
_SINGLE = {
    "ara": "arb", "aze": "azj", "fas": "pes", "kur": "kmr", "mlg": "plt", "mon": "khk",
    "msa": "zsm", "sqi": "als", "swa": "swh", "uzb": "uzn", "yid": "ydd", "zho": "cmn",
}  # fmt: skip


def distances_to_english(files: Sequence[Path], languages: Sequence[str]) -> pd.DataFrame:
    """Distances from English: a row for each language, a column for each kind, NaN for what URIEL lacks.

    Args:
        files: `distances2.zip` with the upper triangle of a sparse matrix for each kind, a list of its
            languages (`.txt`), and a table from two-letter to three-letter codes (`.json`).
        languages: ISO 639 codes with two or three letters.

    Raises:
        InputError: a file is missing or is another one.
    """
    by_kind = {file.suffix: file for file in files}
    try:
        known = read_json(by_kind[".json"])
        codes = [known.get(language, language) for language in languages]
        order = [code.strip() for code in by_kind[".txt"].read_text(encoding="utf-8").split(",")]
        english, columns = order.index(ENGLISH), {}
        with zipfile.ZipFile(by_kind[".zip"]) as archive:
            for kind in DISTANCES:
                content = io.BytesIO(archive.read(f"{kind}_upper_round2_sparse.npz"))
                upper = sparse.triu(sparse.load_npz(content), 1, format="csr")
                columns[kind] = (upper[[english]] + upper[:, [english]].T).toarray()[0]
        table = pd.DataFrame(columns, index=order)
    except (OSError, ValueError, LookupError, AttributeError, zipfile.BadZipFile) as error:
        names = ", ".join(map(str, files))
        raise InputError(f"{names}: are not lang2vec's distances: {' '.join(str(error).split())}") from None
    found = table[~table.index.duplicated()].reindex([_SINGLE.get(code, code) for code in codes])
    return found.where(found >= 0).set_axis(list(languages))
