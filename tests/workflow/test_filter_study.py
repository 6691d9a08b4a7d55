"""Test the filter study: its results on the sample, what is made again, and what it costs if it is off."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from pipelines import configure, planned, snakemake

Edit = Callable[[Path, str, str], None]

TABLE = "results/tables/filter_study.csv"
STUDY = "results/filter_study/en/paraphrase_score"
# For every part, these steps are planned again after the draw.
OF_PARTS = {"encode_part", "train_part", "score_part", "evaluate_part"}
AFTER = {"tabulate_results", "plot_figure", "render_table", "write_ledger"}


def test_the_study_of_the_sample(finished_once: Path) -> None:
    with (finished_once / TABLE).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["rank_by"], row["part"], row["source"], row["data"]) for row in rows] == [
        ("paraphrase_score", str(part), "measured", "sample") for part in range(1, 6)
    ]
    candidates = pd.read_parquet(
        finished_once / "results/filter_study/en/candidates/sample_paranmt/en-en.parquet"
    )
    scores = dict(zip(candidates["line"], candidates["paraphrase_score"], strict=True))
    seen: set[int] = set()
    for row in rows:
        folder = finished_once / STUDY / row["part"]
        lines = pd.read_parquet(folder / "pairs.parquet")["line"].to_list()
        assert len(set(lines)) == int(row["sampled"]) == 2000 < int(row["pairs"])
        assert not seen & set(lines)
        seen |= set(lines)
        found = [round(scores[line], 4) for line in lines]
        assert float(row["min"]) <= min(found) <= max(found) <= float(row["max"])
        config = json.loads((folder / "config.json").read_text())
        assert (config["rank_by"], config["part"], config["pairs"]) == (
            "paraphrase_score",
            int(row["part"]),
            2000,
        )
        for name, key in (("development.json", "development"), ("sts.json", "sts")):
            result = json.loads((folder / name).read_text())
            score = (
                result["development"]
                if name == "development.json"
                else 100 * result["measurements"]["pearson avg"]["value"]
            )
            assert row[key] == f"{score:.1f}"
        assert float(row["sts_low"]) < float(row["sts"]) < float(row["sts_high"])
    best = max(rows, key=lambda row: float(row["development"]))
    assert [row["part"] for row in rows if row["best"] == "yes"] == [best["part"]]
    # The highest scores belong to near copies, from which a model learns nothing.
    assert best["part"] != "5"
    assert len({row["sts"] for row in rows}) > 1
    for suffix in ("md", "tex"):
        assert "2000" in (finished_once / TABLE).with_suffix(f".{suffix}").read_text()
    for suffix in ("svg", "png"):
        assert (finished_once / f"results/figures/filter_study.{suffix}").stat().st_size > 10_000


def test_the_whole_corpus_is_ranked(finished_once: Path) -> None:
    summary = json.loads((finished_once / STUDY / "parts.json").read_text())
    selected = json.loads(
        (finished_once / "results/selected/en/sample_paranmt/en-en.counts.json").read_text()
    )
    assert summary["read"] == selected["read"] - selected["dropped"]["empty"] > selected["kept"]
    assert summary["duplicates"] > 0
    assert sum(part["pairs"] for part in summary["parts"]) == summary["ranked"]


def test_another_sample_size_draws_again_and_scores_nothing(finished: Path, edit: Edit) -> None:
    edit(finished / "config/config.yaml", "sample: 2000", "sample: 1000")
    assert planned(finished, "paper_tables").rules == {"rank_pairs", *OF_PARTS, *AFTER}
    assert planned(finished, "all").rules == set()


def test_fewer_parts_are_ranked_again(finished: Path, edit: Edit) -> None:
    edit(finished / "config/config.yaml", "parts: 5", "parts: 4")
    assert {"rank_pairs", *OF_PARTS} <= planned(finished, "paper_tables").rules


def test_a_setting_of_training_draws_nothing_again(finished: Path, edit: Edit) -> None:
    edit(finished / "config/config.yaml", "training: {epochs: 5}", "training: {epochs: 4}")
    assert planned(finished, "paper_tables").rules == {*OF_PARTS, *AFTER} - {"encode_part"}


def test_another_measure_leaves_the_first_alone(finished: Path, edit: Edit) -> None:
    edit(
        finished / "config/config.yaml",
        "rank_by: [paraphrase_score]",
        "rank_by: [paraphrase_score, trigram_overlap]",
    )
    plan = planned(finished, "paper_tables")
    assert plan.rules == {"rank_pairs", *OF_PARTS, *AFTER}
    of_parts = {message for message in plan.messages if "part" in message}
    assert len(of_parts) == 1 + 4 * 5
    assert all("trigram_overlap" in message for message in of_parts)


def test_thresholds_of_the_selection_are_not_asked(pipeline: Path) -> None:
    target = f"{STUDY}/parts.json"
    plan = planned(pipeline, target)
    assert {"list_candidates", "mark_candidates"} <= plan.rules
    assert plan.rules.isdisjoint({"select_pairs", "mark_contamination", "merge_pairs"})
    configure(pipeline, "contamination.drop", "none")
    assert "mark_candidates" not in planned(pipeline, target).rules


def test_no_study_where_it_is_off(finished: Path, edit: Edit) -> None:
    config = finished / "config/config.yaml"
    edit(config, "model: en\n", "model: null\n")
    assert planned(finished, "paper_tables", "--forceall").rules.isdisjoint({"rank_pairs", *OF_PARTS})
    run = snakemake(finished, "--dry-run", TABLE)
    assert run.returncode != 0
    assert "config: filter_study.model: is null, so there is no filter study" in run.stdout


def test_no_study_of_a_model_that_is_not_built(finished_once: Path) -> None:
    plan = planned(finished_once, "--forceall", "--config", "models=[fr]", "--", "paper_tables")
    assert plan.rules.isdisjoint({"rank_pairs", *OF_PARTS})


CONFIG = """
models: [xx]
definitions:
  xx: {languages: [xx], corpora: [{path: mine.tsv, columns: COLUMNS}]}
language_id: null
selection:
  paraphrase: {language: null, paraphrase_score: null}
filter_study: {model: xx, rank_by: [translation_score], parts: 4, sample: 30}
evaluation: {sts: sample_sts}
"""


def rank_own_file(folder: Path, columns: str) -> str:
    (folder / "config.yaml").write_text(CONFIG.replace("COLUMNS", columns))
    rows = [f"this is sentence {i}\tsentence {i} is this\t{-(i * 37 % 200) / 8}\n" for i in range(200)]
    (folder / "mine.tsv").write_text("".join(rows))
    target = "results/filter_study/xx/translation_score/parts.json"
    return snakemake(folder, "--configfile", "config.yaml", "--", target).stdout


def test_translation_scores_of_ones_own(pipeline: Path) -> None:
    log = rank_own_file(pipeline, '[1, 2, "-", 3]')
    folder = pipeline / "results/filter_study/xx/translation_score"
    assert (folder / "parts.json").exists(), log
    bounds = [(part["min"], part["max"]) for part in json.loads((folder / "parts.json").read_text())["parts"]]
    assert bounds == [(-24.875, -18.75), (-18.625, -12.5), (-12.375, -6.25), (-6.125, 0.0)]
    for number in range(1, 5):
        lines = pd.read_parquet(folder / f"{number}/pairs.parquet")["line"].to_list()
        assert len(lines) == 30
        assert {(199 - (line - 1) * 37 % 200) // 50 + 1 for line in lines} == {number}


def test_a_score_that_the_corpus_does_not_have(pipeline: Path) -> None:
    log = rank_own_file(pipeline, "[1, 2, 3]")
    candidates = "results/filter_study/xx/candidates/mine/xx-xx.parquet"
    assert f"error in rank_pairs: {candidates}: no pair has a translation score to rank by\n" in log
    assert "Traceback" not in log
