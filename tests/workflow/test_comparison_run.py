"""Test the comparison of trainings on the sample, from the pairs of a model to the table and the picture."""

import csv
import json
from pathlib import Path

import pytest
from pipelines import configure, planned, snakemake

TARGETS = ["results/tables/comparison.md", "results/figures/comparison.svg"]
COMPARED = {"train_compared", "train_static_embedding"}


@pytest.mark.slow("trains three times")
def test_three_trainings_of_the_sample(finished: Path) -> None:
    for key, value in (("model", "en"), ("epochs", 1), ("points", 2)):
        configure(finished, f"comparison.{key}", value)
    # The model itself, its pairs and its pieces are used as they are.
    assert planned(finished, *TARGETS).rules == {
        *COMPARED, "tabulate_results", "plot_figure", "render_table"
    }  # fmt: skip
    run = snakemake(finished, *TARGETS)
    assert run.returncode == 0, run.stdout
    with (finished / "results/tables/comparison.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert len({(row["dim"], row["threads"], row["pairs_read"]) for row in rows}) == 1
    folder = finished / "results/comparison/en"
    settings = {
        recipe: json.loads((folder / recipe / "config.json").read_text())["training"]
        for recipe in ("own", "paper")
    }
    assert settings["own"]["init_std"] == 0.1
    assert settings["paper"]["init_std"] == 1.0
    assert {each["epochs"] for each in settings.values()} == {1}
    for name in ("own", "paper", "static_embedding"):
        assert len((folder / f"{name}.csv").read_text().splitlines()) == 3
    assert planned(finished, *TARGETS).rules == set()


def test_no_comparison_where_none_is_asked_for(finished: Path) -> None:
    assert planned(finished, "paper_tables", "--forceall").rules.isdisjoint(COMPARED)
    run = snakemake(finished, "--dry-run", "results/tables/comparison.csv")
    assert run.returncode != 0
    assert "config: comparison.model: is null, so there is no comparison" in run.stdout
