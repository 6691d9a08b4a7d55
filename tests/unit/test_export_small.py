"""Smaller models by the command line: what is lost is printed."""

import re
from pathlib import Path

import pytest
from small_corpus import sentence_pairs, write_training_data
from test_training import SETTINGS
from training_runs import train_model

from paraphrastic import load_model
from paraphrastic.cli import main
from paraphrastic.evaluation.development import average_score
from paraphrastic.evaluation.sts_data import prepare_sts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("model")
    return train_model(write_training_data(base, sentence_pairs(400)), base / "model", SETTINGS).parent


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text("".join(f"{english}\n" for english, _ in sentence_pairs(300, seed=2)))
    return path


def export(folder: Path, output: Path, *options: object) -> int:
    places = ["--model", str(folder), "--format", "paraphrastic", "--output", str(output)]
    return main(["export", *places, *map(str, options)])


def test_what_a_smaller_model_loses_is_printed(
    folder: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = ROOT / "data/sample/STS.zip"
    prepare_sts(archive, tmp_path / "sts.parquet")
    reduced = ("--dimension", 6, "--dtype", "int8", "--prune", "--corpus", corpus, "--text", corpus)
    for number, sts in enumerate((archive, tmp_path / "sts.parquet")):
        output = tmp_path / f"small{number}"
        assert export(folder, output, *reduced, "--sts", sts) == 0
        printed = capsys.readouterr().out
        model, small = load_model(folder), load_model(output)
        assert (small.dim, small.embeddings.dtype, small.config["dimension"]) == (6, "int8", 6)
        assert small.config["reduction"]["method"] == "pca"
        before, after = (average_score(each, tmp_path / "sts.parquet") for each in (model, small))
        line = f"STS 2012–2016: {after:.2f}, of {before:.2f}: {before - after:.2f} points lost"
        assert line in printed.splitlines()
        assert re.search(r"^speed: [\d,]+ sentences a second, \d+\.\d\d times the model's$", printed, re.M)
        assert re.search(r"^size: 0\.\d MB, of 0\.\d MB$", printed, re.M)


def test_without_test_sets_points_are_not_measured(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(folder, tmp_path / "small", "--dimension", 5, "--reduce", "truncate") == 0
    assert "STS 2012–2016: not measured: --sts names the test sets" in capsys.readouterr().out
    assert load_model(tmp_path / "small").embeddings.shape[1] == 5


def test_directions_need_a_corpus(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(folder, tmp_path / "small", "--dimension", 5) == 1
    assert "--corpus is needed" in capsys.readouterr().err
    assert export(folder, tmp_path / "small", "--prune", "--corpus", tmp_path / "none.txt") == 1
    assert "none.txt: cannot be read: No such file or directory" in capsys.readouterr().err
    assert not (tmp_path / "small").exists()
