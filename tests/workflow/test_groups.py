"""Test a corpus of groups from its file to training: pairs, groups in the training data, and negatives."""

import json
import random
from pathlib import Path

import h5py
import polars as pl
import pytest
from pipelines import snakemake

CONFIG = """
models: [en]
definitions:
  en:
    languages: [en]
    corpora:
      - {path: captions.json, kind: groups, columns: ["rows:images", "key:id", "text:caption"]}
      - sample_paranmt
pairs_per_group: {captions: 3}
language_id: null
selection:
  paraphrase: {language: null, trigram_overlap: null, near_copy: null, paraphrase_score: null, length: null}
max_pairs: {sample_paranmt: 100}
vocabulary: {size: 300}
training: {dimension: 16, epochs: 1, engine: fused}
sweep: {dropout: [0.0], megabatch: [4]}
evaluation: {sts: sample_sts}
"""
WORDS = ["small", "big", "quick", "old", "red", "dog", "shop", "tree", "house", "road", "river"]
RUN = "results/training/en/dropout-0.0-megabatch-4/config.json"


@pytest.fixture
def folder(pipeline: Path) -> Path:
    draw = random.Random(1)
    rows = [
        {"id": image, "caption": f"{' '.join(draw.sample(WORDS, 6))} {image}"}
        for image in range(200)
        for _ in range(5)
    ]
    draw.shuffle(rows)
    (pipeline / "captions.json").write_text(json.dumps({"images": rows}))
    (pipeline / "config.yaml").write_text(CONFIG)
    return pipeline


def test_groups_go_from_the_file_to_the_miner(folder: Path) -> None:
    run = snakemake(folder, "--configfile", "config.yaml", "--", RUN)
    assert run.returncode == 0, run.stdout
    merged = pl.read_parquet(folder / "results/corpora/en/pairs.parquet")
    captions = merged.filter(pl.col("corpus") == 0)
    assert captions.height == 3 * 200
    assert (
        captions["source"].str.split(" ").list.last() == captions["target"].str.split(" ").list.last()
    ).all()
    assert set(captions.group_by("line").len()["len"]) == {3}
    with h5py.File(folder / "results/datasets/en/train.h5") as file:
        groups = file["groups"][:]
    assert len(groups) == merged.height
    # Equal groups are equal corpora and lines.
    places = merged.select(pl.struct("corpus", "line")).to_series().rank("dense").to_numpy()
    assert (pl.Series(groups).rank("dense").to_numpy() == places).all()


def test_a_wrong_column_is_one_line_with_the_file(folder: Path) -> None:
    config = (folder / "config.yaml").read_text()
    (folder / "config.yaml").write_text(config.replace("text:caption", "text:captions"))
    run = snakemake(folder, "--configfile", "config.yaml", "--", RUN)
    assert run.returncode != 0
    assert "captions.json:1: has no captions (1 unreadable row" in run.stdout
    (folder / "config.yaml").write_text(config.replace("text:caption", "txt:caption"))
    run = snakemake(folder, "-n", "--configfile", "config.yaml", "--", RUN)
    assert "config: definitions.en.corpora.0.columns: 'txt:caption' is none of lines:…" in run.stdout
