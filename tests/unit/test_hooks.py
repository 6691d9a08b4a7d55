"""Test what a run does and prints before its first job and after a failure."""

import json
from pathlib import Path

import pytest

from paraphrastic_pipeline.registry.opus import OpusCorpus
from paraphrastic_pipeline.workflow.hooks import (
    download_estimate,
    killed_steps,
    left_out_models,
    settings_copy,
)


def test_other_settings_have_another_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = {"models": ["fr"], "definitions": {"fr": {"languages": ["en", "fr"]}}}
    text, path = settings_copy(config)
    assert path.is_relative_to(tmp_path / ".snakemake/settings")
    assert path != settings_copy({**config, "seed": 2})[1]
    assert json.loads(text) == config


def test_models_without_their_file_are_named_with_it() -> None:
    assert list(left_out_models({})) == []
    lacking = {"cs-a": "resources/cs.gz (cs)", "de": "resources/de.gz (de)", "cs-b": "resources/cs.gz (cs)"}
    assert list(left_out_models(lacking)) == [
        "resources/cs.gz (cs) is given on request and is not here, so the studies leave out cs-a, cs-b",
        "resources/de.gz (de) is given on request and is not here, so the studies leave out de",
    ]


def test_what_is_downloaded_already_costs_nothing(tmp_path: Path) -> None:
    corpus = OpusCorpus("Tanzil", "v1", ("en", "fr"), "https://example.org/en-fr.txt.zip", 1000, 50_000)
    path = tmp_path / "en-fr.txt.zip"
    assert "1,000 pairs" in "\n".join(download_estimate({str(path): corpus}))
    path.touch()
    assert download_estimate({str(path): corpus}) == []


def test_a_step_that_a_signal_ended_is_named_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    line = "Command '... /tmpab1.train_model.py' died with <Signals.{}: 9>.\n"
    log.write_text(line.format("SIGKILL") * 2 + line.format("SIGTERM") + "another line\n")
    killed, ended = killed_steps([str(log)])
    assert killed.startswith("error in train_model: ended by SIGKILL, most probably because memory ran out")
    assert ended == "error in train_model: ended by SIGTERM"
