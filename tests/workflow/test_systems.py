"""Test that other people's systems are evaluated in the same way as the models."""

import json
from pathlib import Path

from pipelines import configure, planned, snakemake


def result(folder: Path, system: str) -> dict:
    return json.loads((folder / f"results/eval/{system}/sts.json").read_text(encoding="utf-8"))


def test_a_new_system_is_all_that_runs(finished: Path) -> None:
    configure(finished, "systems", {"theirs": {"sentence_transformers": "a/b"}})
    plan = planned(finished, "all", "paper_tables")
    evaluated = {message for message in plan.messages if message.startswith("Evaluate")}
    assert "Evaluate theirs on sts" in evaluated
    assert all("theirs" in message for message in evaluated)
    assert "measure_speed" in plan.rules
    assert plan.rules.isdisjoint({"train_model", "initialize_model", "merge_pairs", "prepare_testsets"})


def test_speed_can_be_left_out(finished: Path) -> None:
    configure(finished, "evaluation.speed", None)
    (finished / "results/eval/speed.json").unlink()
    (finished / "results/tables/speed.csv").unlink()
    plan = planned(finished, "paper_tables")
    assert "measure_speed" not in plan.rules
    assert not {"Tabulate speed", "Plot speed"} & plan.messages
    run = snakemake(finished, "--dry-run", "results/tables/speed.csv")
    assert run.returncode
    assert "config: evaluation.speed: is null" in run.stdout
