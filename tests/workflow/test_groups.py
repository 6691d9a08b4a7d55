"""Test a corpus of groups from its file to training: pairs, groups in the training data, and negatives."""

import json
import random
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from pipelines import snakemake

CONFIG = """
models: [en]
definitions:
  en:
    languages: [en]
    corpora:
      - {path: captions.jsonl, kind: groups, columns: [a, b, c]}
      - sample_paranmt
language_id: null
selection:
  paraphrase: {language: null, trigram_overlap: null, near_copy: null, length: null}
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
        json.dumps({name: f"{' '.join(draw.sample(WORDS, 6))} {image}" for name in "abc"})
        for image in range(200)
    ]
    (pipeline / "captions.jsonl").write_text("\n".join(rows))
    (pipeline / "config.yaml").write_text(CONFIG)
    return pipeline


@pytest.mark.slow("trains a model")
def test_groups_go_from_the_file_to_the_miner(folder: Path) -> None:
    run = snakemake(folder, "--configfile", "config.yaml", "--", RUN)
    assert run.returncode == 0, run.stdout
    merged = pd.read_parquet(folder / "results/corpora/en/pairs.parquet")
    captions = merged[merged["corpus"] == 0]
    held_out = pd.read_parquet(folder / "results/held_out/en.parquet")
    groups = 200 - int((held_out["corpus"] == 0).sum())
    assert len(captions) == 3 * groups < 600
    ends_of = [captions[side].str.split(" ").str[-1].to_list() for side in ("source", "target")]
    assert ends_of[0] == ends_of[1]
    assert set(captions.groupby("line").size()) == {3}
    with h5py.File(folder / "results/datasets/en/train.h5") as file:
        numbers, ends = file["groups/tokens"][:], file["groups/offsets"][1:]
    assert [each.tolist() for each in np.split(numbers, ends[:-1])] == [
        each.tolist() for each in merged["groups"]
    ]
    # Captions of one picture are a group, and no sentence is in another one.
    assert set(captions["groups"].str.len()) == {1}
    of_lines = {(row.line, row.groups[0]) for row in captions.itertuples()}
    assert len(of_lines) == len({line for line, _ in of_lines}) == groups
    assert len({group for _, group in of_lines}) == groups


def test_a_wrong_column_is_one_line_with_the_file(folder: Path) -> None:
    config = (folder / "config.yaml").read_text()
    (folder / "config.yaml").write_text(config.replace("[a, b, c]", "[a, caption]"))
    run = snakemake(folder, "--configfile", "config.yaml", "--", "results/pairs/captions/en-en.parquet")
    assert run.returncode != 0
    assert "captions.jsonl: no column 'caption'" in run.stdout
