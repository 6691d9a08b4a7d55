"""Test that other people's systems are evaluated in the same way as the models."""

import json
import shutil
from pathlib import Path

import numpy as np
from pipelines import configure, planned, snakemake

from paraphrastic import load_model


def result(folder: Path, system: str) -> dict:
    return json.loads((folder / f"results/eval/{system}/sts.json").read_text(encoding="utf-8"))


def test_vectors_that_were_made_elsewhere(finished: Path) -> None:
    """A file with a model's vectors and the model's folder both give the model's own figures."""
    run = snakemake(finished, "results/testsets/sentences.txt")
    assert run.returncode == 0, run.stdout
    text = (finished / "results/testsets/sentences.txt").read_text(encoding="utf-8")
    sentences = text.removesuffix("\n").split("\n")
    assert len(sentences) == len(set(sentences)) > 1000
    np.save(finished / "de.npy", load_model(finished / "results/models/de").embed_raw_text(sentences))
    (finished / "de.txt").write_text(text, encoding="utf-8")
    elsewhere = {
        "vectors": {"sentences": "de.txt", "vectors": "de.npy"},
        "label": "made elsewhere",
    }
    configure(finished, "systems", {"elsewhere": elsewhere, "de-copy": {"path": "de-copy"}})
    shutil.copytree(finished / "results/models/de", finished / "de-copy")
    results = [f"results/eval/{system}/sts.json" for system in ("elsewhere", "de-copy")]
    run = snakemake(finished, *results)
    assert run.returncode == 0, run.stdout
    expected = result(finished, "de")
    for system, label in (("elsewhere", "made elsewhere"), ("de-copy", "de-copy")):
        found = result(finished, system)
        assert (found["system"], found["source"]) == (label, "measured")
        assert found["measurements"] == expected["measurements"]

    # The same files now lack one sentence of the test sets.
    (finished / "de.txt").write_text("?" + text.removeprefix(sentences[0]), encoding="utf-8")
    run = snakemake(finished, results[0])
    assert run.returncode
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("error in evaluate_sts: ")]
    assert "de.txt: 1 of " in line
    assert line.endswith(f"sentences to embed are not in it, such as {sentences[0]!r}")


def test_a_new_system_is_all_that_runs(finished: Path) -> None:
    configure(finished, "systems", {"theirs": {"sentence_transformers": "a/b"}})
    plan = planned(finished, "all", "paper_tables")
    evaluated = {message for message in plan.messages if message.startswith("Evaluate")}
    assert "Evaluate theirs on sts" in evaluated
    assert all("theirs" in message for message in evaluated)
    assert "measure_speed" in plan.rules
    assert plan.rules.isdisjoint({"train_model", "initialise_model", "merge_pairs", "prepare_testsets"})


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
