"""Test that the benchmark of recipes says in one line what it lacks."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("folder", "arguments", "error"),
    [
        (ROOT, ["--model", "nope"], "definitions: there is no model 'nope'; there are en, "),
        (ROOT / "docs", [], "config/open.yaml: there is no such file; run this in the project's folder"),
    ],
)
def test_errors_are_one_line(
    folder: Path,
    arguments: list[str],
    error: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = str(ROOT / "benchmarks/recipe.py")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [script, str(ROOT / "benchmarks/recipe.yaml"), *arguments])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(script, run_name="__main__")
    # Python prints such a text and ends with 1.
    message = str(end.value.code)
    assert message.startswith(f"recipe.py: error: {error}")
    assert "\n" not in message
    assert capsys.readouterr() == ("", "")
