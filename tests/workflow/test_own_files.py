"""Test corpora given by their paths: a model, and what is made again when a file or their order changes."""

import csv
import gzip
import json
import os
from pathlib import Path

import pytest
from pipelines import planned, snakemake

CONFIG = """
held_out: null
models: [xx]
definitions:
  xx:
    languages: [en, xx]
    corpora:
      - {path: mine/My-Data.tsv.gz, columns: [2, 1]}
      - {path: mine/more.tsv}
language_id: null
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


def kept(folder: Path) -> dict[str, int]:
    with (folder / "results/tables/funnel.csv").open(encoding="utf-8", newline="") as file:
        return {row["corpus"]: int(row["kept"]) for row in csv.DictReader(file)}


@pytest.fixture
def own(pipeline: Path) -> Path:
    (pipeline / "mine").mkdir()
    (pipeline / "config.yaml").write_text(CONFIG)
    write(pipeline / "mine/My-Data.tsv.gz", 600)
    shared = [f"this is the sentence number {i}\tdette er setningen nummer {i}\n" for i in range(590, 620)]
    (pipeline / "mine/more.tsv").write_text("".join(shared))
    return pipeline


@pytest.mark.slow("trains on real data")
def test_a_model_of_ones_own_file(own: Path) -> None:
    run = snakemake(own, *RUN, MODEL, "results/tables/funnel.csv")
    assert run.returncode == 0, run.stdout
    # The file is used in place, and the log names the lines that cannot be read.
    assert not (own / "resources/downloads/my_data").exists()
    log = (own / "results/logs/extract_corpus/my_data/en-xx.log").read_text()
    assert "mine/My-Data.tsv.gz:11: 1 columns" in log
    description = json.loads((own / MODEL).read_text())
    assert description["corpora"]["my_data"].startswith("sha256:")

    # The first corpus keeps the pairs that both contain, so another order needs another merge.
    assert kept(own) == {"my_data": 600, "more": 20}
    config = own / "config.yaml"
    entries = ["      - {path: mine/My-Data.tsv.gz, columns: [2, 1]}\n", "      - {path: mine/more.tsv}\n"]
    config.write_text(CONFIG.replace("".join(entries), "".join(reversed(entries))))
    assert "merge_pairs" in planned(own, *RUN, MODEL).rules
    run = snakemake(own, *RUN, "results/tables/funnel.csv")
    assert run.returncode == 0, run.stdout
    assert kept(own) == {"more": 30, "my_data": 590}
    config.write_text(CONFIG)
    assert snakemake(own, *RUN, MODEL).returncode == 0

    # A new time of the file alone changes nothing. New content counts even if the file keeps its old time.
    path = own / "mine/My-Data.tsv.gz"
    os.utime(path)
    assert planned(own, *RUN, MODEL).rules == set()
    status = path.stat()
    write(path, 500)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "extract_corpus" in planned(own, *RUN, MODEL).rules
