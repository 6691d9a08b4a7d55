"""Helpers that write files of sentences and run the commands `embed`, `search` and `dedup` on them."""

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


def embed(folder: object, source: object, output: object, *more: object) -> int:
    places = ["--model", folder, "--input", source, "--output", output]
    return main(["embed", *map(str, (*places, *more))])


def search(folder: Path, index: Path, queries: object, output: object, *more: object) -> int:
    places = ["--model", folder, "--index", index, "--input", queries, "--output", output]
    return main(["search", *map(str, (*places, *more))])


def dedup(folder: Path, source: object, output: object, *more: object) -> int:
    places = ["--model", folder, "--input", source, "--output", output]
    return main(["dedup", *map(str, (*places, *more))])


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
