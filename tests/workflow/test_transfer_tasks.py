"""Test SentEval and the Polish tasks in the pipeline, on small data of the user's own."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pipelines import configure, snakemake

from transfer_archives import polish_files, senteval_members, write_senteval

Edit = Callable[[Path, str, str], None]
ROW = "{name}\t1\tfile\t-\t{file}\tfile:{path}\t-\t-\t-\tmine\t-\n"


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"results/tables/{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def words(pipeline: Path) -> Path:
    """A pipeline with the data and a system for English that is also chosen for the Polish tasks."""
    write_senteval(pipeline / "data/senteval.tar.gz", senteval_members())
    files = {"senteval": [Path("data/senteval.tar.gz")]} | {
        name: [path.relative_to(pipeline) for path in paths]
        for name, paths in polish_files(pipeline / "data/polish").items()
    }
    registry = pipeline / "config/datasets.tsv"
    with registry.open("a", encoding="utf-8") as file:
        for name, paths in files.items():
            file.writelines(ROW.format(name=f"my_{name}", file=path.name, path=path) for path in paths)
    polish = {name: f"my_{name}" for name in files if name != "senteval"}
    configure(pipeline, "evaluation.senteval", "my_senteval")
    configure(pipeline, "evaluation.polish", polish)
    configure(pipeline, "evaluation.only", {"stsb": [], "senteval": ["words"], "polish": ["words"]})
    shutil.copytree(Path(__file__).parents[2] / "src/paraphrastic/models/en", pipeline / "words")
    configure(pipeline, "systems", {"words": {"path": "words", "languages": ["en"], "label": "words"}})
    return pipeline


@pytest.mark.slow("trains many classifiers")
def test_tables_of_the_transfer_tasks(words: Path, edit: Edit) -> None:
    run = snakemake(words, "results/tables/senteval.csv", "results/tables/polish.csv")
    assert run.returncode == 0, run.stdout
    (row,) = rows(words, "senteval")
    assert (row["system"], row["source"], row["data"], row["dim"]) == ("words", "measured", "sample", "300")
    columns = ("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC", "MRPC-F1", "SICK-R", "SICK-E")
    assert all(float(row[column]) > 55 for column in columns)
    result = json.loads((words / "results/eval/words/senteval.json").read_text())
    assert row["MR"] == f"{100 * result['measurements']['accuracy MR']['value']:.1f}"
    (row,) = rows(words, "polish")
    tasks = ("PPC", "CR-H", "CR-M", "CDSC-E", "SICK-E", "CDSC-R", "SICK-R", "8TAGS")
    assert abs(float(row["avg"]) - np.mean([float(row[task]) for task in tasks])) < 0.01

    # Now one data set has a bad line.
    edit(words / "data/polish/8tags/dev.txt", "\n3 ", "\n9 ")
    (words / "resources/downloads/my_8tags/dev.txt").unlink(missing_ok=True)
    run = snakemake(words, "--forcerun", "prepare_transfer", "--", "results/testsets/polish.parquet")
    assert run.returncode
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("error in prepare_transfer: ")]
    assert line.endswith("dev.txt:4: '9' is not one of the classes 0, 1, 2, 3, 4, 5, 6, 7")


def test_suites_that_are_off(pipeline: Path) -> None:
    run = snakemake(pipeline, "--dry-run", "results/eval/en/senteval.json")
    assert run.returncode
    assert "config: evaluation.senteval: is null, so nothing is evaluated on it" in run.stdout
    configure(pipeline, "evaluation.only", {"stsb": [], "polish": ["pl"]})
    run = snakemake(pipeline, "--dry-run")
    assert run.returncode
    assert "config: evaluation.only.polish: 'pl' " in run.stdout
