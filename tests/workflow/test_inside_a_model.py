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


def test_the_front_of_the_sample(finished_once: Path) -> None:
    found = rows(finished_once / "results/tables/front.csv")
    measured = [row for row in found if row["source"] == "measured"]
    assert [(row["system"], row["version"]) for row in measured] == [
        *((f"P-SP {model}", version) for model in ("en", "de", "es", "fr") for version in ("", "int4")),
        ("en, in the package", ""),
        ("en-de-es-fr, in the package", ""),
    ]
    sts = {row["system"]: row["avg"] for row in rows(finished_once / "results/tables/sts.csv")
           if row["source"] == "measured"}  # fmt: skip
    for row in measured:
        if row["system"] in sts and not row["version"]:
            assert row["sts"] == sts[row["system"]]
        assert float(row["sentences_per_second"]) > 0
    assert any(row["front"] for row in measured)
