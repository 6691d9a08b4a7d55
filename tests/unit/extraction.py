"""Helpers that write a small corpus and extract its pairs."""

import logging
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import lines
from paraphrastic_pipeline.corpus.readers import extract_corpus


class Faults(logging.Handler):
    """Collects the places of the rows that the log names: file and line."""

    def __init__(self):
        super().__init__()
        self.places = []

    def emit(self, record):
        label, line, _ = record.args
        self.places.append((Path(str(label)).name, line))


def extract(tmp_path, kind, content, languages=("en", "de"), *, columns=(), order=None, share=0.0, **more):
    """Return the counts, the extracted rows, and the lines that the log names as unreadable."""
    name, scale = more.pop("name", None) or f"mine.{kind}", more
    path = content if isinstance(content, Path) else tmp_path / name
    if not isinstance(content, Path):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    about = {"languages": tuple(dict.fromkeys(order or languages)), "members": columns, **scale}
    counts, rows, faults = extract_files(tmp_path, kind, [(path, about)], languages, share=share)
    return counts, rows, [line for _, line in faults]


def extract_files(tmp_path, kind, files, languages=("en", "de"), *, share=0.0):
    """Do the same with files that are there, beside their descriptions; lines are named with their files."""
    faults = Faults()
    lines._log.addHandler(faults)
    try:
        paths, described = zip(*files, strict=True)
        options = {"max_unreadable": share, "seed": 1}
        counts = extract_corpus(kind, paths, described, languages, tmp_path / "pairs.parquet", **options)
    finally:
        lines._log.removeHandler(faults)
    assert len(faults.places) == min(counts["unreadable"], 10)
    return counts, pq.read_table(tmp_path / "pairs.parquet").to_pylist(), faults.places


def sides(tmp_path, *texts: str | bytes, languages=("en", "de")):
    """Write files that are aligned by line."""
    files = []
    for number, text in enumerate(texts):
        path = tmp_path / f"side{number}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        files.append((path, {"languages": (languages[number],)}))
    return files


def pairs(rows):
    return [(row["source"], row["target"]) for row in rows]


def fault(tmp_path, *arguments, **settings):
    with pytest.raises(InputError) as caught:
        extract(tmp_path, *arguments, **settings)
    message = str(caught.value)
    assert "\n" not in message
    assert not (tmp_path / "pairs.parquet").exists()
    return message


def parquet(tmp_path, **columns):
    path = tmp_path / "mine.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def tmx(*units: str, head: str = "") -> str:
    body = "\n".join(f"<tu>{unit}</tu>" for unit in units)
    return f'<?xml version="1.0"?>\n{head}<tmx version="1.4"><header/><body>\n{body}\n</body></tmx>\n'


def variant(language: str, text: str) -> str:
    return f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>'
