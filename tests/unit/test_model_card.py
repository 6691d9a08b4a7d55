"""Test the model card."""

from pathlib import Path

import pytest
import yaml
from result_files import write_figures

from paraphrastic.base.files import write_json
from paraphrastic_pipeline.report.card import write_card

CONFIG = {
    "encoder": "averaged_subwords",
    "dimension": 4,
    "model": "xx",
    "languages": ["en", "xx"],
    "corpora": {"mine": "1", "a|b": "v2"},
    "training": {"epochs": 3, "dropout": 0.1},
    "lowercase": True,
}
UNKNOWN = {"subword": "bytes", "trigram": "shared"}
FIGURES = {"pearson avg": 0.6612, "pearson 2012": 0.1, "spearman avg": 0.7, "pearson 2012/MSRpar": 0.2}
TRACKS = {"pearson 2017/xx-en": 0.5, "spearman 2017/xx-en": 0.4}


def card(tmp_path: Path, config: dict, data: str = "official") -> str:
    write_json(tmp_path / "config.json", config)
    merged = [{"read": kept, "duplicates": 0, "kept": kept} for kept in (12345, 6, 7)]
    total = {"read": 12358, "duplicates": 0, "kept": 12358}
    write_json(tmp_path / "counts.json", {**total, "corpora": merged})
    (tmp_path / "sweep.csv").write_text(
        "dropout,megabatch,held_out,sts2017,development,chosen\n0.0,5,90.00,71.00,80.50,\n"
        "0.1,5,91.00,74.32,82.66,yes\n"
    )
    results = []
    for task, figures in (("sts", FIGURES), ("xling_sts", TRACKS)):
        results.append(write_figures(tmp_path / f"{task}.json", figures, task=task, data=data))
    corpora = [("mine", "1", "CC-BY-4.0"), ("a|b de-en", "v2", "-"), ("a|b de-fr", "v2", "-")]
    write_card(
        tmp_path / "sweep.csv",
        tmp_path / "counts.json",
        results,
        tmp_path / "README.md",
        corpora=corpora,
        unknown=UNKNOWN,
        loads_elsewhere="architecture" not in config,
    )
    return (tmp_path / "README.md").read_text(encoding="utf-8")


def test_a_card_says_what_the_model_learned_from_and_how_good_it_is(tmp_path: Path) -> None:
    text = card(tmp_path, CONFIG)
    for line in (
        "# Paraphrastic sentence embeddings: xx",
        "| STS 2012–2016 without SMT, average | Pearson's r × 100 | 66.1 | [65.1, 69.1] | official |",
        "| STS 2012–2016 without SMT, average | Spearman's ρ × 100 | 70.0 | [69.0, 73.0] | official |",
        "| STS 2017 xx-en | Pearson's r × 100 | 50.0 | [49.0, 53.0] | official |",
        "The run was chosen by the share of held-out sentences that find their partner (91.00 %) and "
        "Pearson's r × 100 on STS 2017 en-en (74.32).",
        "Text that the vocabulary of subwords has no piece for becomes its bytes in UTF-8.",
        "Text that the vocabulary of trigrams has no piece for has one vector, whatever it is.",
        "An average ignores order: texts of the same pieces have the same vector, as 10101 and 10110 if each "
        "digit is a piece.",
        "| mine | 1 | 12,345 | CC-BY-4.0 |",
        "| a\\|b de-en | v2 | 6 | not stated |",
        "| a\\|b de-fr | v2 | 7 | not stated |",
        "Not all of these licences say whether they allow commercial use.",
        "| dropout | 0.1 |",
    ):
        assert line in text.splitlines(), line
    assert "MSRpar" not in text
    # What the template does not write leaves no empty lines.
    assert "\n\n\n" not in text
    assert "|\n\n|" not in text
    assert "The folder loads in sentence-transformers and model2vec as it is, with the same cosines:" in text
    assert "language=" not in text


def test_a_card_says_who_taught_the_model_and_what_its_licences_allow(tmp_path: Path) -> None:
    taught = {"teachers": {"owner/<b>large</b>": "Apache-2.0", "other": "-"}, "commercial_use": "allowed"}
    text = card(tmp_path, {**CONFIG, **taught})
    assert "It has also learned from the system owner/&lt;b>large&lt;/b> (licence: Apache-2.0),\n" in text
    assert "It has also learned from the system other (licence: not stated),\n" in text
    assert "\nAll of these licences allow commercial use.\n" in text
    assert "\n\n\n" not in text
    matter = yaml.safe_load(text.split("---\n")[1])
    assert matter["license_name"] == "commercial-use-allowed-by-the-licences-of-the-training-data"
    assert "Some of these licences forbid" in card(tmp_path, {**CONFIG, "commercial_use": "forbidden"})


def test_the_hub_reads_its_scores(tmp_path: Path) -> None:
    matter = yaml.safe_load(card(tmp_path, CONFIG).split("---\n")[1])
    assert (matter["language"], matter["pipeline_tag"]) == (["en", "xx"], "sentence-similarity")
    # The Hub's list has no name for a combination of several licences.
    assert (matter["license"], matter["license_name"]) == ("other", "licences-of-the-training-data")
    (index,) = matter["model-index"]
    assert index["name"] == "xx"
    assert index["results"][0]["dataset"]["name"] == "STS 2012–2016 without SMT, average"
    assert [each["metrics"][0] for each in index["results"]] == [
        {"type": "pearson", "value": 66.1},
        {"type": "spearman", "value": 70.0},
        {"type": "pearson", "value": 50.0},
    ]
    assert "model-index" not in yaml.safe_load(card(tmp_path, CONFIG, "sample").split("---\n")[1])


@pytest.mark.parametrize(("change", "sentence"), [
    ({"training": {"epochs": 0}}, "A baseline: Random P-SP, in 4 dimensions,"),
    ({}, "A sentence is the average of its subwords' embeddings, in"),
    (
        {"encoder": "parts", "architecture": {"parts": [{"kind": "average"}], "languages": "separate"}},
        'model.embed_raw_text(["This is a test."], language="en")  # float32 [1, 4]',
    ),
])  # fmt: skip
def test_encoders_are_described(tmp_path: Path, change: dict, sentence: str) -> None:
    assert sentence in card(tmp_path, {**CONFIG, **change})
