"""Test that names, paths and text from elsewhere are refused or harmless: none of them reaches a shell."""

import json
from pathlib import Path

import pandas as pd
import pytest
from faults import SETTINGS
from pipelines import copy_pipeline, snakemake

HOSTILE = """x'; touch pwned; "$(touch pwned)" `touch pwned` & | #"""
PAIRS = "results/pairs/mine/en-fr.parquet"


def nothing_was_run(folder: Path) -> bool:
    return not [path for path in (*folder.rglob("pwned"), Path.home() / "pwned") if path.exists()]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[sample_aligned]", '["x; rm -rf ~"]', "definitions.fr.corpora: "),
        ("  fr: {", '  "fr; touch pwned": {', "definitions.fr; touch pwned: "),
        ("[en, fr]", '[en, "fr$(touch pwned)"]', "languages.1: "),
        ("{sts: sample_sts, b", "{sts: ../../etc, b", "'../../etc' is not in the registry"),
    ],
)
def test_hostile_names_are_refused_before_anything_runs(pipeline: Path, old, new, message) -> None:
    assert old in SETTINGS
    (pipeline / "small.yaml").write_text(SETTINGS.replace(old, new))
    run = snakemake(pipeline, "--dry-run", "--configfile", "small.yaml", "--", PAIRS)
    assert run.returncode != 0
    assert message in run.stdout
    assert not (pipeline / "results").exists()
    assert nothing_was_run(pipeline)


@pytest.mark.parametrize("name", [HOSTILE, "two\nlines"])
def test_a_pipeline_in_any_folder_reads_a_corpus_of_any_path_and_text(tmp_path: Path, name: str) -> None:
    pipeline = copy_pipeline(tmp_path / "it's; $(touch pwned) `touch pwned` & here")
    path = f"mine/{name}.tsv"
    (pipeline / "mine").mkdir()
    lines = [f"{HOSTILE} {i}\t$(touch pwned); \x1b[2J {i}\n" for i in range(20)]
    (pipeline / path).write_text("".join(lines), encoding="utf-8")
    entry = json.dumps({"path": path, "name": "mine"})
    (pipeline / "small.yaml").write_text(SETTINGS.replace("sample_aligned", entry))
    run = snakemake(pipeline, "--configfile", "small.yaml", "--", PAIRS)
    assert run.returncode == 0, run.stdout
    assert pd.read_parquet(pipeline / PAIRS)["source"][0] == f"{HOSTILE} 0"
    assert nothing_was_run(tmp_path)
