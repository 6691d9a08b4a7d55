"""Test a model that is trained on the original code's data, and what is made again when the data change."""

import json
import os
from pathlib import Path

import pytest
from pipelines import planned, snakemake

from original_code import corpus, train_sentencepiece, write_data
from paraphrastic import load_model

CONFIG = """
models: [theirs]
definitions:
  theirs:
    languages: [en]
    dataset:
      hdf5: theirs/train.final.h5
      vocabulary: theirs/train.final.vocab
      sentencepiece: theirs/paranmt.model
language_id: null
training: {dimension: 16, epochs: 1}
evaluation: {sts: sample_sts}
"""
RUN = ("--configfile", "config.yaml", "--")
CARD = "results/models/theirs/README.md"


@pytest.fixture
def theirs(pipeline: Path) -> Path:
    folder = pipeline / "theirs"
    folder.mkdir()
    (pipeline / "config.yaml").write_text(CONFIG)
    model = train_sentencepiece(corpus(2000), folder / "paranmt.model")
    write(folder, model, 2000)
    return pipeline


def write(folder: Path, model: Path, n: int) -> None:
    sentences = corpus(n)
    write_data(folder, model, list(zip(sentences[::2], sentences[1::2], strict=True)))


@pytest.mark.slow("trains on real data")
def test_a_model_of_the_originals_data(theirs: Path) -> None:
    run = snakemake(theirs, *RUN, CARD)
    assert run.returncode == 0, run.stdout
    # No earlier step ran, and no file was copied.
    assert not any((theirs / "results" / name).exists() for name in ("pairs", "scored", "selected"))
    description = json.loads((theirs / "results/models/theirs/config.json").read_text())
    assert description["pairs"] == 1000
    (version,) = description["corpora"].values()
    assert version.startswith("sha256:")
    card = (theirs / CARD).read_text(encoding="utf-8")
    assert f"| train.final.h5 | {version} | 1,000 | not stated |" in card
    # sentencepiece does not know these characters as a piece, but the run stood in the data and so has an
    # embedding.
    model = load_model(theirs / "results/models/theirs")
    met, never = model.tokenize(["1984", "9999"]).lists()
    assert (len(met), never) == (2, met[:1])

    # A new time of the file alone changes nothing. New content counts even if the file keeps its old time.
    path = theirs / "theirs/train.final.h5"
    os.utime(path)
    assert planned(theirs, *RUN, CARD).rules == set()
    status = path.stat()
    write(theirs / "theirs", theirs / "theirs/paranmt.model", 1800)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert {"import_dataset", "train_model"} <= planned(theirs, *RUN, CARD).rules


def test_files_that_do_not_fit_are_one_line(theirs: Path) -> None:
    vocabulary = theirs / "theirs/train.final.vocab"
    lines = vocabulary.read_text(encoding="utf-8").splitlines(keepends=True)
    vocabulary.write_text("".join(lines[:-1]), encoding="utf-8")
    run = snakemake(theirs, *RUN, CARD)
    assert run.returncode != 0
    said = [line for line in run.stdout.splitlines() if line.startswith("error in ")]
    assert len(said) == 1, run.stdout
    cause = f"is not one of the vocabulary's {len(lines) - 1} rows"
    assert said[0].startswith("error in import_dataset: theirs/train.final.h5: data, row ")
    assert said[0].endswith(cause)
    assert not (theirs / "results/datasets/theirs/train.h5").exists()


def test_tables_are_those_without_corpora(theirs: Path) -> None:
    rules = planned(theirs, *RUN, "paper_tables").rules
    assert {"import_dataset", "tabulate_systems"} <= rules
    assert not rules & {"tabulate_corpora", "tabulate_funnel", "tabulate_contamination", "measure_speed"}
