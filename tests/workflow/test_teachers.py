"""Test models that begin from a teacher: from text alone, and in a language that it does not know."""

import csv
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from pipelines import planned, snakemake

from paraphrastic import load_model

CONFIG = """
models: [own]
language_id: null
definitions:
  own:
    languages: [en]
    corpora: [{path: notes.txt, kind: text}]
    selection: {bitext: {language: null}}
    training: {init: teacher, teacher: shipped, teacher_sentences: 2000, epochs: 0, dimension: 64}
  both:
    languages: [en, fr]
    corpora: [sample_aligned]
    selection: {bitext: {language: null}}
    training: {init: teacher, teacher: shipped, teacher_sentences: 3000, epochs: 0, dimension: 64}
  # Text beside pairs.
  more:
    languages: [en, fr]
    corpora: [sample_aligned, {path: notes.txt, kind: text, languages: [en]}]
    selection: {bitext: {language: null}}
    training: {init: teacher, teacher: shipped, teacher_sentences: 3000, epochs: 1, dimension: 64}
systems:
  shipped: {path: models/en, languages: [en]}
vocabulary: {size: 800}
evaluation: {sts: sample_sts, speed: null}
contamination: {testsets: {sts: sample_sts}}
"""


@pytest.fixture
def folder(pipeline: Path) -> Path:
    shipped = load_model("en")
    assert shipped.dim == 300
    (pipeline / "models").symlink_to(Path(__file__).parents[2] / "src/paraphrastic/models")
    with zipfile.ZipFile(pipeline / "data/sample/para-nmt-sample.zip") as archive:
        lines = archive.read(archive.namelist()[0]).decode().splitlines()
    (pipeline / "notes.txt").write_text("".join(line.split("\t")[0] + "\n" for line in lines[:1500]))
    (pipeline / "config.yaml").write_text(CONFIG)
    return pipeline


@pytest.mark.slow("makes two models from a teacher")
def test_models_from_a_teacher_alone(folder: Path) -> None:
    run = snakemake(folder, "--configfile", "config.yaml", "--", "results/tables/sts.csv")
    assert run.returncode == 0, run.stdout
    with (folder / "results/tables/sts.csv").open(encoding="utf-8") as file:
        scores = {row["system"]: float(row["avg"]) for row in csv.DictReader(file) if row["data"] == "sample"}
    assert scores["Taught P-SP own"] > 0.8 * scores["shipped"] > 0
    # Nothing is held out of text without pairs.
    model = load_model(folder / "results/models/own")
    assert model.dim == 64
    assert not (folder / "results/held_out/own.tsv").read_text()
    # French is learned from the English side of each pair.
    run = snakemake(
        folder,
        "--configfile",
        "config.yaml",
        "--config",
        "models=[both]",
        "--",
        "results/tables/held_out.csv",
    )
    assert run.returncode == 0, run.stdout
    both = load_model(folder / "results/models/both")
    pairs = [line.split("\t") for line in (folder / "results/held_out/both.tsv").read_text().splitlines()]
    english, french = (both.embed_raw_text([pair[side] for pair in pairs], normalize=True) for side in (0, 1))
    hits = float(np.mean((english @ french.T).argmax(axis=1) == np.arange(len(pairs))))
    assert hits > 0.3
    # Nothing is trained on text without pairs, but it is there.
    run = snakemake(folder, "--configfile", "config.yaml", "--", "results/models/more/model.safetensors")
    assert run.returncode == 0, run.stdout
    counts = json.loads((folder / "results/corpora/more/counts.json").read_text())
    aligned, notes = (corpus["kept"] for corpus in counts["corpora"])
    assert load_model(folder / "results/models/more").config["pairs"] == aligned
    assert notes > 500
    # A second run makes nothing again.
    assert not planned(folder, "--configfile", "config.yaml", "--", "results/tables/sts.csv").rules


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "kind: text, languages: [en]}]\n",
            "kind: text}]\n",
            "definitions.more.corpora.1.languages: ",
        ),
        (
            "epochs: 1, dimension: 64}\n",
            "epochs: 1, dimension: 64}\n    encoder: {languages: separate}\n",
            "config: definitions.more.",
        ),
        (
            "teacher: shipped",
            "teacher: shiped",
            "'shiped' is neither a definition nor one of systems; did you mean 'shipped'?",
        ),
        ("teacher: shipped, ", "", "definitions.own.training: "),
        ("teacher: shipped, teacher_sentences: 3000", "teacher: both", "config: definitions.both: "),
    ],
)
def test_teachers_that_cannot_be(folder: Path, edit, old: str, new: str, message: str) -> None:
    edit(folder / "config.yaml", old, new)
    assert message in snakemake(folder, "--configfile", "config.yaml", "--dry-run").stdout
