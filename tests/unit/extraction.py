"""A helper that writes a small corpus and extracts its pairs."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus


def extract(tmp_path, kind, content, languages=("en", "de"), *, columns=(), order=None, bound=0):
    """Return the counts, the extracted rows, and the rows that were reported as unreadable."""
    path = content if isinstance(content, Path) else tmp_path / f"mine.{kind}"
    if not isinstance(content, Path):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    file = CorpusFile(path, tuple(dict.fromkeys(order or languages)), columns)
    return extract_files(tmp_path, kind, [file], languages, bound=bound)


def extract_files(tmp_path, kind, files, languages=("en", "de"), *, bound=0):
    """Do the same with files that are there; faults name a file only if there are several."""
    output, report = tmp_path / "pairs.parquet", tmp_path / "unreadable.tsv"
    options = {"max_member_bytes": 1 << 30, "unreadable": report, "max_unreadable": bound}
    counts = extract_corpus(kind, files, languages, output, **options)
    header, *faults = report.read_text().splitlines()
    assert header == "file\tline\tcause"
    assert counts["unreadable"] == len(faults)
    if len(files) == 1:
        faults = [line.removeprefix(f"{files[0].path}\t") for line in faults]
    return counts, pq.read_table(output).to_pylist(), faults


def sides(tmp_path, *texts: str | bytes, languages=("en", "de")) -> list[CorpusFile]:
    """Write files that are aligned by line."""
    files = []
    for number, text in enumerate(texts):
        path = tmp_path / f"side{number}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        files.append(CorpusFile(path, (languages[number],)))
    return files


def pairs(rows):
    return [(row["source"], row["target"]) for row in rows]


def fault(tmp_path, *arguments, **settings):
    with pytest.raises(InputError) as caught:
        extract(tmp_path, *arguments, **settings)
    message = str(caught.value)
    assert "\n" not in message
    assert not (tmp_path / "pairs.parquet").exists()
    assert not (tmp_path / "unreadable.tsv").exists()
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
