"""A small run of the sample that tests disturb, its expected files, and the documented messages."""

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from pipelines import ROOT, Run, command, environment, snakemake

# This runs every step up to a table, each on as little data as possible.
SETTINGS = """
models: [fr]
definitions:
  fr: {languages: [en, fr], corpora: [sample_aligned]}
language_id: null
selection: {bitext: {language: null}}
contamination: {testsets: {sts: sample_sts}}
vocabulary: {size: 500}
training: {dimension: 16, epochs: 2, device: cpu}
sweep: {dropout: [0.0, 0.1], megabatch: [2]}
evaluation: {sts: sample_sts, bootstrap_samples: 100, untrained: false}
"""
TABLE = "results/tables/sts.csv"
PAIRS = "results/corpora/fr/pairs.parquet"
ARGUMENTS = ("--configfile", "small.yaml", "--")
PAGE = ROOT / "docs" / "troubleshooting.md"
# These files contain times, or what a run needs to continue.
_VARYING = ("logs", "benchmarks", "training.jsonl")


def start(folder: Path, log: Path, *targets: str) -> subprocess.Popen[bytes]:
    """Start the small run as the leader of a process group and return without waiting for it."""
    with log.open("w") as output:
        return subprocess.Popen(
            command(*ARGUMENTS, *targets),
            cwd=folder,
            env=environment(),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def finish(folder: Path, *targets: str) -> Run:
    run = snakemake(folder, *ARGUMENTS, *targets)
    assert run.returncode == 0, run.stdout
    return run


def wait_for(condition: Callable[[], object], run: subprocess.Popen[bytes]) -> None:
    """Wait until `condition` is true or the run has ended."""
    deadline = time.monotonic() + 300
    while not condition() and run.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def workers(run: subprocess.Popen[bytes], step: str = "") -> list[psutil.Process]:
    """Return the processes that are running steps."""
    found = []
    for process in psutil.Process(run.pid).children(recursive=True) if run.poll() is None else []:
        try:
            scripts = [Path(word) for word in process.cmdline() if "/.snakemake/scripts/" in word]
            # All steps have one script, whose copy for a step names the step's log.
            if any(f"results/logs/{step}" in script.read_text(encoding="utf-8") for script in scripts):
                found.append(process)
        except (psutil.Error, FileNotFoundError):
            continue  # the process has ended
    return found


def from_the_beginning(folder: Path) -> None:
    for name in ("results", "resources", ".snakemake"):
        shutil.rmtree(folder / name, ignore_errors=True)


def finished_files(folder: Path) -> Iterator[Path]:
    """Yield the files with final names, relative to `folder`, that are identical in every run."""
    for path in sorted((folder / "results").rglob("*")):
        if path.is_file() and path.suffix != ".tmp" and not set(_VARYING) & set(path.parts):
            yield path.relative_to(folder)


def differing(folder: Path, reference: Path) -> list[Path]:
    """Return the finished files in `folder` that differ from those of the undisturbed run."""
    return [
        path
        for path in finished_files(folder)
        if not (reference / path).is_file() or (folder / path).read_bytes() != (reference / path).read_bytes()
    ]


def message(title: str) -> re.Pattern[str]:
    """Return the message under a title of the page on troubleshooting; `…` matches anything on the line."""
    section = re.search(
        rf"^## {re.escape(title)}\n.*?^```text\n(.*?)\n```$", PAGE.read_text("utf-8"), re.M | re.S
    )
    assert section, f"{PAGE.name} has no message under {title!r}"
    return re.compile("|".join(re.escape(line).replace("…", ".*") for line in section[1].splitlines()))
