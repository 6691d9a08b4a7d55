"""A corpus by its path: a model of it, and what is made again when the file changes."""

import gzip
import json
import os
from pathlib import Path

import pytest
from pipelines import planned, snakemake

CONFIG = """
models: [xx]
definitions:
  xx: {languages: [en, xx], corpora: [{path: mine/My-Data.tsv.gz, columns: [2, 1]}]}
language_id: null
extraction: {max_unreadable: 5}
selection:
  bitext: {language: null}
vocabulary: {size: 300}
training: {dimension: 16, epochs: 1}
evaluation: {sts: sample_sts}
"""
RUN = ("--configfile", "config.yaml", "--")
MODEL = "results/models/xx/config.json"


def write(path: Path, rows: int) -> None:
    lines = [f"dette er setningen nummer {i}\tthis is the sentence number {i}\n" for i in range(rows)]
    lines.insert(10, "a line without a translation\n")
    path.write_bytes(gzip.compress("".join(lines).encode()))


@pytest.fixture
def own(pipeline: Path) -> Path:
    (pipeline / "mine").mkdir()
    (pipeline / "config.yaml").write_text(CONFIG)
    write(pipeline / "mine/My-Data.tsv.gz", 600)
    return pipeline


def test_a_model_of_ones_own_file(own: Path) -> None:
    run = snakemake(own, *RUN, MODEL)
    assert run.returncode == 0, run.stdout
    # Used from where it lies, with what cannot be read on a list.
    assert not (own / "resources/downloads/my_data").exists()
    report = (own / "results/pairs/my_data/en-xx.unreadable.tsv").read_text().splitlines()
    assert report[1:] == ["mine/My-Data.tsv.gz\t11\t1 columns, the first line has 2"]
    description = json.loads((own / MODEL).read_text())
    assert description["corpora"]["my_data"].startswith("sha256:")

    # Another time alone changes nothing, other content does, even with the time of the first.
    path = own / "mine/My-Data.tsv.gz"
    os.utime(path)
    assert planned(own, *RUN, MODEL).rules == set()
    status = path.stat()
    write(path, 500)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "extract_corpus" in planned(own, *RUN, MODEL).rules
