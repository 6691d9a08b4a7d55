"""Test the distances between languages, read from files with lang2vec's layout."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.language_choice import DISTANCES, distances_to_english
from paraphrastic_pipeline.registry.datasets import read_registry
from uriel_archives import ORDER, distances, write_matrices

ROOT = Path(__file__).resolve().parents[2]


def test_distances_are_those_from_english(tmp_path: Path) -> None:
    matrices = distances()
    matrices["inventory"][ORDER.index("eng"), ORDER.index("fra")] = np.nan
    matrices["syntactic"][ORDER.index("eng"), ORDER.index("fra")] = -1
    # Some languages come before English in the order and some after it, several codes stand for one language,
    # and one is unknown.
    codes = {"de": "deu", "zh": "cmn", "ar": "arb", "fra": "fra", "ger": "deu", "en": "eng"}
    found = distances_to_english(write_matrices(tmp_path, matrices), [*codes, "tr"])
    assert list(found.index) == [*codes, "tr"]
    expected = [[matrices[kind][3, ORDER.index(code)] for kind in DISTANCES] for code in codes.values()]
    expected[3] = [
        np.nan if kind in ("inventory", "syntactic") else matrices[kind][3, 5] for kind in DISTANCES
    ]
    np.testing.assert_array_equal(found[list(DISTANCES)], [*expected, [np.nan] * len(DISTANCES)])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("distances2.zip", b""),
        ("distances2.zip", None),
        ("distances_languages.txt", b"eng,deu"),
        ("distances_languages.txt", b"deu,fra"),
        ("letter_codes.json", b'["de"]'),
    ],
)
def test_other_files_are_one_line(tmp_path: Path, name: str, content: bytes | None) -> None:
    files = write_matrices(tmp_path, distances())
    if content is None:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("other.npz", b"")
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}.*lang2vec") as error:
        distances_to_english(files, ["de"])
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="lang2vec"):
        distances_to_english(files[:2], ["de"])


def test_the_real_archive() -> None:
    """Read the real archive from the mirror, or from the folder that URIEL_ARCHIVES names."""
    mirror = Path(os.environ.get("PARAPHRASTIC_MIRROR", ROOT / ".." / "shared" / "mirror"))
    files = []
    for file in read_registry(ROOT / "config/datasets.tsv")["uriel"].files:
        place = mirror / file.addresses[-1].split("://")[1]
        files.append(
            Path(os.environ["URIEL_ARCHIVES"], file.name) if "URIEL_ARCHIVES" in os.environ else place
        )
        if not files[-1].is_file():
            pytest.skip(f"no real distances: {files[-1]} is not there")
    found = distances_to_english(files, ["de", "fr", "es", "cs", "ru", "tr", "ar", "zh"])
    assert ((found >= 0) & (found <= 1)).all(axis=None)
    # The documentation of lang2vec prints this distance.
    assert found["syntactic"]["fr"] == pytest.approx(0.4569, abs=0.006)
