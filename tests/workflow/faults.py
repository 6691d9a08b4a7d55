"""A small run of the sample to be disturbed, what it must end in, and what the documentation says."""

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from pipelines import ROOT, Run, command, environment, snakemake

# Every step of the way to a table, on as little as they take.
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
# Of times, and of what a run needs to go on.
_VARYING = ("logs", "benchmarks", "checkpoints", "training.jsonl")


def start(folder: Path, log: Path, *targets: str) -> subprocess.Popen[bytes]:
    """Start the small run as the leader of a process group, and go on without waiting for it."""
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
    """Wait until `condition` is true, as long as the run has not ended."""
    deadline = time.monotonic() + 300
    while not condition() and run.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def workers(run: subprocess.Popen[bytes], step: str = "") -> list[psutil.Process]:
    """Processes in which steps of the run are at work."""
    found = []
    for process in psutil.Process(run.pid).children(recursive=True) if run.poll() is None else []:
        try:
            if any(f"{step}.py" in word and "/.snakemake/scripts/" in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue  # it has ended
    return found


def from_the_beginning(folder: Path) -> None:
    for name in ("results", "resources", ".snakemake"):
        shutil.rmtree(folder / name, ignore_errors=True)


def finished_files(folder: Path) -> Iterator[Path]:
    """Files under their final names, relative to `folder`, of which every run makes the same bytes."""
    for path in sorted((folder / "results").rglob("*")):
        if path.is_file() and path.suffix != ".tmp" and not set(_VARYING) & set(path.parts):
            yield path.relative_to(folder)


def differing(folder: Path, reference: Path) -> list[Path]:
    """What lies in `folder` under a final name, and is not what the undisturbed run made."""
    return [
        path
        for path in finished_files(folder)
        if not (reference / path).is_file() or (folder / path).read_bytes() != (reference / path).read_bytes()
    ]


def message(title: str) -> re.Pattern[str]:
    """What the page on troubleshooting shows under a title, where `…` stands for anything on the line."""
    section = re.search(
        rf"^## {re.escape(title)}\n.*?^```text\n(.*?)\n```$", PAGE.read_text("utf-8"), re.M | re.S
    )
    assert section, f"{PAGE.name} has no message under {title!r}"
    return re.compile("|".join(re.escape(line).replace("…", ".*") for line in section[1].splitlines()))
