"""Test the distances between languages, read from archives with lang2vec's layout."""

import io
import logging
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.uriel import DISTANCES, distances_to_english
from paraphrastic_pipeline.registry.datasets import read_registry
from uriel_archives import ORDER, distances, write_matrices, write_tables

ROOT = Path(__file__).resolve().parents[2]
BOUND = 1 << 24


def expected(matrices: dict[str, np.ndarray], code: str) -> dict[str, float]:
    row, column = ORDER.index("eng"), ORDER.index(code)
    return {kind: matrices[kind][row, column] for kind in DISTANCES}


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "whole"])
def test_distances_of_an_upper_triangle(tmp_path: Path, layout: str) -> None:
    matrices = distances()
    files = write_matrices(tmp_path, matrices, layout)
    found = distances_to_english(files, ["de", "zh", "ar", "fra", "ger", "en"], max_bytes=BOUND)
    # Some languages come before English in the order and some after it, and some codes stand for the same
    # language.
    codes = {"de": "deu", "zh": "cmn", "ar": "arb", "fra": "fra", "ger": "deu", "en": "eng"}
    assert found == {language: expected(matrices, code) for language, code in codes.items()}


def test_distances_of_tables_are_those_from_english(tmp_path: Path) -> None:
    matrices = distances()
    # The genetic distance of two languages is different in each direction.
    english, german = ORDER.index("eng"), ORDER.index("deu")
    matrices["genetic"][english, german], matrices["genetic"][german, english] = 0.4569, 0.9
    found = distances_to_english(write_tables(tmp_path, matrices), ["de", "fr", "zh"], max_bytes=BOUND)
    codes = {"de": "deu", "fr": "fra", "zh": "cmn"}
    assert found == {language: expected(matrices, code) for language, code in codes.items()}
    assert found["de"]["genetic"] == 0.4569


def test_what_uriel_does_not_have_is_left_out_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    matrices = distances()
    matrices["inventory"][ORDER.index("eng"), ORDER.index("fra")] = np.nan
    matrices["syntactic"][ORDER.index("eng"), ORDER.index("fra")] = -1
    caplog.set_level(logging.WARNING)
    found = distances_to_english(write_matrices(tmp_path, matrices), ["tr", "fr"], max_bytes=BOUND)
    assert found["tr"] == {}
    assert set(found["fr"]) == set(DISTANCES) - {"inventory", "syntactic"}
    assert "no genetic distance from English to tr (tur)" in caplog.text
    assert "no inventory distance from English to fr (fra)" in caplog.text


def rewritten(archive: Path, name: str, data: bytes) -> None:
    with zipfile.ZipFile(archive) as old:
        members = {each: old.read(each) for each in old.namelist()}
    with zipfile.ZipFile(archive, "w") as new:
        for each, content in {**members, name: data}.items():
            new.writestr(each, content)


def matrix_of(**arrays: np.ndarray) -> bytes:
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    return data.getvalue()


NAME = "featural_upper_round2_sparse.npz"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a sparse matrix"),
        (b"PK\x03\x04 and no more", "not a sparse matrix"),
        (matrix_of(a=np.zeros(3)), "not a sparse matrix"),
        (matrix_of(a=np.zeros(BOUND)), f"134217856 bytes when unpacked, more than the bound of {BOUND}"),
        # The archive's objects are not loaded, since that would run code.
        (matrix_of(format=np.array(["csr"], object)), "not a sparse matrix: Object arrays cannot be"),
    ],
)
def test_a_damaged_matrix_is_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    files = write_matrices(tmp_path, distances())
    rewritten(files[0], NAME, data)
    with pytest.raises(InputError, match=f"{NAME}: {message}") as error:
        distances_to_english(files, ["de"], max_bytes=BOUND)
    assert str(files[0]) in str(error.value)
    assert "\n" not in str(error.value)


def test_another_order_of_languages_is_one_line(tmp_path: Path) -> None:
    files = write_matrices(tmp_path, distances())
    files[1].write_text(",".join(ORDER[:-1]))
    with pytest.raises(InputError, match=r"7 × 7 distances, but .*languages\.txt has 6 languages"):
        distances_to_english(files, ["de"], max_bytes=BOUND)
    files[1].write_text(",".join(code.replace("eng", "enx") for code in ORDER))
    with pytest.raises(InputError, match=r"languages\.txt: eng is not among the languages"):
        distances_to_english(files, ["de"], max_bytes=BOUND)


def test_a_lower_triangle_is_one_line(tmp_path: Path) -> None:
    files = write_matrices(tmp_path, {kind: np.tril(matrix) for kind, matrix in distances().items()})
    with pytest.raises(InputError, match=f"{NAME}: there is nothing above the diagonal"):
        distances_to_english(files, ["de"], max_bytes=BOUND)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "FEATURAL.csv: eng is not among the languages"),
        (b"G_CODE,deu,eng\ndeu,0,0.5\n", "FEATURAL.csv: eng is not among the languages"),
        (b"G_CODE,deu,eng\neng,0.5,x\n", "FEATURAL.csv: line 2: not a table of distances: could not convert"),
        (b"G_CODE,deu,eng\neng,0.5\n", "FEATURAL.csv: line 2: not a table of distances"),
        (b"G_CODE,deu,eng\n\n", "FEATURAL.csv: line 2: not a table of distances"),
        (b"G_CODE,deu,eng\n\xff,0.5\n", "FEATURAL.csv: line 0: not a table of distances: 'utf-8' codec"),
    ],
)
def test_a_damaged_table_is_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    files = write_tables(tmp_path, distances())
    rewritten(files[0], "FEATURAL.csv", data)
    with pytest.raises(InputError, match=message) as error:
        distances_to_english(files, ["de"], max_bytes=BOUND)
    assert "\n" not in str(error.value)


def test_another_archive_is_one_line(tmp_path: Path) -> None:
    archive, order, codes = write_matrices(tmp_path, distances())
    with pytest.raises(InputError, match=r"has no member FEATURAL\.csv; it holds featural_upper"):
        distances_to_english([archive, codes], ["de"], max_bytes=BOUND)
    with pytest.raises(InputError, match=r"one \.json file is needed; the data set has distances2\.zip"):
        distances_to_english([archive], ["de"], max_bytes=BOUND)
    with pytest.raises(InputError, match="bound of 10"):
        distances_to_english([archive, order, codes], ["de"], max_bytes=10)
    codes.write_text('["de"]')
    with pytest.raises(InputError, match=r"letter_codes\.json: not a table of language codes"):
        distances_to_english([archive, order, codes], ["de"], max_bytes=BOUND)


@pytest.mark.parametrize("name", ["uriel", "uriel_2019"])
def test_the_real_archive(name: str) -> None:
    """Read the real archive from the mirror, or from the folder that URIEL_ARCHIVES names."""
    mirror = Path(os.environ.get("PARAPHRASTIC_MIRROR", ROOT / ".." / "shared" / "mirror"))
    files = []
    for file in read_registry(ROOT / "config/datasets.tsv")[name].files:
        place = mirror / file.addresses[-1].split("://")[1]
        files.append(
            Path(os.environ["URIEL_ARCHIVES"], file.name) if "URIEL_ARCHIVES" in os.environ else place
        )
        if not files[-1].is_file():
            pytest.skip(f"no real distances: {files[-1]} is not there")
    languages = ["de", "fr", "es", "cs", "ru", "tr", "ar", "zh"]
    found = distances_to_english(files, languages, max_bytes=1 << 30)
    for kind in DISTANCES:
        assert all(0 <= found[language][kind] <= 1 for language in languages), kind
    # The documentation of lang2vec prints this distance.
    assert found["fr"]["syntactic"] == pytest.approx(0.4569, abs=0.006)
    assert found["de"]["genetic"] < found["ru"]["genetic"] <= found["zh"]["genetic"]
    assert found["fr"]["geographic"] < found["zh"]["geographic"]
