"""Test the benchmark of quality, speed and size: what it measures, its table and its picture."""

import csv
import random
import sys
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import front
import front_figure
import numpy as np
import pandas as pd
import pytest
from front import FRONT_COLUMNS, OFFICIAL, PUBLISHED, Protocol, measure_front, system_at, tabulate_front
from front_figure import plot_front
from matplotlib.figure import Figure

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, write_json
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts

ROOT = Path(__file__).resolve().parents[2]


def row(system: str, sts: float, speed: float | None, size: float | None, **more: Any) -> dict[str, Any]:
    measurements = {
        "pearson": {"value": sts, "interval": [sts - 0.01, sts + 0.01]},
        "spearman": {"value": sts + 0.02, "interval": [sts, sts]},
    }
    about = {"system": system, "version": "", "missing": [], "measurements": measurements}
    return {**about, "sentences_per_second": speed, "megabytes": size, **more}


def tabulated(tmp_path: Path, rows: list[dict[str, Any]], *published: Path) -> list[dict[str, str]]:
    write_json(tmp_path / "front.json", rows)
    tabulate_front(tmp_path / "front.json", published, tmp_path / "front.csv")
    with (tmp_path / "front.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_front_has_what_nothing_beats(tmp_path: Path) -> None:
    rows = [
        row("best", 0.8, 100.0, 10.0), row("fast", 0.7, 900.0, 10.0), row("small", 0.6, 50.0, 1.0),
        row("beaten", 0.79, 99.0, 10.0), row("equal", 0.8, 100.0, 10.0), row("slower", 0.8, 99.0, 10.0),
        row("no speed", 0.1, None, 1.0), row("no size", 0.1, 1.0, None, missing=["2013/SMT"]),
    ]  # fmt: skip
    found = tabulated(tmp_path, rows)
    front = [each["system"] for each in found if each["front"]]
    assert front == ["best", "fast", "small", "equal"]
    assert list(found[0]) == list(FRONT_COLUMNS)
    assert found[0]["sts"] == "80.0"
    assert (found[0]["sts_low"], found[0]["sts_high"], found[0]["sts_spearman"]) == ("79.0", "81.0", "82.0")
    assert (found[6]["sentences_per_second"], found[7]["note"]) == ("", "without SMT")


def test_the_front_of_random_systems(tmp_path: Path) -> None:
    generator = random.Random(3)
    points = [
        (generator.randint(50, 60), generator.randint(1, 9), -generator.randint(1, 9)) for _ in range(60)
    ]
    found = tabulated(
        tmp_path, [row("", sts / 100, float(speed), float(-size)) for sts, speed, size in points]
    )
    for point, each in zip(points, found, strict=True):
        better = {other for other in points if all(a >= b for a, b in zip(other, point, strict=True))}
        assert (each["front"] == "yes") == (better == {point})


def test_published_figures_stand_in_one_row_a_system(tmp_path: Path) -> None:
    found = {each["system"]: each for each in tabulated(tmp_path, [row("own", 0.5, 1.0, 1.0)], *PUBLISHED)}
    assert (found["P-SP"]["sts"], found["P-SP"]["sts_spearman"]) == ("74.6", "76.9")
    assert (found["Sentence-BERT"]["sts"], found["Sentence-BERT"]["sts_spearman"]) == ("70.9", "74.8")
    assert {"USE", "LASER", "potion-base-8M", "static-similarity-mrl-multilingual-v1"} <= found.keys()
    for each in found.values():
        assert each["source"] == "measured" or not (each["sentences_per_second"] or each["front"])
        assert each["sts"] or each["sts_spearman"] or each["megabytes"]


def test_systems_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = []

    def measured(_: str, job: dict[str, Any]) -> dict[str, Any]:
        jobs.append(job)
        rows = [("not counted", [0.1]), ("counted", [9.0, 0.5, 0.4])]
        return {"rows": [{"preprocessing": kind, "sentences": 300, "seconds": some} for kind, some in rows]}

    monkeypatch.setattr(front, "measure_in_own_process", measured)
    prepare_sts(ROOT / "data/sample/STS.zip", tmp_path / "all.parquet")
    pd.read_parquet(tmp_path / "all.parquet").query("line <= 40").to_parquet(tmp_path / "sts.parquet")
    texts = [f"Sentence number {number} is here." for number in range(300)]
    pd.DataFrame({"source": texts}).to_parquet(tmp_path / "pairs.parquet")
    command = ["front.py", "en", "--pairs", str(tmp_path / "pairs.parquet"), "--columns", "source"]
    command += ["--testsets", str(tmp_path / "sts.parquet"), "--versions", "int8"]
    command += ["--bootstrap-samples", "20", "--sentences", "200", "--seconds", "0.01", "--repeats", "1"]
    monkeypatch.setattr(sys, "argv", [*command, "--output", str(tmp_path / "front")])
    front.main()
    rows = read_json(tmp_path / "front/front.json")
    with (tmp_path / "front/front.csv").open(newline="") as file:
        assert sum(each["source"] == "measured" for each in csv.DictReader(file)) == len(rows)
    assert (tmp_path / "front/front.png").stat().st_size > 10_000
    assert [(each["system"], each["version"]) for each in rows] == [
        ("Taught P-SP en", ""), ("Taught P-SP en", "int8"),
        ("en, in the package", ""), ("en-de-es-fr, in the package", ""),
    ]  # fmt: skip
    own, int8, shipped, _ = rows
    assert own["measurements"] == shipped["measurements"]
    assert own["megabytes"] == shipped["megabytes"] < int8["megabytes"]
    for each in rows:
        low, high = each["measurements"]["pearson"]["interval"]
        assert 0.5 < low < each["measurements"]["pearson"]["value"] < high
        assert each["sentences_per_second"] == 600
    assert [job["system"] for job in jobs][::2] == ["en", "en"]
    assert {len(job["sentences"]) for job in jobs} == {200}
    assert {(job["seconds"], job["repeats"], job["cores"]) for job in jobs} == {(0.01, 1, 1)}
    pd.DataFrame({"source": []}, dtype=str).to_parquet(tmp_path / "none.parquet")
    command[3] = str(tmp_path / "none.parquet")
    monkeypatch.setattr(sys, "argv", [*command, "--output", str(tmp_path / "front")])
    with pytest.raises(SystemExit, match=r"^front\.py: error: .*none\.parquet: contains no sentence"):
        front.main()


def test_systems_of_others_are_named_with_their_kind() -> None:
    assert system_at("results/models/en") == "results/models/en"
    assert system_at("a=b/c") == "a=b/c"
    for kind in ("sentence_transformers", "model2vec"):
        assert system_at(f"{kind}=owner/name") == {kind: "owner/name", "label": "owner/name"}


def test_a_model_of_others_has_no_smaller_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measured(name: str, place: Any, version: str, *_: Any) -> dict[str, Any]:
        asked.append((place, version))
        return {"system": name, "version": version}

    monkeypatch.setattr(front, "_row", measured)
    pd.DataFrame({"source": ["a sentence"]}).to_parquet(tmp_path / "pairs.parquet")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/modules.json").write_text("[]")
    other = {"model2vec": "owner/name", "label": "x"}
    systems = {"theirs": str(tmp_path / "theirs"), "x": other}
    protocol = Protocol(tmp_path / "sts.parquet", OFFICIAL, 20, 200, 0.01, 1)
    corpora = [(tmp_path / "pairs.parquet", ["source"])]
    measure_front(systems, corpora, tmp_path / "front.json", protocol, versions=["int8"])
    assert asked[:2] == [(systems["theirs"], ""), (other, "")]


def test_the_picture_names_every_system(tmp_path: Path) -> None:
    rows = [row(f"system {n}", 0.6 + n / 100, 10.0**n, 2.0**n) for n in range(1, 6)]
    tabulated(tmp_path, [*rows, row("no size", 0.7, 50.0, None)], *PUBLISHED)
    plot_front(tmp_path / "front.csv", [tmp_path / "front.svg", tmp_path / "front.png"])
    text = " ".join(ElementTree.parse(tmp_path / "front.svg").getroot().itertext())
    for name in (*(f"system {n}" for n in range(1, 6)), "no size", "P-SP 74.6", "USE 67.8", "megabytes"):
        assert name in text
    # Other measures than Pearson's r have no place on its scale.
    for name in (
        "static-similarity-mrl-multilingual-v1: Spearman's ρ × 100 75.9",
        "potion-base-8M: 73.2 as the",
    ):
        assert name in " ".join(text.split())
    # This score is far below all marks.
    assert "BERT (CLS)" not in text
    write_csv(tmp_path / "empty.csv", FRONT_COLUMNS, [{"system": "P-SP", "source": "published", "sts": 74.6}])
    with pytest.raises(InputError, match=r"empty\.csv: contains no measured systems"):
        plot_front(tmp_path / "empty.csv", [tmp_path / "empty.svg"])


def test_numbers_hide_neither_marks_nor_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr(front_figure, "save_figure", lambda figure, *_, **__: figures.append(figure))
    uniform = random.Random(1).uniform
    rows = [row(f"{n}", uniform(0.74, 0.755), uniform(2e5, 5e5), uniform(3, 60)) for n in range(16)]
    # Equal systems share a mark, and have a number each.
    tabulated(tmp_path, [*rows, rows[0] | {"system": "twin"}])
    plot_front(tmp_path / "front.csv", [])
    figures[0].draw_without_rendering()
    for axes in figures[0].axes:
        texts = [each.get_window_extent() for each in axes.texts if each.get_text().isdigit()]
        lines = [np.asarray(line.get_xydata()) for line in axes.lines if line.get_marker() == "o"]
        marks = axes.transData.transform([line[0] for line in lines if len(line)])
        assert len(texts) == len(marks) == 17
        assert not any(one.overlaps(other) for one, other in combinations(texts, 2))
        assert not any(text.contains(*mark) for text in texts for mark in marks)
