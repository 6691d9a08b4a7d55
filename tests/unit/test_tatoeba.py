"""Test how Tatoeba is read, and the error rates against plain computations."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from function_encoder import FunctionEncoder
from trigram_encoder import ENCODER, ROOT, cosines, not_a_number

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.bitext import evaluate_tatoeba
from paraphrastic_pipeline.evaluation.bitext_data import prepare_tatoeba


def tatoeba(folder: Path, german: str | bytes, english: str | bytes) -> Path:
    paths = folder / "tatoeba.deu-eng.deu", folder / "tatoeba.deu-eng.eng"
    for path, text in zip(paths, (german, english), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    prepare_tatoeba(paths, folder / "de.parquet")
    return folder / "de.parquet"


def test_tatoeba_is_read_line_by_line(tmp_path: Path) -> None:
    table = pd.read_parquet(tatoeba(tmp_path, "\ufeffEins.\r\nZwei\u2028drei.\n", "One.\nTwo three."))
    assert list(table.itertuples(index=False, name=None)) == [
        (1, "Eins.", "One."),
        (2, "Zwei\u2028drei.", "Two three."),
    ]


@pytest.mark.parametrize(
    ("german", "english", "message"),
    [
        ("a\nb\nc\n", "a\nb\n", r"\.deu has 3 lines but .*\.eng has 2$"),
        ("a\nb\n\n", "a\nb\nc\n", r"\.deu:3: there is no sentence on this line$"),
        ("a\nb\n", "a\n \n", r"\.eng:2: there is no sentence on this line$"),
        ("a\nb\n", b"a\n\xe4\n", r"\.eng:2: not UTF-8: byte 0xe4$"),
    ],
)
def test_bad_lines_of_tatoeba_are_named(
    tmp_path: Path, german: str, english: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        tatoeba(tmp_path, german, english)
    assert not (tmp_path / "de.parquet").exists()


def test_error_rates_of_a_small_case(tmp_path: Path) -> None:
    german, english = ["Tom", "Maria", "Boston", "Boston Tom"], ["Tom", "Maria", "Maria", "Boston"]
    testset = tatoeba(tmp_path, "\n".join(german), "\n".join(english))
    figures = evaluate_tatoeba(ENCODER, [testset], languages=["de"])
    values = {name: figure.value for name, figure in figures.items()}
    # Boston is nearest to the English sentence on line 4. If two sentences are equal, the first is taken.
    nearest = cosines(german, english)
    assert nearest.argmax(axis=1).tolist() == [0, 1, 3, 3]
    assert nearest.argmax(axis=0).tolist() == [0, 1, 1, 2]
    assert values == {"error de-en": 0.25, "error en-de": 0.5, "error de": 0.25}
    figure = figures["error de-en"]
    assert figure.n == 4
    # Both directions resample the same pairs, and line 3 is an error in both.
    assert (figures["error en-de"].resampled(200) >= figure.resampled(200)).all()
    (data,) = figure.data
    assert (data.name, data.about) == ("de", {"n": 4})


def test_vectors_that_give_no_error_rate(tmp_path: Path) -> None:
    testset = tatoeba(tmp_path, "a b\nc d\n", "e f\ng h\n")
    encoder = FunctionEncoder("Odd", 128, "o", not_a_number)
    with pytest.raises(InputError, match=r"^Odd: Tatoeba de-en: the vector of .* is not finite"):
        evaluate_tatoeba(encoder, [testset], languages=["de"])


def test_the_real_test_sets(mirror: Path, tmp_path: Path) -> None:
    folder = mirror / "raw.githubusercontent.com/facebookresearch/LASER/main/data/tatoeba/v1"
    testsets = {}
    for code, language in (("deu", "de"), ("spa", "es"), ("cmn", "zh")):
        paths = [folder / f"tatoeba.{code}-eng.{side}" for side in (code, "eng")]
        testsets[language] = tmp_path / f"{language}.parquet"
        prepare_tatoeba(paths, testsets[language])
    figures = evaluate_tatoeba(ENCODER, list(testsets.values()), languages=list(testsets))
    known = json.loads((ROOT / "config/published/tatoeba_digests.json").read_text())
    assert all(known[data.name] == data.digest for figure in figures.values() for data in figure.data)
    for language, path in testsets.items():
        table = pd.read_parquet(path)
        both = cosines(table["sentence"].to_list(), table["english"].to_list())
        for name, axis in ((f"{language}-en", 1), (f"en-{language}", 0)):
            expected = (both.argmax(axis=axis) != np.arange(len(both))).mean()
            assert figures[f"error {name}"].value == pytest.approx(expected), name
    assert figures["error de"].value < figures["error zh"].value
