"""Test that names and text from elsewhere reach a terminal without control characters, which it obeys."""

import json
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

from paraphrastic.base.errors import LogFormatter, on_one_line, spelled_out
from paraphrastic.cli import arguments, main
from paraphrastic_pipeline.corpus.losses import warn
from paraphrastic_pipeline.report import inspection
from paraphrastic_pipeline.report.provenance import Verification
from paraphrastic_pipeline.training.negatives import Negative, as_table
from paraphrastic_pipeline.workflow.step import step
from snakemake_logger_plugin_paraphrastic import _warnings

HOSTILE = "a\x1b]0;title\x07\x1b[2J\x9b31m\tb\rc\x7f\x85\ndone"
ESCAPED = r"a\x1b]0;title\x07\x1b[2J\x9b31m\tb\rc\x7f\x85"


def test_control_characters_are_spelled_out() -> None:
    assert spelled_out(HOSTILE) == f"{ESCAPED}\ndone"
    # A name that is not UTF-8 is shown, too.
    assert spelled_out("\udcff.txt é") == "\\udcff.txt é"
    assert on_one_line("a\n\x1bb") == r"a \x1bb"


def test_a_line_for_people_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    arguments.say(HOSTILE, 3, "\udcff")
    assert capsys.readouterr().out == f"{ESCAPED}\\ndone\t3\t\\udcff\n"


def test_a_log_and_what_the_run_shows_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    log = tmp_path / "log"
    snakemake = SimpleNamespace(rule="merge_pairs", input=[], output=[], log=[str(log)], params={}, config={})

    def run() -> None:
        with step(snakemake):
            logging.info("a member %s", HOSTILE)
            warn(f"The filters drop 40 % of {HOSTILE}")
            raise FileNotFoundError(2, "No such file", HOSTILE)

    with pytest.raises(SystemExit) as stopped:
        run()
    assert stopped.value.code == f"error in merge_pairs: {ESCAPED}\\ndone: No such file"
    assert log.read_text().replace("\n", "").isprintable()
    assert _warnings(str(log)) == [f"warning: The filters drop 40 % of {ESCAPED}"]


def test_warnings_of_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "lastResort", logging.StreamHandler())
    with pytest.raises(SystemExit):
        main(["models", "--help"])
    assert main(["models"]) == 0
    assert isinstance(logging.lastResort.formatter, LogFormatter)


def test_tables_on_the_terminal() -> None:
    shown = inspection.as_text("Pieces", ["rank", "longest"], [{"rank": 1, "longest": HOSTILE}])
    assert shown.replace("\n", "").replace("\t", "").isprintable()
    assert len(shown.splitlines()) == 4
    (_, line) = as_table([Negative(HOSTILE, 1, "=1\x1b", 0.5)])
    assert line.count("\t") == 3
    assert line.endswith("\t1\t'=1\t0.5000\n")
    assert line.replace("\t", "").strip().isprintable()


def test_paths_in_somebody_elses_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Verification(same=1, differing={HOSTILE: "does not exist"}, absent=[HOSTILE])
    monkeypatch.setattr("paraphrastic_pipeline.report.provenance.verify", lambda _: found)
    assert main(["verify"]) == 1
    shown = capsys.readouterr()
    assert shown.out == f"{ESCAPED}\\ndone: does not exist\n"
    assert shown.err.replace("\n", "").isprintable()


def test_a_configuration_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    system = 'systems={x: {path: config, label: "é\\x9b\\x7f"}}'
    assert main(["config", "--json", "--config", system]) == 0
    shown = capsys.readouterr().out
    assert shown.replace("\n", "").isprintable()
    assert json.loads(shown)["systems"]["x"]["label"] == "é\x9b\x7f"
