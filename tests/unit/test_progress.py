"""Test what is said of a run in its course."""

import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from paraphrastic_pipeline.workflow.need import Need
from paraphrastic_pipeline.workflow.plan import Cost
from paraphrastic_pipeline.workflow.progress import Progress
from paraphrastic_pipeline.workflow.sizes import Job
from snakemake_logger_plugin_paraphrastic import LogHandler


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def job(number: int, step: str, *after: int, threads: int = 1) -> Job:
    return Job(step, "", {}, (), (), threads, after, lambda _: Need(1, 1), number)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def progress(clock: Clock) -> Progress:
    jobs = [
        job(7, "select_pairs"),
        job(5, "select_pairs"),
        job(3, "train_model", 0, 1),
        job(1, "plot_sweep", 2),
    ]
    costs = [Cost(seconds=seconds) for seconds in (100.0, 100.0, 1000.0, 10.0)]
    return Progress(jobs, costs, cores=2, clock=clock)


def test_at_first_the_plan_says_how_long_it_takes(progress: Progress) -> None:
    # Both selections run at the same time; Snakemake itself takes a few seconds.
    assert progress.seconds_left == pytest.approx(1110, abs=6)
    assert progress.summary() == "0 of 4 steps are done, after 0 seconds; about 19 minutes left"


def test_the_pace_of_finished_steps_counts_for_the_others(progress: Progress, clock: Clock) -> None:
    progress.begin(7, "Select")
    progress.begin(5, "Select")
    clock.now += 300
    progress.finish(7)
    # What was planned as 100 seconds took three times as long, so the training will, too. The other selection
    # takes longer than that.
    assert progress.seconds_left == pytest.approx(0.5 * 300 + 3 * 1010, rel=0.02)
    progress.finish(5)
    assert progress.seconds_left == pytest.approx(3 * 1010, rel=0.02)
    progress.begin(3, "Train model en")
    clock.now += 1000
    assert progress.seconds_left == pytest.approx(3 * 1010 - 1000, rel=0.02)
    clock.now += 3000
    # A running step that takes longer than expected may take much longer.
    assert progress.seconds_left == pytest.approx(0.5 * 4000 + 30, rel=0.02)
    progress.finish(3)
    progress.begin(1, "Plot")
    progress.finish(1)
    assert progress.summary() == "4 of 4 steps are done, after 72 minutes"


def test_steps_of_a_kind_go_by_their_own_pace(clock: Clock) -> None:
    jobs = [job(0, "train_model"), job(1, "plot_sweep"), job(2, "plot_sweep"), job(3, "select_pairs")]
    progress = Progress(jobs, [Cost(seconds=100.0)] * 4, cores=1, clock=clock)
    progress.begin(0, "Train")
    clock.now += 1600
    progress.finish(0)
    progress.begin(1, "Plot")
    clock.now += 100
    progress.finish(1)
    # Training took 16 times as long as planned and plotting once, so a selection may take 4 times as long.
    assert progress.seconds_left == pytest.approx(100 + 400, rel=0.05)


def test_a_run_that_is_over_promises_nothing(progress: Progress, clock: Clock) -> None:
    progress.begin(7, "Select")
    clock.now += 30
    progress.stop()
    assert progress.lines(80, 20)[-1] == "0 of 4 steps are done; the run has ended after 30 seconds"
    assert len(progress.lines(80, 20)) == 4
    # The counts stay in a narrow window.
    assert progress.lines(50, 20)[0].endswith("0 of 2")


def test_lines_for_a_terminal(progress: Progress) -> None:
    progress.begin(7, "Select the pairs of en")
    progress.begin(5, "Select the pairs of de")
    progress.finish(7)
    progress.begin(99, "a rule without output")
    lines = progress.lines(200, 30)
    assert [line.split()[0] for line in lines] == ["select", "train", "describe,", "Select", "1"]
    assert lines[0] == "select                         ██████████░░░░░░░░░░     1 of 2"
    assert lines[1].endswith("░░░░░     0 of 1")
    assert lines[3] == "  Select the pairs of de"
    # In a small window, only the phases that are going on are shown, and lines are cut.
    small = progress.lines(30, 4)
    assert [line.split()[0] for line in small] == ["select", "Select", "1"]
    assert max(map(len, small)) == 29
    progress.end(5)
    assert [line.split()[0] for line in progress.lines(200, 30)] == ["select", "train", "describe,", "1"]


def test_many_running_steps_are_counted(clock: Clock) -> None:
    jobs = [job(number, "score_pairs") for number in range(9)]
    progress = Progress(jobs, [Cost(seconds=1.0)] * 9, cores=9, clock=clock)
    for number in range(9):
        progress.begin(number, f"Score {number}")
    assert progress.lines(80, 20)[1:6] == ["  Score 0", "  Score 1", "  Score 2", "  Score 3", "  and 5 more"]


@pytest.mark.parametrize("stream", [None, "/dev/full"])
def test_a_run_goes_on_without_anyone_to_show_it_to(
    stream: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream and Path(stream).open("w"))  # noqa: SIM115
    off = dict.fromkeys(("printshellcmds", "nocolor", "debug_dag", "verbose", "stdout", "dryrun"), False)
    handler = LogHandler(SimpleNamespace(quiet=None, show_failed_logs=False, **off), None)
    handler._progress = SimpleNamespace(seconds=99.0, summary=lambda: "1 of 2 steps")
    record = logging.makeLogRecord({"event": LogEvent.PROGRESS, "done": 1, "total": 2})
    handler.emit(record)
    handler.close()
    assert handler._told == 99.0
