"""Test that whatever a step calls counts as its code, so that no result of an older version stays."""

import json
import subprocess
from pathlib import Path

import pytest
from faults import ARGUMENTS
from pipelines import ROOT, command, environment

from paraphrastic_pipeline.base.code_version import files_of
from paraphrastic_pipeline.base.functions import full_name
from paraphrastic_pipeline.evaluation.tasks import TASKS

# What every step runs, and no result depends on: reading its arguments, and its messages.
FRAME = tuple(
    map("paraphrastic_pipeline.{}".format, ("workflow.step", "workflow.functions", "base.functions"))
)
# The functions that another one calls by their names; those of one task count for it alone.
BY_NAME = {"evaluation.systems:evaluate_system": [task.function for task in TASKS.values()]}
# The small run has no STS Benchmark.
WITHOUT = ("--config", "evaluation={only: {stsb: []}, tracks: [es-es]}")
TARGETS = (*WITHOUT, *ARGUMENTS, "results/tables/sts.md", "results/report.html")


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
    functions = set()
    for file in called.glob("*.json"):
        function, calls = json.loads(file.read_text())
        functions.add(function)
        counted = files_of(*map(full_name, (function, *BY_NAME.get(function, ()))))
        for path, name in calls:
            module = ROOT / Path(path).relative_to(small)
            assert module in counted | frame, (function, module.name, name)
    assert {"corpus.score:score_pairs", *BY_NAME, "evaluation.training_runs:train_run"} < functions
    assert len(functions) > 15
