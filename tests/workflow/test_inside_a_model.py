"""Test that the report of the sample can show a model from the inside, and all systems together."""

import csv
from pathlib import Path

from pipelines import configure, snakemake


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_model_of_the_sample_is_looked_at(finished: Path) -> None:
    configure(finished, "inspection.model", "de")
    tables = [f"results/tables/{name}.csv" for name in ("neighbours", "pieces", "dropped")]
    run = snakemake(finished, *tables, "results/figures/map.svg")
    assert run.returncode == 0, run.stdout
    assert "Look at what a model has learned" in run.stdout
    neighbours = rows(finished / tables[0])
    assert len(neighbours) == 24
    assert all(row["before_training"] and row["after_training"] for row in neighbours)
    # Training brings translations nearer to each other.
    after, before = (sum(float(row[name]) for row in neighbours) for name in ("cosine", "cosine_before"))
    assert after != before
    assert {row["corpus"] for row in rows(finished / tables[2])} == {"sample_opus"}
    assert "sample_opus" in (finished / "results/figures/map.svg").read_text(encoding="utf-8")
