"""Test runs that the machine or its user disturbs: one clear message, no wrong file, and a way to resume."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults import (
    ARGUMENTS,
    PAIRS,
    differing,
    finish,
    message,
    start,
    wait_for,
    workers,
)
from pipelines import planned, snakemake

pytestmark = pytest.mark.slow("disturbs many runs")

Edit = Callable[[Path, str, str], None]


def mount(*arguments: str | Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    if subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    mount("--bind", folder, folder)
    try:
        mount("-o", "remount,ro,bind", folder)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def fails(folder: Path, title: str) -> None:
    """Run until it fails with the message that the page shows under `title`."""
    run = snakemake(folder, *ARGUMENTS, PAIRS)
    assert run.returncode != 0
    assert message(title).search(run.stdout), run.stdout


def finishes(folder: Path, reference: Path) -> None:
    finish(folder, PAIRS)
    assert not differing(folder, reference)
    assert not list((folder / "results").rglob("*.tmp"))
    assert planned(folder, *ARGUMENTS, PAIRS).rules == set()


def test_a_disk_that_fills_up(small: Path, undisturbed: Path, tmp_path: Path) -> None:
    """The whole run is on this disk, including Snakemake's own records."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", disk)
    try:
        folder = Path(shutil.copytree(small, disk / "pipeline"))
        status = os.statvfs(disk)
        (disk / "ballast").write_bytes(bytes(status.f_bavail * status.f_frsize - 1_000_000))
        fails(folder, "The disk is full")
        assert not differing(folder, undisturbed)
        (disk / "ballast").unlink()
        finishes(folder, undisturbed)
    finally:
        subprocess.run(["umount", disk], check=True)


def test_results_that_cannot_be_written(small: Path, undisturbed: Path) -> None:
    finish(small, "results/scored/sample_aligned/en-fr/1-of-1.parquet")
    # The system may make a disk read-only after an error, in the middle of a run.
    with read_only(small / "results/selected/fr/sample_aligned"):
        fails(small, "The disk is read-only")
    finishes(small, undisturbed)


def test_two_runs_at_once(small: Path, undisturbed: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run = start(small, log, PAIRS)
    wait_for(lambda: workers(run), run)
    fails(small, "The folder is locked")
    assert run.wait(timeout=600) == 0, log.read_text()
    finishes(small, undisturbed)


def test_a_configuration_that_changes_under_a_run(
    small: Path, undisturbed: Path, tmp_path: Path, edit: Edit
) -> None:
    """A run keeps its settings to the end; the next run does the steps that changed since."""
    config, log = small / "small.yaml", tmp_path / "log"
    old = config.read_text()
    run = start(small, log, PAIRS)
    wait_for(lambda: workers(run), run)
    edit(config, "{language: null}", "{language: null, length: {min: 9}}")
    assert run.wait(timeout=600) == 0, log.read_text()
    assert not differing(small, undisturbed)
    rerun = planned(small, *ARGUMENTS, PAIRS).rules
    assert "select_pairs" in rerun
    assert "score_pairs" not in rerun
    finish(small, PAIRS)
    counts = json.loads((small / "results/selected/fr/sample_aligned/en-fr.counts.json").read_text())
    before = json.loads((undisturbed / "results/selected/fr/sample_aligned/en-fr.counts.json").read_text())
    assert counts["kept"] < before["kept"]
    config.write_text(old)
    finishes(small, undisturbed)


def test_a_step_that_gets_no_more_memory(small: Path, undisturbed: Path, tmp_path: Path) -> None:
    log, of_step = tmp_path / "log", small / "results/logs/score_pairs/sample_aligned/en-fr/1-of-1.log"
    run = start(small, log, PAIRS)
    wait_for(of_step.exists, run)
    for worker in workers(run, "score_pairs"):
        resource.prlimit(worker.pid, resource.RLIMIT_AS, (1, 1))
    assert run.wait(timeout=600) != 0
    assert message("A step was killed").search(log.read_text()), log.read_text()
    assert "Error in rule score_pairs" in log.read_text()
    assert not differing(small, undisturbed)
    finishes(small, undisturbed)
