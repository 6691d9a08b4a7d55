"""Test that the benchmark of recipes says in one line what it lacks."""

import subprocess
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
def test_errors_are_one_line(folder: Path, arguments: list[str], error: str) -> None:
    command = [sys.executable, ROOT / "benchmarks/recipe.py", ROOT / "benchmarks/recipe.yaml", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"recipe.py: error: {error}")
    assert ended.stderr.count("\n") == 1
