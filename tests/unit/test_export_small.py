"""Test that the command line makes smaller models and prints what is lost."""

import re
import shutil
from pathlib import Path

import pytest
from small_corpus import sentence_pairs

from paraphrastic import load_model
from paraphrastic.base.files import sha256
from paraphrastic.cli import main
from paraphrastic.interop import compression
from paraphrastic_pipeline.evaluation.development import average_score
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text("".join(f"{english}\n" for english, _ in sentence_pairs(300, seed=2)))
    return path


def export(folder: Path, output: Path, *options: object) -> int:
    places = ["--model", str(folder), "--format", "paraphrastic", "--output", str(output)]
    with pytest.MonkeyPatch.context() as patch:
        # The speed is printed, and its figure does not matter.
        patch.setattr(compression, "_SENTENCES", 100)
        patch.setattr(compression, "_SECONDS", 0.001)
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
        change = f"{abs(before - after):.2f} points {'lost' if after <= before else 'gained'}"
        line = f"STS 2012–2016: {after:.2f} instead of {before:.2f}: {change}"
        assert line in printed.splitlines()
        assert re.search(r"^speed: \d+\.\d\d times the model's$", printed, re.M)
        assert re.search(r"^size: 0\.\d MB instead of 0\.\d MB$", printed, re.M)


def test_the_card_is_the_smaller_models(folder: Path, corpus: Path, tmp_path: Path) -> None:
    prepare_sts(ROOT / "data/sample/STS.zip", tmp_path / "sts.parquet")
    source = tmp_path / "source"
    shutil.copytree(folder, source)
    index = "model-index:\n- name: en\n  results:\n  - value: 66.1\n"
    (source / "README.md").write_text(
        f"---\nlanguage:\n- en\n{index}license: other\n---\n\n# A model\n\nin 7 dimensions\n\n"
        "## Scores\n\n66.1\n\n## Digests\n\n| model.safetensors | `abc` |\n"
    )
    reduced = ("--dimension", 6, "--dtype", "int8", "--prune", "--corpus", corpus, "--text", corpus)
    assert export(source, tmp_path / "small", *reduced, "--sts", tmp_path / "sts.parquet") == 0
    card = (tmp_path / "small" / "README.md").read_text(encoding="utf-8")
    model, small = load_model(source), load_model(tmp_path / "small")
    before, after = (average_score(each, tmp_path / "sts.parquet") for each in (model, small))
    pieces = [f"{len(each.embeddings):,}" for each in (small, model)]
    change = f"{abs(before - after):.2f} points {'lost' if after <= before else 'gained'}"
    for line in (
        "6 dimensions, int8.",
        f"| dimensions | 6 of {model.dim}: the directions in which a corpus's vectors are longest |",
        f"| pieces | {pieces[0]} of {pieces[1]}: those that a corpus needs |",
        "| numbers | int8 instead of float32 |",
        f"| STS 2012–2016 | {after:.2f} instead of {before:.2f}: {change} |",
        f"| model.safetensors | `{sha256(tmp_path / 'small' / 'model.safetensors')}` |",
    ):
        assert line in card.splitlines(), line
    assert card.startswith("---\nlanguage:\n- en\nlicense: other\n---\n")
    assert card.endswith("\n## The model that it was made from\n\n### Scores\n\n66.1\n")
    assert "7 dimensions" not in card
    assert "abc" not in card


def test_a_bad_file_of_test_sets_leaves_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad").write_text("no test sets")
    options = ("--dimension", 5, "--reduce", "truncate", "--sts", tmp_path / "bad")
    assert export(folder, tmp_path / "small", *options) == 1
    assert "bad: not readable as Parquet" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_speed_is_measured_in_turns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The test has its own clock, which imitates a machine that is slow for a while.
    now, calls = 0.0, {1.0: 0, 2.0: 0}

    class Model:
        def __init__(self, speed: float) -> None:
            self.speed = speed

        def embed_raw_text(self, texts: list[str]) -> None:
            nonlocal now
            now += len(texts) / 100_000 / self.speed * (3 if 0.7 < now < 1.7 else 1)
            calls[self.speed] += 1

    monkeypatch.setattr(compression.time, "perf_counter", lambda: now)
    original = compression.Original(Model(1.0), folder)
    rows = dict(compression.cost_table(original, Model(2.0), folder, ["a", "b"]))
    times = re.search(r"([\d.]+) times the model's", rows["speed"])
    assert times
    assert float(times[1]) == 2
    assert min(calls.values()) > 5


def test_without_test_sets_points_are_not_measured(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(folder, tmp_path / "small", "--dimension", 5, "--reduce", "truncate") == 0
    assert "STS 2012–2016: not measured; give the test sets with --sts" in capsys.readouterr().out
    assert load_model(tmp_path / "small").embeddings.shape[1] == 5


def test_directions_need_a_corpus(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(folder, tmp_path / "small", "--dimension", 5) == 1
    assert "--corpus is needed" in capsys.readouterr().err
    assert export(folder, tmp_path / "small", "--prune", "--corpus", tmp_path / "none.txt") == 1
    assert "none.txt: cannot be read: No such file or directory" in capsys.readouterr().err
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize("dtype", ["int4", "int2"])
def test_tables_that_other_libraries_do_not_read(
    folder: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], dtype: str
) -> None:
    assert export(folder, tmp_path / "own", "--dtype", dtype, "--text", corpus) == 0
    assert load_model(tmp_path / "own").dtype == dtype
    assert not (tmp_path / "own" / "modules.json").exists()
    assert f"dimensions, {dtype}" in (tmp_path / "own" / "README.md").read_text()
    capsys.readouterr()
    places = ["--model", str(folder), "--output", str(tmp_path / "other"), "--dtype", dtype]
    assert main(["export", *places, "--format", "sentence-transformers"]) == 0
    assert load_model(tmp_path / "other").dtype == "float32"
