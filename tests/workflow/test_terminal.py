"""Test what a run shows on a terminal and in a log."""

import os
import pty
import re
import subprocess
from pathlib import Path

from pipelines import command, copy_pipeline, environment, snakemake

PICTURE = re.compile(r"\x1b\[(\d+)F\x1b\[J")


def on_terminal(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run the pipeline with a terminal as its standard error; return its status and what it showed."""
    ours, theirs = pty.openpty()
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


def test_a_terminal_shows_phases_and_a_log_all_steps(tmp_path: Path) -> None:
    folder = copy_pipeline(tmp_path / "pipeline")
    target = "results/testsets/sts.parquet"
    status, shown = on_terminal(folder, target)
    assert status == 0, shown
    last = PICTURE.split(shown)[-1]
    assert re.search(r"^download +█{20} +1 of 1$", last, re.M)
    assert re.search(r"^prepare test sets +█{20} +1 of 1$", last, re.M)
    assert "2 of 2 steps are done, after " in last
    assert re.search(r"; about .* left$", shown, re.M)
    # Each picture is as high as what it replaces.
    parts = PICTURE.split(shown)
    for before, height in zip(parts[0::2], parts[1::2], strict=False):
        picture = before.rstrip("\n").split("\n")
        assert int(height) <= len(picture)
    (log,) = (folder / ".snakemake/log").glob("*.log")
    assert "Prepare the test sets sts" in log.read_text()
    assert "\x1b" not in log.read_text()


def test_the_last_words_stand_below_the_picture(finished: Path) -> None:
    (finished / "results/tables/held_out.csv").unlink()
    status, shown = on_terminal(finished, "results/tables/held_out.csv")
    assert status == 0, shown
    last = PICTURE.split(shown)[-1]
    assert last.index("1 of 1 steps are done, after ") < last.index("results/models/en")
    assert "en finds the partners of " in last
    assert "What to type next:" in last
    # Snakemake's own last lines are in its log.
    assert "Complete log" not in shown


def test_a_fault_stands_above_the_picture(tmp_path: Path) -> None:
    folder = copy_pipeline(tmp_path / "pipeline")
    (folder / "data/sample/STS.zip").write_bytes(b"no archive")
    status, shown = on_terminal(folder, "results/testsets/sts.parquet")
    assert status == 1
    assert "STS.zip" in shown
    assert "Error in rule" in shown
    assert "0 of 2 steps are done; the run has ended after " in PICTURE.split(shown)[-1]


def test_without_a_terminal_the_output_is_snakemakes(tmp_path: Path) -> None:
    folder = copy_pipeline(tmp_path / "pipeline")
    run = snakemake(folder, "results/testsets/sts.parquet")
    assert run.returncode == 0, run.stdout
    assert "Prepare the test sets sts" in run.stdout
    assert "2 of 2 steps (100%) done" in run.stdout
    assert "\x1b" not in run.stdout
    assert "█" not in run.stdout
