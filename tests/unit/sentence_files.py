"""Helpers that write files of sentences and run the commands `search` and `dedup` on them."""

from pathlib import Path

from small_corpus import PAIRS

from paraphrastic.cli import main

SENTENCES = [sentence for pair in PAIRS[:150] for sentence in pair]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def search(folder: Path, index: Path, queries: object, output: object, *more: object) -> int:
    places = ["--model", folder, "--index", index, "--input", queries, "--output", output]
    return main(["search", *map(str, (*places, *more))])


def dedup(folder: Path, source: object, output: object, *more: object) -> int:
    places = ["--model", folder, "--input", source, "--output", output]
    return main(["dedup", *map(str, (*places, *more))])
