"""Test plans against what runs really take, and what the command says if it cannot make a plan."""

import csv
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pipelines import ROOT, Run, SampleRun, environment, snakemake
from test_docs import blocks


def plan(folder: Path, *arguments: str) -> Run:
    return subprocess.run(
        [sys.executable, "-m", "paraphrastic.cli", "plan", "--cores", "2", *arguments],
        cwd=folder,
        env={**environment(), "PYTHONPATH": str(folder / "src")},
        text=True,
        capture_output=True,
        check=False,
    )


def planned(folder: Path, *arguments: str) -> dict[str, Any]:
    run = plan(folder, "--output", "plan.json", *arguments)
    assert run.returncode == 0, run.stderr
    told: dict[str, Any] = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").unlink()
    return told


def test_the_sample_takes_what_was_planned(sample_run: SampleRun, pipeline: Path) -> None:
    """The plan is right within a factor of 1.5; processor time is scaled by the speed of this machine."""
    told = planned(pipeline, "--by", "rule", "--targets", *SampleRun.TARGETS)
    total = told["rows"][-1]
    hours = sample_run.processor_seconds / sample_run.slowness / 3600
    assert 1 / 1.5 <= total["core_hours"] / hours <= 1.5
    files = [path for part in ("results", "resources") for path in (sample_run.folder / part).rglob("*")]
    written = sum(path.stat().st_size for path in files if path.is_file() and "logs" not in path.parts)
    assert 1 / 1.5 <= total["disk_gb"] / (written / 1e9) <= 1.5
    # Snakemake looks at the memory of a job now and then, which says little about steps that take a second.
    (training,) = [row for row in told["rows"] if row["name"] == "train_model"]
    measured = []
    for path in (sample_run.folder / "results/benchmarks/train_model").rglob("*.tsv"):
        with path.open(encoding="utf-8", newline="") as file:
            measured += [float(row["max_rss"]) / 1e3 for row in csv.DictReader(file, delimiter="\t")]
    assert 1 / 1.5 <= training["memory_gb"] / max(measured) <= 1.5
    # Both cores are busy, except near the end of the run.
    assert total["core_hours"] / 2 <= told["wall_hours"] <= total["core_hours"]


def test_the_jobs_are_those_that_snakemake_plans(pipeline: Path) -> None:
    told = planned(pipeline, "--by", "rule", "--targets", "all", "paper_tables")
    run = snakemake(pipeline, "--dry-run", "all", "paper_tables")
    counts = dict(re.findall(r"^(\w+) +(\d+)$", run.stdout, re.M))
    of_rules = {row["name"]: str(row["jobs"]) for row in told["rows"] if row["jobs"]}
    assert int(of_rules.pop("total")) == int(counts.pop("total")) - 2
    assert of_rules == {name: count for name, count in counts.items() if name not in ("all", "paper_tables")}


def test_what_is_there_already_is_left_out_unless_asked_for(finished: Path) -> None:
    assert "nothing is left to run" in plan(finished).stdout
    (finished / "results/tables/sts.csv").unlink()
    assert planned(finished, "--by", "rule")["rows"][0]["name"] == "tabulate_systems"
    assert planned(finished, "--by", "rule")["rows"][-1]["jobs"] == 1
    assert planned(finished, "--all")["rows"][-1]["jobs"] > 80
    assert not (finished / "results/tables/sts.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--configfile", "gone.yaml"], "gone.yaml: is not a file"),
        (["--config", "shard=3"], "config: shard: unknown key; did you mean 'shards'?"),
        (["--targets", "results/nothing"], "No rule to produce results/nothing"),
        (["--config", "models=[en"], "--config: "),
        (["--pairs", "sample_sts=9"], "'sample_sts' is not a corpus of the configuration"),
        (["--pairs", "sample_ops=9"], "'sample_ops' is not a corpus of the configuration"),
        (
            ["--config", "models=[tr]", "--configfile", "config/paper.yaml"],
            "the number of pairs in globalvoices, opensubtitles, tanzil is not known before the download: "
            "give it, such as --pairs globalvoices=1000000 opensubtitles=1000000 tanzil=1000000",
        ),
        (["--output", "plan.txt"], "plan.txt: a plan is written as .csv or .json"),
    ],
)
def test_what_cannot_be_planned_is_one_line(pipeline: Path, arguments: list[str], message: str) -> None:
    run = plan(pipeline, *arguments)
    assert run.returncode == 1
    assert run.stderr.startswith(f"paraphrastic: error: {message}")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"seed: 1\nmodels: [de\nlanguages: null\n", ":3: "),
        (b"training:\n\tepochs: 2\n", ":2: "),
        (b"seed: 1\nregistry: caf\xe9.tsv\n", ": "),
        (b"seed: \x00\n", ": "),
        (b"[seed, 1]\n", ": not a configuration: it has no keys at its top level"),
    ],
)
@pytest.mark.parametrize("given", [True, False])
def test_a_configuration_that_is_no_yaml_is_named_with_its_line(
    tmp_path: Path, given: bool, text: bytes, message: str
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "Snakefile").touch()
    file = "bad.yaml" if given else "config/config.yaml"
    (tmp_path / file).write_bytes(text)
    run = subprocess.run(
        [sys.executable, "-m", "paraphrastic.cli", "plan", *(["--configfile", file] if given else [])],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": str(ROOT / "src")},
        text=True,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stderr.startswith(f"paraphrastic: error: {file}{message}")
    assert run.stderr.count("\n") == 1


def test_few_trainings_share_all_cores(pipeline: Path) -> None:
    training = "results/training/fr/dropout-0.0-megabatch-10/model.safetensors"

    def threads(cores: int) -> int:
        told = planned(pipeline, "--cores", str(cores), "--all", "--by", "rule", "--targets", training)
        row = next(row for row in told["rows"] if row["name"] == "train_model")
        return round(row["core_hours"] / row["longest_hours"])

    # The sample's configuration has twelve trainings.
    assert (threads(11), threads(24)) == (1, 2)


def test_a_plan_is_made_in_the_folder_of_the_pipeline(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "paraphrastic.cli", "plan"], cwd=tmp_path, text=True, capture_output=True
    )
    assert (
        run.stderr
        == "paraphrastic: error: Snakefile: is not a file: run this in the folder of the pipeline\n"
    )


def test_the_page_shows_what_the_command_prints(pipeline: Path, tmp_path: Path) -> None:
    page = tmp_path / "section.md"
    text = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
    page.write_text(text.partition("\n## What a run takes\n")[2], encoding="utf-8")
    (pipeline / "billion.yaml").write_text(blocks(page, "yaml")[0])
    commands = [block.replace("\\\n", " ").strip() for block in blocks(page, "sh")]
    tables = blocks(page, "text")
    assert commands
    for command, table in zip(commands, tables, strict=True):
        run = plan(pipeline, *shlex.split(command)[2:])
        assert run.stdout == table
