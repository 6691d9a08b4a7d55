"""Test probes: their table, and the shares of them that systems get right."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from configurations import ROOT
from function_encoder import FunctionEncoder

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.probes import COLUMNS, evaluate_probes, prepare_probes
from paraphrastic_pipeline.evaluation.results import Evaluation
from paraphrastic_pipeline.evaluation.testset_names import PROBES
from paraphrastic_pipeline.evaluation.testsets import read_testsets

OFFICIAL = ROOT / "config/published/probes_digests.json"
HEADER = "\t".join(COLUMNS) + "\n"


def prepared(folder: Path, text: str) -> Path:
    (folder / "probes.tsv").write_text(text, encoding="utf-8")
    prepare_probes(folder / "probes.tsv", folder / "probes.parquet")
    return folder / "probes.parquet"


def result_of(folder: Path, testsets: Path, embed, *, sample: bool = False, dim: int = 26) -> dict:
    system = FunctionEncoder("a system", dim, "digest", embed)
    evaluation = Evaluation(system, folder / "probes.json", OFFICIAL, "measured", 20, sample)
    evaluate_probes(evaluation, testsets)
    return json.loads((folder / "probes.json").read_text())


def letters(sentences: Sequence[str], _: str | None) -> np.ndarray:
    """Count the letters of each sentence, whose order does not matter."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return np.array([[text.lower().count(letter) for letter in alphabet] for text in sentences], np.float32)


def test_the_shipped_probes_have_all_kinds_and_are_known_by_their_digest(tmp_path: Path) -> None:
    testsets = prepared(tmp_path, (ROOT / "data/probes.tsv").read_text())
    rows = read_testsets(testsets)
    assert rows["kind"].unique().tolist() == list(PROBES)
    assert rows["kind"].value_counts().min() >= 10
    assert not rows.duplicated(list(COLUMNS[1:])).any()
    found = result_of(tmp_path, testsets, letters)
    assert found["data"] == "official"
    # A system that was trained on a sample has no official results, whatever it is tested on.
    assert result_of(tmp_path, testsets, letters, sample=True)["data"] == "sample"
    # Without the order of words, a sentence with swapped roles has the same vector.
    assert found["measurements"]["right roles"]["value"] == 0.0
    assert found["cosines"]["roles"]["different"] == pytest.approx(1.0)
    assert found["measurements"]["right case"]["value"] == 1.0


def test_the_documented_figures_are_those_of_the_packaged_model(tmp_path: Path) -> None:
    testsets = prepared(tmp_path, (ROOT / "data/probes.tsv").read_text())
    model = load_model("en")
    found = result_of(tmp_path, testsets, lambda texts, _: model.embed_raw_text(texts), dim=model.dim)
    page = (ROOT / "docs/mining.md").read_text()
    rows = re.findall(
        r"^\| (\w+)(?: \([^|]*\))? \| (\d+) \| (\d\.\d\d) \| (\d\.\d\d) \|$", page, re.MULTILINE
    )
    assert [kind for kind, *_ in rows] == ["negation", "numbers", "names", "roles"]
    for kind, right, same, different in rows:
        assert int(right) == round(100 * found["measurements"][f"right {kind}"]["value"])
        assert [float(same), float(different)] == [
            round(found["cosines"][kind][end], 2) for end in ("same", "different")
        ]


def test_a_probe_is_right_only_if_the_sentence_of_the_same_meaning_is_nearer(tmp_path: Path) -> None:
    rows = "names\taa\tab\tbb\nnames\taa\tbb\tab\nnames\taa\tab\tba\ntypos\tab\tba\tcc\n"
    found = result_of(tmp_path, prepared(tmp_path, HEADER + rows), letters)
    assert {name: each["value"] for name, each in found["measurements"].items()} == {
        "right names": pytest.approx(1 / 3),
        "right typos": 1.0,
    }
    assert found["measurements"]["right names"]["n"] == 3
    assert found["data"] == "sample"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: the columns must be kind, sentence, sentence_same, sentence_different"),
        ("a\tb\n", ":1: the columns must be kind"),
        (HEADER, ": contains no probe"),
        (HEADER + "names\ta\tb\n", ":2: expected kind, sentence, "),
        (HEADER + "names\ta\tb\tc\nnames\ta\t \tc\n", ":3: expected kind, sentence, "),
        (HEADER + "colours\ta\tb\tc\n", ":2: 'colours' is not one of negation, numbers, "),
    ],
)
def test_faults_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        prepared(tmp_path, text)
    assert message in str(error.value)
    assert not (tmp_path / "probes.parquet").exists()
