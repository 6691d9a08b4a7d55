"""Test what a newcomer gets from the sample's run: its tables and its models."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from pipelines import ROOT, snakemake

from paraphrastic import load_model

MODELS = ("en", "de", "es", "fr")
YEARS = ("2012", "2013", "2014", "2015", "2016")


def rows(folder: Path, name: str = "sts") -> list[dict[str, str]]:
    with (folder / f"results/tables/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_keeps_the_contract(finished_once: Path) -> None:
    for name in ("sts", "sts_spearman"):
        header = (finished_once / f"results/tables/{name}.csv").read_text().splitlines()[0]
        assert header == "system,source,data,2012,2013,2014,2015,2016,avg"
        found = [(row["system"], row["source"], row["data"]) for row in rows(finished_once, name)]
        assert found == [
            (f"P-SP {model}", source, "sample") for model in MODELS for source in ("untrained", "measured")
        ]
        for suffix in ("md", "tex"):
            assert "P-SP fr" in (finished_once / f"results/tables/{name}.{suffix}").read_text()


def test_readme_shows_the_table_of_the_run(finished_once: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^(P-SP \w+) +(\w+) sample +([\d. ]+)$", text, re.M)
    assert shown
    figures_of = {(row["system"], row["source"]): row for row in rows(finished_once)}
    for system, source, cells in shown:
        row = figures_of[system, source]
        figures = [float(row[column]) for column in (*YEARS, "avg")]
        # Processors with other instructions add numbers in another order.
        assert figures == pytest.approx([float(cell) for cell in cells.split()], abs=0.15)


@pytest.mark.parametrize("model", MODELS)
def test_training_helps_in_every_year(finished_once: Path, model: str) -> None:
    scores = {row["source"]: row for row in rows(finished_once) if row["system"] == f"P-SP {model}"}
    gains = {year: float(scores["measured"][year]) - float(scores["untrained"][year]) for year in YEARS}
    assert min(gains.values()) >= 3.0, gains


@pytest.mark.parametrize("model", MODELS)
def test_the_table_is_the_mean_of_the_evaluated_datasets(finished_once: Path, model: str) -> None:
    result = json.loads((finished_once / f"results/eval/{model}/sts.json").read_text())
    (row,) = [
        row for row in rows(finished_once) if row["system"] == f"P-SP {model}" and row["source"] == "measured"
    ]
    assert len(result["datasets"]) == 25
    means = []
    for year in YEARS:
        of_year = [
            result["measurements"][f"pearson {name}"]["value"]
            for name in result["datasets"]
            if name.startswith(year)
        ]
        means.append(100 * sum(of_year) / len(of_year))
        assert row[year] == f"{means[-1]:.1f}"
    assert row["avg"] == f"{sum(means) / 5:.1f}"
    assert result["digest"] == load_model(finished_once / "results/models" / model).digest


@pytest.mark.parametrize("model", MODELS)
def test_the_best_run_of_the_sweep_is_the_model(finished_once: Path, model: str) -> None:
    folder = finished_once / "results/training" / model
    scores = {
        path.parent: json.loads(path.read_text())["development"] for path in folder.glob("*/development.json")
    }
    assert len(scores) == 2
    best = max(scores, key=lambda run: scores[run])
    chosen = finished_once / "results/models" / model
    for name in ("model.safetensors", "sentencepiece.model"):
        assert (chosen / name).read_bytes() == (best / name).read_bytes()
    # The chosen folder also has the files and entries that other libraries need.
    configs = [json.loads((folder / "config.json").read_text()) for folder in (chosen, best)]
    assert configs[0] == {**configs[1], "normalize": False, "max_length": None}
    assert (chosen / "tokenizer.json").is_file()


def test_models_know_paraphrases_and_translations(finished_once: Path) -> None:
    for model, text in (("de", "train"), ("fr", "train"), ("es", "train")):
        encoder = load_model(finished_once / "results/models" / model)
        pairs = pd.read_parquet(finished_once / f"results/corpora/{model}/pairs.parquet").head(200)
        source, target = pairs["source"].to_list(), pairs["target"].to_list()
        own = encoder.score_raw_text(list(zip(source, target, strict=True)))
        other = encoder.score_raw_text(list(zip(source, target[1:] + target[:1], strict=True)))
        assert sum(own) / 200 > sum(other) / 200 + 0.2, text


# The file of the sample from which each corpus is made, with its name in `noise.tsv`.
FILES = {
    "en": ("sample_paranmt", "para-nmt-sample.zip"),
    "de": ("sample_opus", "de-en.txt.zip"),
    "es": ("sample_manythings", "spa-eng.zip"),
    "fr": ("sample_aligned", "aligned"),
}


def noise(folder: Path, file: str) -> dict[str, set[int]]:
    kinds: dict[str, set[int]] = {}
    with (folder / "data/sample/noise.tsv").open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if file in row["file"]:
                kinds.setdefault(row["kind"], set()).add(int(row["line"]))
    return kinds


@pytest.mark.parametrize("model", MODELS)
def test_filters_drop_the_noise_and_keep_the_rest(finished_once: Path, model: str) -> None:
    corpus, file = FILES[model]
    pair = f"en-{model}"
    kinds = noise(finished_once, file)
    selected = set(
        pd.read_parquet(finished_once / f"results/selected/{model}/{corpus}/{pair}.parquet")["line"]
    )
    merged = set(pd.read_parquet(finished_once / f"results/corpora/{model}/pairs.parquet")["line"])
    counts = json.loads((finished_once / f"results/selected/{model}/{corpus}/{pair}.counts.json").read_text())
    # Short translations are translations.
    exact = ("short", "long", "near_copy", "mismatch") if model == "en" else ("long",)
    for kind in exact:
        assert not kinds.get(kind, set()) & selected, kind
    wrong = kinds["wrong_language"] | kinds.get("copy", set())
    assert len(wrong & selected) <= 0.03 * len(wrong)
    # Only one copy of a repeated pair is left.
    assert len(kinds["duplicate"] & merged) <= 0.03 * len(kinds["duplicate"])
    clean = set(range(1, counts["read"] + 1)) - set().union(*kinds.values())
    assert len(clean - selected) <= 0.01 * len(clean)
    # The dropped pairs can be read with their reasons.
    with (finished_once / f"results/selected/{model}/{corpus}/{pair}.dropped.tsv").open(
        encoding="utf-8"
    ) as sample:
        reasons = {row["reason"] for row in csv.DictReader(sample, delimiter="\t")}
    assert reasons == {reason for reason, count in counts["dropped"].items() if count}


def test_every_pair_is_accounted_for(finished_once: Path) -> None:
    for row in rows(finished_once, "funnel"):
        model, _, read, *losses, kept = row.values()
        assert int(read) - sum(int(loss or 0) for loss in losses) == int(kept)
        pairs = pd.read_parquet(finished_once / f"results/corpora/{model}/pairs.parquet")
        assert len(pairs) == int(kept)
        (used,) = [
            entry
            for entry in rows(finished_once, "corpora")
            if (entry["model"], entry["corpus"]) == (model, "all")
        ]
        assert (used["pairs"], used["used"]) == (read, kept)
    for suffix in ("svg", "png"):
        assert (finished_once / f"results/figures/funnel.{suffix}").stat().st_size > 10_000


@pytest.mark.slow("runs the sample again")
def test_shards_change_nothing_but_the_jobs(finished_once: Path, pipeline: Path) -> None:
    target = "results/corpora/de/pairs.parquet"
    run = snakemake(pipeline, "--config", "shards=3", "--", target)
    assert run.returncode == 0, run.stdout
    assert "part 3-of-3" in run.stdout
    assert (pipeline / target).read_bytes() == (finished_once / target).read_bytes()


def test_speed_is_that_of_every_model(finished_once: Path) -> None:
    measured = [row for row in rows(finished_once, "speed") if row["source"] == "measured"]
    assert list(dict.fromkeys(row["system"] for row in measured)) == [f"P-SP {model}" for model in MODELS]
    on_processor = [row for row in measured if row["device"] == "cpu"]
    # Each model is timed on one core and on two, with two batch sizes, with and without preprocessing.
    assert len(on_processor) == 8 * len(MODELS)
    assert all(float(row["sentences_per_second"]) > 1000 for row in on_processor)
    for suffix in ("svg", "png"):
        assert (finished_once / f"results/figures/speed.{suffix}").stat().st_size > 10_000
