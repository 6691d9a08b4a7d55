"""Test what a reader is told of a model: its retrieval of held-out pairs, before and after training."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.files import read_json, write_json
from paraphrastic.model.folder import open_folder, shipped_models
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.evaluation.development import DevelopmentData
from paraphrastic_pipeline.evaluation.held_out import (
    DISTRACTORS,
    evaluate_held_out,
    held_out_score,
    read_held_out,
)
from paraphrastic_pipeline.evaluation.results import Result, Source
from paraphrastic_pipeline.evaluation.systems import write_result
from paraphrastic_pipeline.report.outcome import find_outcome, read_outcomes, summary

TATOEBA = Path(__file__).resolve().parents[2] / "data" / "sample" / "tatoeba"
LANGUAGES = [("de", "en"), ("fr", "en"), ("de", "en")]


def sentences(code: str) -> tuple[list[str], list[str]]:
    first, second = (
        (TATOEBA / f"tatoeba.{code}-eng.{side}").read_text("utf-8").splitlines() for side in (code, "eng")
    )
    return first, second


def table(pairs: list[tuple[str, str]], corpora: list[int], path: Path, *, held_out: bool) -> Path:
    columns: dict[str, Any] = {
        "source": [pair[0] for pair in pairs],
        "target": [pair[1] for pair in pairs],
        "corpus": pa.array(corpora, pa.int16()),
        "line": pa.array(range(len(pairs)), pa.int64()),
    }
    if held_out:
        columns["source_language"] = [LANGUAGES[corpus][0] for corpus in corpora]
        columns["target_language"] = [LANGUAGES[corpus][1] for corpus in corpora]
    write_table(path, pa.table(columns))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results of a model of German, French and English, evaluated on held-out pairs."""
    results = tmp_path_factory.mktemp("results")
    german, french = (list(zip(*sentences(code), strict=True)) for code in ("deu", "fra"))
    held = table(
        german[:60] + french[:40] + german[60:70], [0] * 60 + [1] * 40 + [2] * 10,
        results / "held_out" / "m.parquet", held_out=True,
    )  # fmt: skip
    merged = table(
        german[100:300] + french[100:200],
        [0, 2] * 100 + [1] * 100,
        results / "merged.parquet",
        held_out=False,
    )
    model = open_folder(shipped_models()["en-de-es-fr"])
    sources: dict[str, Source] = {"m": "measured", "m-untrained": "untrained"}
    for name, source in sources.items():
        path = results / "eval" / name / "held_out.json"
        path.parent.mkdir(parents=True)
        figures = evaluate_held_out(model, [held], [merged], definitions=[""], languages=[LANGUAGES])
        write_result(
            path, model, figures, task="held_out", official=None, source=source, bootstrap_samples=100
        )
    return results


def test_pairs_are_kept_apart_by_language(run: Path) -> None:
    german, french = read_held_out(run / "held_out" / "m.parquet", run / "merged.parquet", LANGUAGES)
    assert (german.name, len(german.sides[0]), len(german.distractors[0])) == ("de-en", 70, 200)
    assert (french.name, len(french.sides[0]), len(french.distractors[0])) == ("fr-en", 40, 100)
    assert french.sides[0] == sentences("fra")[0][:40]
    assert french.distractors[1] == sentences("fra")[1][100:200]


def test_only_the_first_pairs_of_the_training_data_are_distractors(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DISTRACTORS == 10_000
    monkeypatch.setattr("paraphrastic_pipeline.evaluation.held_out.DISTRACTORS", 7)
    german, _ = read_held_out(run / "held_out" / "m.parquet", run / "merged.parquet", LANGUAGES)
    assert german.distractors[0] == sentences("deu")[0][100:107]


def test_shares_agree_with_numpy(run: Path) -> None:
    content = read_json(run / "eval" / "m" / "held_out.json")
    model = open_folder(shipped_models()["en-de-es-fr"])
    for pairs in read_held_out(run / "held_out" / "m.parquet", run / "merged.parquet", LANGUAGES):
        own = [model.embed_raw_text(side, normalize=True).astype(np.float64) for side in pairs.sides]
        more = [model.embed_raw_text(side, normalize=True).astype(np.float64) for side in pairs.distractors]
        for side, direction in enumerate(("forward", "backward")):
            for name, candidates in (
                ("", own[1 - side]),
                (" 1", np.concatenate([own[1 - side], more[1 - side]])),
            ):
                right = (own[side] @ candidates.T).argmax(axis=1) == np.arange(len(own[side]))
                found = content["measurements"][f"{direction}{name} {pairs.name}"]
                assert found["value"] == pytest.approx(right.mean())
    counts = {name: (data["n"], data["distractors"]) for name, data in content["datasets"].items()}
    assert counts == {"de-en": (70, 200), "fr-en": (40, 100)}


def test_the_outcome_in_words(run: Path) -> None:
    outcome = find_outcome("m", run)
    assert outcome is not None
    assert (outcome.sentences, outcome.distractors, len(outcome.examples)) == (220, 200, 10)
    figures = Result.read(run / "eval" / "m" / "held_out.json").measurements
    right = [
        n * figures[f"{side} {pair}"].value
        for pair, n in (("de-en", 70), ("fr-en", 40))
        for side in ("forward", "backward")
    ]
    assert outcome.found == pytest.approx(100 * sum(right) / 220)
    for figure in (outcome.found, outcome.before, outcome.among_distractors):
        assert f"{figure:.1f}" in outcome.sentence
    assert all(example.right == example.before.right for example in outcome.examples)
    assert find_outcome("other", run) is None


def test_examples_are_right_and_wrong(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run / "eval", tmp_path / "eval")
    path = tmp_path / "eval" / "m" / "held_out.json"
    content = read_json(path)
    examples = [example for data in content["datasets"].values() for example in data["examples"]]
    for number, example in enumerate(examples):
        example["right"] = number % 2 == 0
    write_json(path, content)
    outcome = find_outcome("m", tmp_path)
    assert outcome is not None
    assert [example.right for example in outcome.examples] == [True] * 5 + [False] * 5
    for example in examples:
        example["right"] = example is examples[3]
    write_json(path, content)
    outcome = find_outcome("m", tmp_path)
    assert outcome is not None
    assert [example.right for example in outcome.examples] == [True] + [False] * 5


def test_models_of_a_table_come_best_first(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run / "eval", tmp_path / "eval")
    worse = read_json(run / "eval" / "m" / "held_out.json")
    for name in worse["measurements"]:
        worse["measurements"][name]["value"] = 0.1
    write_json(tmp_path / "eval" / "a" / "held_out.json", worse)
    rows = [
        {"name": name, "source": source}
        for name, source in (("a", "measured"), ("m-untrained", "untrained"), ("m", "measured"))
    ]
    write_csv(tmp_path / "tables" / "intervals" / "held_out.csv", ["name", "source"], rows)
    found = read_outcomes(tmp_path / "tables")
    assert [outcome.model for outcome in found] == ["m", "a"]
    # What was not evaluated before training is not compared.
    assert found[1].before is None


def test_the_summary_names_what_is_there(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run / "eval", tmp_path / "eval")
    assert list(summary(["m"], tmp_path)) == []
    shutil.copytree(shipped_models()["en-de-es-fr"], tmp_path / "models" / "m")
    (tmp_path / "held_out").mkdir()
    (tmp_path / "held_out" / "m.txt").write_text("A dog runs.\nIt rains.\n")
    lines = list(summary(["m", "missing"], tmp_path))
    assert lines[0] == f"{tmp_path}/models/m"
    assert "finds the partners of" in lines[1]
    assert [line.split()[1] for line in lines[3:5]] == ["score", "embed"]


@pytest.mark.parametrize("choose_by", ["held_out", "sts2017", "mean"])
def test_what_decides_is_what_the_definition_names(
    run: Path, choose_by: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraphrastic_pipeline.evaluation.development.sts2017_score", lambda *_: 40.0)
    model = open_folder(shipped_models()["en-de-es-fr"])
    held = run / "held_out" / "m.parquet"
    own = held_out_score(model, read_held_out(held))
    scores = DevelopmentData(choose_by, held, Path("sts.parquet")).scores(model)
    expected = {"held_out": own, "sts2017": 40.0, "mean": (own + 40.0) / 2}
    development = pytest.approx(expected[choose_by])
    assert scores == {"held_out": own, "held_out_pairs": 110, "sts2017": 40.0, "development": development}


def test_a_model_without_english_is_scored_without_it(run: Path) -> None:
    model = open_folder(shipped_models()["en-de-es-fr"])
    held = run / "held_out" / "m.parquet"
    scores = DevelopmentData("mean", held, None).scores(model)
    assert scores["development"] == scores["held_out"] > 50
    # There may be nothing to score it on.
    assert DevelopmentData("mean", None, None).scores(model) == {}
    assert DevelopmentData("sts2017", held, None).in_training() is None
    watched = DevelopmentData("mean", held, None).in_training()
    assert watched is not None
    assert watched.data == [held]
