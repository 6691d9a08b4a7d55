"""Test that a step depends only on the code that it runs: a new word in a model card retrains nothing."""

import re
from pathlib import Path

import pytest

from paraphrastic_pipeline.base.code_version import ROOT, files_of
from paraphrastic_pipeline.base.functions import full_name, function_of
from paraphrastic_pipeline.evaluation.tasks import TASKS
from paraphrastic_pipeline.report.contents import TABLES

RULES = Path(__file__).parents[2] / "rules"
TRAINING = "evaluation.training_runs:train_run"
# The functions of the rules before and in training.
STEPS = [
    function
    for name in ("corpus", "contamination", "statistics", "mined", "vocabulary", "dataset", "train")
    for function in re.findall(r'calls\("([\w.:]+)"', (RULES / f"{name}.smk").read_text())
    if not function.startswith(("evaluation.development:", "paraphrastic.interop."))
]
# An encoder that is no Transformer needs none of its code.
TRANSFORMERS = "paraphrastic_pipeline.training.transformer"
SCORES = ("paraphrastic_pipeline.evaluation.development", "paraphrastic_pipeline.evaluation.held_out")
# Early stopping uses these modules to score a model.
SCORING = {
    "development",
    "held_out",
    "measurement",
    "ranks",
    "results",
    "testsets",
    "testset_names",
    "figures",
}


def files(function: str, *without: str) -> set[Path]:
    return files_of(full_name(function), without=(TRANSFORMERS, *without))


@pytest.mark.parametrize("function", STEPS)
def test_steps_to_a_model_depend_on_nothing_above_them(function: str) -> None:
    # Spellings of unknown pieces, and what becomes of characters, are the same in training and in exports.
    shared = {"model_proto", "unknown_pieces", "text_patterns", "training_runs"}
    counted = files(function, *SCORES)
    found = {file.relative_to(ROOT).parts[1] for file in counted if file.stem not in shared}
    assert found, "a function without the library"
    assert found.isdisjoint({"evaluation", "interop", "report", "workflow", "cli"})
    if (
        function.startswith("corpus.")
        and "bitext_similarity" not in function
        and "translation" not in function
    ):
        assert found <= {"base", "registry", "settings", "corpus", "model"}
        # Corpora are cut into the units of models.
        assert {file.stem for file in counted if file.parent.name == "model"} <= {"units"}


def test_training_depends_on_no_code_that_embeds() -> None:
    # An LSTM runs the same code in training and in use, and so do the looks at unknown characters. The factor
    # of pieces that were never seen is the same, too.
    models = {file.stem for file in files(TRAINING, *SCORES) if file.parent.name == "model"}
    assert models == {"architecture", "files", "recurrent", "units", "vocabulary"}


def test_early_stopping_adds_the_score_alone() -> None:
    added = files(TRAINING) - files(TRAINING, *SCORES)
    assert {file.parent.name for file in added}.isdisjoint({"report", "workflow", "interop", "cli"})
    assert {file.stem for file in added if file.parent.name == "evaluation"} <= SCORING


def test_another_transfer_task_evaluates_no_sts_again() -> None:
    found = {file.stem for file in files(TASKS["sts"].function) | files("evaluation.systems:evaluate_system")}
    assert "sts" in found
    assert "transfer_data" not in found


FIGURES = [table.figure for table in TABLES.values() if table.figure]


@pytest.mark.parametrize("function", [*FIGURES, *(task.function for task in TASKS.values())])
def test_functions_exist_and_depend_on_no_other_by_name(function: str) -> None:
    assert callable(function_of(function))
    # Names are no imports to the digest of code, so an evaluation does not depend on the code of all tasks.
    if not function.startswith("evaluation.transfer:"):
        assert "transfer" not in {file.stem for file in files(function)}
