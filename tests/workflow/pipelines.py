"""Copies of the pipeline, and how tests run them."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "rules", "workflow", "envs", "profiles", "config", "src", "data")

Run = subprocess.CompletedProcess[str]


def copy_pipeline(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        ignore = shutil.ignore_patterns("__pycache__", ".*_cache")
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=ignore)
        else:
            shutil.copy2(source, folder / part)
    return folder


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *arguments]


def snakemake(folder: Path, *arguments: str) -> Run:
    """Run the pipeline in `folder`; output and errors in one text, as a terminal shows them."""
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=900,
        check=False,
    )


def environment() -> dict[str, str]:
    # What the tests' own interpreter has on its path must not reach the jobs.
    return {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTEST_CURRENT_TEST")
    }


@dataclass(frozen=True)
class Plan:
    """Jobs of a dry run: the rules, and each job's message, which tells its wildcards."""

    rules: set[str]
    messages: set[str]


def planned(folder: Path, *arguments: str) -> Plan:
    run = snakemake(folder, "--dry-run", *arguments)
    assert run.returncode == 0, run.stdout
    rules = set(re.findall(r"^(\w+) +\d+$", run.stdout, re.M)) - {"total", "all", "paper_tables"}
    messages = set(re.findall(r"^Job \d+: (.*)$", run.stdout, re.M))
    assert bool(rules) == bool(messages)
    return Plan(rules, messages)
