"""Test that a step depends only on the code that it runs: a new word in a model card retrains nothing."""

from pathlib import Path

import pytest

from paraphrastic_pipeline.base.code_version import ROOT, files_of
from paraphrastic_pipeline.evaluation.tasks import TASKS
from paraphrastic_pipeline.workflow.functions import FIGURES, TABLES, TESTSETS, full_name, function_of

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
STEPS = {
    "corpus": "extract_corpus score_pairs select_pairs gather_testsets mark_contamination merge_pairs "
    "sample_paraphrases measure_similarity describe_corpus",
    "training": "train_vocabulary encode_dataset initialize_model train_model choose_model",
}
SCORES = ("paraphrastic_pipeline.evaluation.development", "paraphrastic_pipeline.evaluation.held_out")
# Early stopping uses these modules to score a model.
SCORING = {"development", "held_out", "figures", "testsets", "testset_names"}


def packages(script: str, *, without: tuple[str, ...] = ()) -> set[str]:
    files = files_of(script=SCRIPTS / f"{script}.py", without=without)
    # Spellings of unknown pieces, and what becomes of characters, are the same in training and in exports.
    shared = {"unknown_pieces", "text_patterns"}
    return {file.relative_to(ROOT).parts[1] for file in files if file.stem not in shared}


@pytest.mark.parametrize("script", " ".join(STEPS.values()).split())
def test_steps_to_a_model_depend_on_nothing_above_them(script: str) -> None:
    without = SCORES if script == "train_model" else ()
    found = packages(script, without=without)
    assert found, "a script without the library"
    assert found.isdisjoint({"evaluation", "interop", "report", "workflow", "cli"})
    if script in STEPS["corpus"].split() and script != "measure_similarity":
        assert found <= {"base", "registry", "settings", "corpus", "model"}
        files = files_of(script=SCRIPTS / f"{script}.py")
        # Corpora are cut into the units of models.
        assert {file.stem for file in files if file.parent.name == "model"} <= {"units"}


def test_training_depends_on_no_code_that_embeds() -> None:
    files = files_of(script=SCRIPTS / "train_model.py", without=SCORES)
    # An LSTM runs the same code in training and in use, and so do the looks at unknown characters. The factor
    # of pieces that were never seen is the same, too.
    models = {file.stem for file in files if file.parent.name == "model"}
    assert models == {"architecture", "files", "recurrent", "units", "vocabulary"}


def test_early_stopping_adds_the_score_alone() -> None:
    without = files_of(script=SCRIPTS / "train_model.py", without=SCORES)
    added = files_of(script=SCRIPTS / "train_model.py") - without
    assert {file.parent.name for file in added}.isdisjoint({"report", "workflow", "interop", "cli"})
    assert {file.stem for file in added if file.parent.name == "evaluation"} <= SCORING


def test_another_transfer_task_evaluates_no_sts_again() -> None:
    function = full_name(TASKS["sts"].function)
    found = {file.stem for file in files_of(function, script=SCRIPTS / "evaluate_system.py")}
    assert "sts" in found
    assert "transfer_data" not in found


@pytest.mark.parametrize(
    "function",
    [*TABLES.values(), *FIGURES.values(), *TESTSETS.values(), *(task.function for task in TASKS.values())],
)
def test_functions_exist_and_depend_on_no_other_by_name(function: str) -> None:
    assert callable(function_of(function))
    # Names are no imports to the digest of code, so a table does not depend on the code of all tasks.
    found = {file.stem for file in files_of(full_name(function))}
    assert "functions" not in found
    if not function.startswith("evaluation.transfer:"):
        assert "transfer" not in found
