"""Helpers that write corpora of groups and extract their pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from archives import make_tar, make_zip

from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.sentence_groups import Drawing

EVERY = 1_000_000


def extract(
    folder: Path,
    files: Sequence[tuple[Path, str]],
    *,
    per_group: int = EVERY,
    seed: int = 1,
    kind: str = "groups",
    **options: Any,
) -> list[dict[str, Any]]:
    """Read files, each with the words of its layout, and return the pairs."""
    resources: Any = {"memory_mb": 200, "threads": 1, "temporary": folder / "temporary"}
    extract_corpus(
        kind,
        [CorpusFile(path, ("en",), tuple(words.split())) for path, words in files],
        ("en", "en"),
        folder / "pairs.parquet",
        max_member_bytes=1 << 24,
        unreadable=folder / "unreadable.tsv",
        drawing=Drawing(per_group, seed, resources),
        **options,
    )
    return pq.read_table(folder / "pairs.parquet").to_pylist()


def groups_of(rows: list[dict[str, Any]]) -> set[frozenset[str]]:
    found: dict[int, set[str]] = {}
    for row in rows:
        found.setdefault(row["line"], set()).update((row["source"], row["target"]))
    return {frozenset(sentences) for sentences in found.values()}


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def packed(path: Path, members: dict[str, str], kind: str) -> Path:
    encoded = {name: text.encode() for name, text in members.items()}
    return make_zip(path, encoded) if kind == "zip" else make_tar(path, encoded)


def faults(folder: Path) -> list[str]:
    """The lines and causes of the rows that could not be read."""
    _, *rows = (folder / "unreadable.tsv").read_text(encoding="utf-8").splitlines()
    return [": ".join(row.split("\t")[1:]) for row in rows]
