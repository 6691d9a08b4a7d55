"""Test that whatever a step calls counts as its code, so that no result of an older version stays."""

import json
import subprocess
from pathlib import Path

import pytest
from pipelines import ROOT, command, environment

from paraphrastic_pipeline.base.code_version import files_of
from paraphrastic_pipeline.evaluation.tasks import TASKS
from paraphrastic_pipeline.workflow.functions import FIGURES, TABLES, TESTSETS, full_name

# The functions that a script calls by their names; those of one rule count for it alone.
BY_NAME = {
    "evaluate_system": [task.function for task in TASKS.values()],
    "tabulate_results": [*TABLES.values()],
    "plot_figure": [*FIGURES.values()],
    "prepare_testsets": [*TESTSETS.values()],
}
# What every script runs, and no result depends on: reading its arguments, and its messages.
FRAME = ("paraphrastic_pipeline.workflow.step", "paraphrastic_pipeline.workflow.functions")
# One model of the sample instead of four.
TARGETS = ("--config", "models=[fr]", "--", "results/tables/sts.md", "results/report.html")


@pytest.mark.slow("traces every step")
def test_what_steps_call_is_their_code(small: Path, tmp_path: Path) -> None:
    called = tmp_path / "called"
    called.mkdir()
    traced = {"PYTHONPATH": str(Path(__file__).with_name("traced")), "CALLED_FUNCTIONS": str(called)}
    run = subprocess.run(
        command(*TARGETS), cwd=small, env=environment() | traced, text=True, capture_output=True
    )
    assert run.returncode == 0, run.stderr
    frame = files_of(*FRAME)
    steps = set()
    for file in called.glob("*.json"):
        step = file.name.partition(".")[0]
        steps.add(step)
        counted = files_of(
            *map(full_name, BY_NAME.get(step, ())), script=ROOT / f"workflow/scripts/{step}.py"
        )
        for path, name in json.loads(file.read_text()):
            module = ROOT / Path(path).relative_to(small)
            assert module in counted | frame, (step, module.name, name)
    assert {"score_pairs", "train_model", "evaluate_system", "write_report"} < steps
    assert len(steps) > 15
