"""Test what is timed, in which process, and how the figures are used."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from pictures import drawn
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, train_model

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, write_json
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation.speed import (
    SPEED_COLUMNS,
    choose_sentences,
    measure,
    measure_speed,
    tabulate_speed,
)
from paraphrastic_pipeline.report.figures.systems import plot_speed

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "config/published/speed.csv"


class Sleeper:
    """An encoder that sleeps in both halves and remembers its batches."""

    def __init__(self, tokenize: float = 0.0, embed: float = 0.0) -> None:
        self.seconds = tokenize, embed
        self.embedded: list[tuple[str, ...]] = []

    def tokenize(self, sentences: Sequence[str], *, language: str) -> tuple[str, ...]:
        assert language == "en"
        time.sleep(self.seconds[0])
        return tuple(sentences)

    def embed_tokens(self, tokens: tuple[str, ...]) -> np.ndarray:
        time.sleep(self.seconds[1])
        self.embedded.append(tokens)
        return np.zeros((len(tokens), 1), np.float32)


SentenceEncoder.register(Sleeper)


SENTENCES = ["x" * (1 + number % 37) for number in range(500)]


def test_all_sentences_are_embedded_where_there_is_time() -> None:
    sleeper = Sleeper()
    rows = measure(cast(Any, sleeper), SENTENCES, "en", batch_size=64, seconds=60, repeats=3)
    assert [(row["batch_size"], row["preprocessing"], row["sentences"]) for row in rows] == [
        (64, "counted", 500),
        (64, "not counted", 500),
    ]
    assert [len(row["seconds"]) for row in rows] == [3, 3]
    # One batch comes first, which is not timed.
    assert len(sleeper.embedded) == 1 + 3 * 8
    assert sorted(map(len, sleeper.embedded[1:9])) == [52, *[64] * 7]
    assert sorted(text for batch in sleeper.embedded[1:9] for text in batch) == sorted(SENTENCES)


def test_what_is_left_after_the_time_is_left_out() -> None:
    sleeper = Sleeper(tokenize=0.02, embed=0.01)
    rows = measure(cast(Any, sleeper), SENTENCES, "en", batch_size=10, seconds=0.15, repeats=2)
    assert 10 <= rows[0]["sentences"] == rows[1]["sentences"] <= 60
    # A sleep can only take longer than asked for.
    counted, not_counted = (row["sentences"] / np.median(row["seconds"]) for row in rows)
    assert 1.5 * counted < not_counted < 1000
    assert counted < 334
    # Every repeat has the same sentences.
    number = rows[0]["sentences"] // 10
    assert sleeper.embedded[1 : 1 + number] == sleeper.embedded[-number:]


def write_pairs(path: Path, source: Sequence[str], target: Sequence[str]) -> Path:
    pd.DataFrame({"source": source, "target": target}).to_parquet(path)
    return path


def test_sentences_are_distinct_and_of_all_corpora(tmp_path: Path) -> None:
    first = write_pairs(tmp_path / "1.parquet", ["a", "b", "c", "d"], ["p", "q", "r", "s"])
    second = write_pairs(tmp_path / "2.parquet", ["x", "a"], ["e", "f"])
    corpora = [(first, ["source"]), (second, ["source", "target"])]
    assert choose_sentences(corpora, 4) == ["a", "x", "e", "b"]
    assert choose_sentences(corpora, 100) == ["a", "x", "e", "b", "f", "c", "d"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("model")
    return train_model(write_training_data(base, sentence_pairs(400)), base / "model", SETTINGS).parent


@pytest.fixture
def corpora(tmp_path: Path) -> tuple[list[Path], list[list[str]]]:
    english, german = zip(*sentence_pairs(300), strict=True)
    return [write_pairs(tmp_path / "pairs.parquet", english, german)], [["source"]]


ONCE = {"language": "en", "sentences": 100, "seconds": 0.01, "repeats": 1}


def test_systems_are_measured_on_one_core_and_on_all(
    model: Path,
    corpora: tuple,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    systems = {"de": str(model)}
    before = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    measure_speed(systems, *corpora, tmp_path / "speed.json", threads=2, **ONCE)
    assert before is None or len(os.sched_getaffinity(0)) == before
    found = read_json(tmp_path / "speed.json")
    settings = [("cpu", cores, size, p) for cores in (1, 2) for size in (64, 128) for p in ("", "not ")]
    assert [
        (row["system"], row["device"], row["cores"], row["batch_size"], row["preprocessing"])
        for row in found["rows"]
    ] == [("P-SP de", device, cores, size, f"{p}counted") for device, cores, size, p in settings]
    assert {row["dim"] for row in found["rows"]} == {SETTINGS.dimension}
    assert all(0 < row["sentences"] <= 100 and row["seconds"][0] > 0 for row in found["rows"])


def test_a_corpus_without_sentences(tmp_path: Path) -> None:
    empty = tmp_path / "pairs.parquet"
    write_pairs(empty, [], [])
    with pytest.raises(InputError, match=r"pairs\.parquet: contains no sentence to embed"):
        measure_speed({}, [empty], [["source"]], tmp_path / "speed.json", threads=1, **ONCE)


def written(tmp_path: Path) -> Path:
    about = {"system": "P-SP en", "dim": 300}
    rows = [
        {**about, "device": device, "cores": cores, "batch_size": size, "preprocessing": preprocessing,
         "sentences": 1000, "seconds": seconds}
        for device, cores in (("cpu", 1), ("gpu", None))
        for size in (64, 128)
        for preprocessing, seconds in (("counted", [0.5, 10.0, 0.1]), ("not counted", [30.0, 40.0]))
    ]  # fmt: skip
    write_json(tmp_path / "speed.json", {"rows": rows})
    tabulate_speed(tmp_path / "speed.json", PUBLISHED, tmp_path / "speed.csv")
    return tmp_path / "speed.csv"


def test_the_table(tmp_path: Path) -> None:
    rows = read_csv(written(tmp_path))
    assert tuple(rows[0]) == SPEED_COLUMNS
    published, measured = rows[:13], rows[13:]
    assert list(published[5].values()) == [
        "P-SP", "published", "", "cpu", "1", "64", "not counted", "120000", "12776",
    ]  # fmt: skip
    assert {row["source"] for row in published} == {"published"}
    # The table has the median of the repeats.
    assert [list(row.values())[3:] for row in measured[:2]] == [
        ["cpu", "1", "64", "counted", "1000", "2000"],
        ["cpu", "1", "64", "not counted", "1000", "28.6"],
    ]
    assert [(row["device"], row["cores"]) for row in measured[::4]] == [("cpu", "1"), ("gpu", "")]
    assert len(measured) == 8


def test_the_picture(tmp_path: Path) -> None:
    shown = set(drawn(tmp_path, plot_speed, written(tmp_path)))
    assert {"cores: 1", "GPU", "P-SP en, batches of 64", "SP (20k), 1024 dimensions, batches of 128"} <= shown
    # Measured figures stand beside published ones with the same device and number of cores.
    assert {"2,000", "29", "12,776", "13,863", "855,571"} <= shown
    assert "15,316" not in shown
