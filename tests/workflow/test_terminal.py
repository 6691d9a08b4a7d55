"""Test what a run shows on a terminal and in a log."""

import os
import pty
import subprocess
import termios
from pathlib import Path

import pytest
from pipelines import command, copy_pipeline, environment


def on_terminal(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run the pipeline with a terminal as its standard error; return its status and what it showed."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 120))
    process = subprocess.Popen(
        command(*arguments), cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while read := os.read(ours, 1 << 16):
            shown += read
    except OSError:
        pass  # the last program has closed the terminal
    os.close(ours)
    return process.wait(), shown.decode().replace("\r\n", "\n")


@pytest.mark.slow("runs on damaged data")
def test_a_fault_is_shown(tmp_path: Path) -> None:
    folder = copy_pipeline(tmp_path / "pipeline")
    (folder / "data/sample/STS.zip").write_bytes(b"no archive")
    status, shown = on_terminal(folder, "results/testsets/sts.parquet")
    assert status == 1
    assert "STS.zip" in shown
    assert "Error in rule" in shown


def test_a_terminal_shows_a_bar_and_a_log_all_steps(tmp_path: Path) -> None:
    folder = copy_pipeline(tmp_path / "pipeline")
    status, shown = on_terminal(folder, "results/testsets/sts.parquet")
    assert status == 0, shown
    assert "2 of 2 steps" in shown
    assert "Prepare the test sets sts" in shown
    (log,) = (folder / ".snakemake/log").glob("*.log")
    steps = [line for line in log.read_text().splitlines() if "steps" in line]
    assert "Prepare the test sets sts" in log.read_text()
    assert steps == ["1 of 2 steps (50%) done", "2 of 2 steps (100%) done"]


def test_the_summary_stands_at_the_end(finished: Path) -> None:
    (finished / "results/tables/held_out.csv").unlink()
    status, shown = on_terminal(finished, "results/tables/held_out.csv")
    assert status == 0, shown
    assert shown.index("en finds the partners of ") < shown.index("What to type next:")
