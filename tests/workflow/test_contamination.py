"""Test that a test sentence in the training data is found, counted, and left out if the settings say so."""

import gzip
import re
from pathlib import Path

import pandas as pd
import pytest
from pipelines import configure, planned, snakemake

from paraphrastic_pipeline.base.tables import read_csv

TARGETS = ("results/corpora/fr/pairs.parquet", "results/tables/contamination.md")
ONLY_FRENCH = ("--config", "models=[fr]", "--", *TARGETS)


def contaminate(pipeline: Path) -> None:
    """Add a pair of the test set, written differently, as line 20,001."""
    registry = (pipeline / "config/datasets.tsv").read_text(encoding="utf-8")
    for code, side in (("en", "eng"), ("fr", "fra")):
        test = (pipeline / f"data/sample/tatoeba/tatoeba.fra-eng.{side}").read_text(encoding="utf-8")
        path = pipeline / f"data/sample/aligned/train.{code}.gz"
        line = test.splitlines()[0].replace(" ", "  ").rstrip(".?") + " !"
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + f"{line}\n".encode()))
        # The file differs from the shipped one, so its digest is removed.
        pattern = rf"(train\.{code}\.gz\tfile:data/sample/\S+)\t\w+\t\d+"
        registry, changed = re.subn(pattern, r"\1\t-\t-", registry)
        assert changed == 1
    (pipeline / "config/datasets.tsv").write_text(registry, encoding="utf-8")


@pytest.mark.slow("filters a corpus")
def test_a_test_sentence_in_the_training_data_is_dropped(pipeline: Path) -> None:
    contaminate(pipeline)
    run = snakemake(pipeline, *ONLY_FRENCH)
    assert run.returncode == 0, run.stdout
    table = {row["testset"]: row for row in read_csv(pipeline / "results/tables/contamination.csv")}
    assert (table["tatoeba"]["exact"], table["tatoeba"]["dropped"]) == ("1", "1")
    assert (table["all"]["exact"], table["sts"]["exact"]) == ("1", "0")
    assert int(table["all"]["near"]) > 0
    pairs = pd.read_parquet(pipeline / "results/corpora/fr/pairs.parquet")
    assert 20_001 not in set(pairs["line"])
    examples = (pipeline / "results/contamination/fr/sample_aligned/en-fr.examples.tsv").read_text(
        encoding="utf-8"
    )
    assert "tatoeba\texact\ten-fr\t1.00\t20001\tsource\t" in examples

    # A change of the setting repeats the merging, not the search for test sentences.
    configure(pipeline, "contamination.drop", "near")
    plan = planned(pipeline, *ONLY_FRENCH)
    assert "merge_pairs" in plan.rules
    assert "mark_contamination" not in plan.rules


def test_a_missing_test_set_is_named(pipeline: Path) -> None:
    (pipeline / "data/sample/tatoeba/tatoeba.fra-eng.fra").unlink()
    run = snakemake(pipeline, "results/contamination/fr/testsets.parquet")
    assert run.returncode != 0
    assert "resources/downloads/sample_tatoeba/tatoeba.fra-eng.fra: could not be fetched" in run.stdout
    assert "Traceback" not in run.stdout
