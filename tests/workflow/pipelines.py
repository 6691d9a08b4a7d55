"""Copies of the pipeline, and how tests run them."""

import os
import shutil
import subprocess
import sys
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


def planned(folder: Path, *arguments: str) -> set[tuple[str, str]]:
    """Rule and log file of each job that a dry run plans; the log's path tells the wildcards."""
    run = snakemake(folder, "--dry-run", "--workflow-profile", "none", *arguments)
    assert run.returncode == 0, run.stdout
    jobs = set()
    rule = ""
    for line in run.stdout.splitlines():
        if line.startswith(("rule ", "localrule ", "checkpoint ")):
            rule = line.split()[1].rstrip(":")
            if rule == "all":
                continue
        elif line.startswith("    log: "):
            jobs.add((rule, line.removeprefix("    log: ").split(" (")[0]))
    return jobs
