"""Test STS Benchmark, scored by cosines and by a model that is fitted to its training data."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_sts import OFFICIAL, WordOverlap, archive_members, official_digests, prepared

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation import networks, sts
from paraphrastic_pipeline.evaluation.networks import Schedule
from paraphrastic_pipeline.evaluation.system_tables import tabulate_systems
from paraphrastic_pipeline.evaluation.systems import write_result
from paraphrastic_pipeline.evaluation.testsets import content_digest

ROWS = {"train": 300, "dev": 80, "test": 100}


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "RELATEDNESS", Schedule(32, epochs=25, max_epochs=100, patience=3))


def benchmark_members() -> dict[str, str]:
    """Return an archive of sentences that are six numbers; the gold score depends only on the number 3."""
    generator = np.random.default_rng(1)
    members = archive_members()
    for part, rows in ROWS.items():
        lines = []
        for number, pair in enumerate(generator.integers(0, 9, size=(rows, 2, 6))):
            first, second = (int((sentence == 3).sum()) for sentence in pair)
            genre = ("main-captions", "main-news")[number % 2]
            sentences = "\t".join(" ".join(map(str, sentence)) for sentence in pair)
            lines.append(f"{genre}\tfile\t2012\t{number}\t{5 - min(abs(first - second), 4)}\t{sentences}\n")
        members[f"STS/STSBenchmark/sts-{part}.csv"] = "".join(lines)
    return members


def evaluated(folder: Path, official: Path = OFFICIAL, encoder: WordOverlap | None = None) -> dict:
    encoder, path = encoder or WordOverlap(), folder / "stsb.json"
    figures = sts.evaluate_benchmark(encoder, folder / "sts.parquet")
    write_result(
        path, encoder, figures, task="stsb", official=official, source="measured", bootstrap_samples=50
    )
    return json.loads(path.read_text())


def test_training_data_teach_what_cosines_do_not_show(tmp_path: Path) -> None:
    pairs = prepared(tmp_path, benchmark_members())
    measured = evaluated(tmp_path)["measurements"]
    found = {name: each["value"] for name, each in measured.items()}
    names = [
        f"stsb/{part}{genre}"
        for part in ("dev", "test", "test trained")
        for genre in ("", " captions", " others")
    ]
    assert list(found) == [f"{statistic} {name}" for name in names for statistic in ("pearson", "spearman")]
    assert found["pearson stsb/test"] < 0.5

    assert found["pearson stsb/test trained"] > 0.8
    for genre, is_genre in (("captions", True), ("others", False)):
        rows = pairs[(pairs["dataset"] == "test") & ((pairs["genre"] == "main-captions") == is_genre)]
        assert measured[f"pearson stsb/test trained {genre}"]["n"] == len(rows)


def test_data_are_official_only_with_their_training_data(tmp_path: Path) -> None:
    pairs = prepared(tmp_path, benchmark_members())
    digests = official_digests(tmp_path, pairs)
    assert evaluated(tmp_path, digests)["data"] == "official"
    words = json.loads(digests.read_text())
    train = pairs[pairs["dataset"] == "train"]
    train = train.assign(sentence1=train["sentence1"] + " 1")
    assert words["stsb/train"] != content_digest("stsb", "train", train)
    others = pairs[pairs["dataset"] != "train"]
    pd.concat([others, train]).to_parquet(tmp_path / "sts.parquet")
    assert evaluated(tmp_path, digests)["data"] == "sample"


def test_an_archive_without_training_data(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    members = benchmark_members()
    del members["STS/STSBenchmark/sts-train.csv"]
    prepared(tmp_path, members)
    assert not [name for name in evaluated(tmp_path)["measurements"] if "trained" in name]
    assert f"{tmp_path}/sts.parquet: STS Benchmark lacks train" in caplog.text
    published = OFFICIAL.parent / "stsb.csv"
    systems, tables = {"en": [tmp_path / "stsb.json"]}, (tmp_path / "stsb.csv", tmp_path / "intervals.csv")
    tabulate_systems(systems, "stsb", *tables, published=published)
    (row,) = read_csv(tmp_path / "stsb.csv")
    assert row["test"]
    assert row["test_trained"] == ""


def test_an_archive_without_the_benchmark(tmp_path: Path) -> None:
    prepared(tmp_path, archive_members())
    with pytest.raises(InputError, match="the archive of the STS test sets lacks STS Benchmark"):
        evaluated(tmp_path)


def test_vectors_that_teach_nothing(tmp_path: Path) -> None:
    class Broken(WordOverlap):
        def embed_raw_text(self, sentences: list[str], *, language: str, threads: int = 1) -> np.ndarray:
            vectors = super().embed_raw_text(sentences, language=language)
            # Only a vector of the training data is broken, and no cosine uses it.
            vectors[3] = np.nan if len(sentences) == ROWS["train"] else vectors[3]
            return vectors

    prepared(tmp_path, benchmark_members())
    with pytest.raises(InputError, match=r"^P-SP en: STS stsb/train: the vector of '"):
        evaluated(tmp_path, encoder=Broken())
