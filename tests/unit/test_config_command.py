"""Test that `paraphrastic config` prints a configuration of the same models."""

import json
import re
from pathlib import Path

import pytest
import yaml
from configurations import ROOT, checked, load

from paraphrastic import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.settings.check import read_config


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", ["config", "small", "paper"])
def test_what_is_printed_completes_to_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--configfile", f"config/{name}.yaml"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert shown["training"]["negatives"] == "other_side"
    assert repr(checked(shown)) == repr(checked(load(name)))


def test_files_and_settings_override_as_in_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = tmp_path / "more.yaml"
    more.write_text("training: {epochs: 9}\nvocabulary: {size: 70}\n")
    files = ["--configfile", "config/small.yaml", str(more)]
    settings = ["--config", "vocabulary={size: 80}", "seed=7", "models=[de]"]
    assert main(["config", "--json", *files, *settings]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["training"]["epochs"], shown["training"]["dimension"]) == (9, 300)
    assert (shown["vocabulary"]["size"], shown["seed"], shown["models"]) == (80, 7, ["de"])


def test_one_model_has_all_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--configfile", "config/small.yaml"]
    for model, margin, anneal in (("de-paper", 0.4, 150), ("de-megabatch-2", 0.6, 20)):
        assert main(["config", *files, "--model", model]) == 0
        definition = yaml.safe_load(capsys.readouterr().out)
        assert definition == checked(load("small"))["definitions"][model]
        assert definition["training"]["margin"] == margin
        assert definition["training"]["megabatch_anneal"] == anneal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "training={epoch: 3}"], "config: training.epoch: unknown key; did you mean 'epochs'?"),
        (
            ["--config", "models=[nn]"],
            "config: models: 'nn' is not described under definitions; there are en",
        ),
        (["--config", "seed=1_0"], "--config: YAML reads 1_0 as 10; write 10, or '1_0' if it is text"),
        (["--config", "seed=0_9"], "config: seed: '0_9' is not a whole number"),
        (["--config", "seed={"], "--config: a value is not valid YAML; an example is models=[en]"),
        (["--configfile", "gone.yaml"], "gone.yaml: is not a file"),
        (["--model", "nn"], "--model: 'nn' is not described under definitions; there are en, de, es, fr"),
    ],
)
def test_faults_are_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"paraphrastic: error: {message}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("seed: 1\nmodels: [de]\nseed: 2\n", "3: not YAML: the key 'seed' is already given in line 1"),
        ("training:\n  margin: 1\n  margin: 1\n", "3: not YAML: the key 'margin' is already given in line 2"),
        ("training: {margin: 1,\n 'margin': 2}", "2: not YAML: the key 'margin' is already given in line 1"),
    ],
)
def test_a_key_that_is_given_twice(
    text: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    assert main(["config", "--configfile", str(tmp_path / "mine.yaml")]) == 1
    assert capsys.readouterr().err == f"paraphrastic: error: {tmp_path / 'mine.yaml'}:{line}\n"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        *(("1_000", 1000), ("0_7", 7), ("010", 8), ("0x1F", 31), ("0b11", 3)),
        *(("1:30", 90), ("1_0.5", 10.5), ("1:30.5", 90.5)),
    ],
)
def test_a_number_that_yaml_reads_in_another_way_than_people(
    written: str, read: float, tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"models: [en]\ntraining: {{margin: {written}}}\n")
    cause = f"YAML reads {written} as {read}; write {read}, or '{written}' if it is text"
    with pytest.raises(InputError, match=rf"^{re.escape(f'{path}:2: {cause}')}$"):
        read_config([path])


def test_numbers_as_people_write_them_and_text(tmp_path: Path) -> None:
    text = "a: [1, -2, +3, 0, 100000000000000001, 0.5, .5, 5., 1.0e-3, .inf, '1_000', '1:30', 1-2, 2024-x]\n"
    (tmp_path / "mine.yaml").write_text(text)
    assert read_config([tmp_path / "mine.yaml"]) == yaml.safe_load(text)


def test_merged_keys_may_be_overridden(tmp_path: Path) -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {<<: *a, <<: *b, x: 3}\n"
    (tmp_path / "mine.yaml").write_text(text)
    assert read_config([tmp_path / "mine.yaml"]) == yaml.safe_load(text)


def test_mappings_of_an_anchor_are_overridden_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("a: &a {x: {y: 1}}\nb: *a\nc: {<<: *a}\n")
    (tmp_path / "over.yaml").write_text("b: {x: {y: 2}}\n")
    merged = read_config([tmp_path / "base.yaml", tmp_path / "over.yaml"])
    assert merged == {"a": {"x": {"y": 1}}, "b": {"x": {"y": 2}}, "c": {"x": {"y": 1}}}


def test_it_runs_where_the_pipeline_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["config"]) == 1
    expected = "config/config.yaml: is not a file: run this command in the folder of the pipeline"
    assert expected in capsys.readouterr().err
