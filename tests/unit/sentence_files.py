"""Helpers that write files of sentences and run commands on them."""

from functools import partial
from pathlib import Path

import pytest
from small_corpus import PAIRS

from paraphrastic.cli import main

SENTENCES = [sentence for pair in PAIRS[:150] for sentence in pair]
# With blank lines.
LINES = ["", *SENTENCES[:200], "  ", "the\tend"]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def cells_of(path: Path) -> list[list[str]]:
    """The cells of the lines of a tab-separated file."""
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def run(command: str, folder: object, source: object, output: object, *more: object) -> int:
    places = ["--model", folder, "--input", source, "--output", output]
    return main([command, *map(str, (*places, *more))])


embed, score, dedup = (partial(run, command) for command in ("embed", "score", "dedup"))


def search(folder: object, index: Path, queries: object, output: object, *more: object) -> int:
    return run("search", folder, queries, output, "--index", index, *more)


def mine(folder: object, source: object, target: object, output: object, *more: object) -> int:
    places = ["--model", folder, "--source", source, "--target", target, "--output", output]
    return main(["mine", *map(str, (*places, *more))])


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.startswith("paraphrastic: error: ")
    assert error.count("\n") == 1
    return error.removeprefix("paraphrastic: error: ").strip()


def note_of(capsys: pytest.CaptureFixture[str]) -> str:
    note = capsys.readouterr().err
    assert note.startswith("paraphrastic: ")
    assert note.count("\n") == 1
    assert "error" not in note
    return note.removeprefix("paraphrastic: ").strip()
