"""Test that `paraphrastic config` prints a configuration of the same models."""

import json
from pathlib import Path

import pytest
import yaml
from configurations import ROOT, checked, load

from paraphrastic.cli import main


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_what_is_printed_completes_to_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--configfile", "config/paper.yaml"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert repr(checked(shown)) == repr(checked(load("paper")))


def test_files_and_settings_override_as_in_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = tmp_path / "more.yaml"
    more.write_text("training: {epochs: 9}\nvocabulary: {size: 70}\n")
    files = ["--configfile", "config/small.yaml", str(more)]
    settings = ["--config", "vocabulary={size: 80}", "seed=7", "models=[de]"]
    assert main(["config", "--json", *files, *settings]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["training"]["epochs"], shown["training"]["dimension"]) == (9, 300)
    assert (shown["vocabulary"]["size"], shown["seed"], shown["models"]) == (80, 7, ["de"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "training={epoch: 3}"], "config: training.epoch: "),
        (["--config", "seed=1_0"], "--config: "),
        (["--config", "seed={"], "--config: "),
        (["--configfile", "gone.yaml"], "gone.yaml: "),
        (["--model", "nn"], "--model: 'nn' "),
    ],
)
def test_faults_are_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"paraphrastic: error: {message}")
