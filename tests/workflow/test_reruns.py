"""Test what is made again after a change, and what is not."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pipelines import command, configure, environment, planned, snakemake

Edit = Callable[[Path, str, str], None]


def test_a_finished_run_plans_nothing(finished_once: Path) -> None:
    run = snakemake(finished_once, "--dry-run", "all")
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout


def test_the_table_is_all_that_a_plain_run_is_for(finished: Path) -> None:
    for path in (finished / "results/tables").glob("sts*.[mt]*"):
        path.unlink()
    assert "Nothing to be done" in snakemake(finished, "--dry-run").stdout
    assert planned(finished, "paper_tables").rules == {"render_table"}


def test_one_language_needs_nothing_of_the_others(pipeline: Path) -> None:
    plan = planned(pipeline, "results/models/fr/model.safetensors")
    assert {"extract_corpus", "train_vocabulary", "train_model", "choose_model"} <= plan.rules
    of_corpora = {message for message in plan.messages if "sample_" in message}
    assert not [m for m in of_corpora if "opus" in m or "manythings" in m or "paranmt" in m]
    assert not [m for m in plan.messages if re.search(r" (of|for|Train) (en|de|es)\b", m)]


def test_a_setting_of_one_language_replans_that_language_only(finished: Path, edit: Edit) -> None:
    edit(
        finished / "config/config.yaml",
        "corpora: [sample_opus]",
        "corpora: [sample_opus]\n    selection: {bitext: {length: {min: 4}}}",
    )
    plan = planned(finished, "all")
    assert "select_pairs" in plan.rules
    assert plan.rules.isdisjoint({"download_file", "extract_corpus", "score_pairs", "prepare_testsets"})
    of_models = {
        message for message in plan.messages if not message.startswith(("Tabulate", "Render", "Plot"))
    }
    assert all(re.search(r"\bde\b", message) for message in of_models), of_models


def test_a_corpus_of_one_language_replans_that_language_only(finished: Path, edit: Edit) -> None:
    (finished / "more.tsv").write_text("A dog barks loudly.\tUn chien aboie fort.\n")
    edit(
        finished / "config/config.yaml",
        "corpora: [sample_aligned]",
        "corpora: [sample_aligned, {path: more.tsv}]",
    )
    plan = planned(finished, "results/tables/sts.csv")
    assert {"extract_corpus", "merge_pairs", "train_vocabulary", "train_model"} <= plan.rules
    of_models = {
        message for message in plan.messages if not message.startswith(("Tabulate", "Render", "Draw"))
    }
    assert all(re.search(r"\bfr\b", message) for message in of_models), of_models


def test_another_task_trains_nothing(finished: Path) -> None:
    configure(finished, "evaluation.bucc", {"testsets": "bucc2018", "pairs": ["de-en"]})
    rules = planned(finished, "all", "results/tables/bucc.csv").rules
    assert rules == {"download_file", "prepare_bucc", "evaluate_bucc", "tabulate_systems"}


def test_a_language_by_its_code(pipeline: Path) -> None:
    plan = planned(pipeline, "--config", "languages=[en]", "--", "results/tables/sts.csv")
    assert "train_model" in plan.rules
    assert not [m for m in plan.messages if re.search(r" (of|for|Train) (de|es|fr)\b", m)]


@pytest.mark.parametrize("fewer", ["languages=[fr]", "models=[en, de]"])
def test_fewer_models_train_nothing_anew(finished_once: Path, fewer: str) -> None:
    rules = planned(finished_once, "--config", fewer, "--", "results/tables/sts.csv").rules
    assert rules <= {"tabulate_systems"}


def test_a_function_is_run_again_when_its_code_changes_only(finished: Path, edit: Edit) -> None:
    module = finished / "src/paraphrastic_pipeline/evaluation/training_runs.py"
    edit(module, '"""Train one run of a model', '"""Do train one run of a model')
    assert "Nothing to be done" in snakemake(finished, "--dry-run", "all").stdout
    edit(module, "    train_model(\n", "    assert train_model\n    train_model(\n")
    plan = planned(finished, "all").rules
    assert "train_model" in plan
    assert "encode_dataset" not in plan


def test_another_digest_in_the_registry_fetches_that_file_again(finished: Path) -> None:
    registry = finished / "config/datasets.tsv"
    rows = registry.read_text().split("\n")
    row = next(index for index, text in enumerate(rows) if "train.fr.gz\tfile:" in text)
    digest = rows[row].split("\t")[6]
    registry.write_text("\n".join(rows).replace(digest, "0" * 64))
    plan = planned(finished, "all")
    assert {m for m in plan.messages if m.startswith("Download")} == {
        "Download train.fr.gz of sample_aligned"
    }


def test_a_threshold_for_all_replans_from_selection(finished: Path) -> None:
    configure(finished, "selection.paraphrase.trigram_overlap", {"min": 0.0, "max": 0.6})
    plan = planned(finished, "all")
    selections = {message for message in plan.messages if message.startswith("Filter")}
    assert selections == {"Filter corpus sample_paranmt, en-en, for model en"}
    assert plan.rules.isdisjoint({"extract_corpus", "score_pairs"})


def test_a_training_setting_replans_training_only(finished: Path) -> None:
    configure(finished, "training.margin", 0.5)
    rules = planned(finished, "all").rules
    assert "train_model" in rules
    assert rules.isdisjoint({"select_pairs", "merge_pairs", "train_vocabulary", "encode_dataset"})


def test_another_mirror_downloads_nothing_again(finished_once: Path) -> None:
    assert planned(finished_once, "--config", "mirror=http://elsewhere", "--", "all").rules == set()


def test_code_is_run_again_when_it_changes_and_not_when_what_it_does_not_use_does(
    finished: Path, edit: Edit
) -> None:
    package = finished / "src/paraphrastic_pipeline"
    edit(package / "training/loop.py", '"""The training loop', '"""A training loop')
    edit(package / "settings/sections/training.py", '    """The dimension of', '    """The number of')
    edit(package / "corpus/filters.py", "\nTOKENS = ", "\n# Extra.\nTOKENS = ")
    assert planned(finished, "all").rules == set()
    edit(package / "evaluation/system_tables.py", "one model per language", "a model per language")
    edit(package / "report/model_card.md", "## Scores", "## All scores")
    rules = planned(finished, "all").rules
    # The steps after a changed step are planned too, and the steps before it are not.
    assert rules >= {"tabulate_systems", "write_card"}
    assert rules.isdisjoint({"select_pairs", "train_model"})
    edit(package / "corpus/filters.py", 'name = "empty"', 'name = "none"')
    rules = planned(finished, "all").rules
    assert "select_pairs" in rules
    assert rules.isdisjoint({"download_file", "extract_corpus", "score_pairs"})


def test_changed_code_of_one_function_makes_what_it_made_again(finished: Path) -> None:
    for file, function in [
        ("report/figures/funnel.py", "plot_funnel"),
        ("evaluation/bitext.py", "evaluate_tatoeba"),
        ("evaluation/study_tables.py", "tabulate_studies"),
    ]:
        path = finished / "src/paraphrastic_pipeline" / file
        before, definition, after = path.read_text(encoding="utf-8").partition(f"def {function}(")
        path.write_text(
            before + definition + after.replace('    """', '    changed = 1\n    """', 1), encoding="utf-8"
        )
    messages = planned(finished, "paper_tables").messages
    made = {re.sub(r"^Evaluate \S+", "Evaluate .", message) for message in messages}
    # The rest follows from these: what is drawn from a table of systems, written and rendered.
    expected = {"Plot funnel", "Evaluate . on tatoeba", "Tabulate tatoeba", "Tabulate the studies"}
    assert {each for each in made if not re.match("Render|Write|Plot the systems", each)} == expected


@pytest.mark.parametrize("target_first", [True, False])
def test_forcing_one_model_trains_that_one_only(finished_once: Path, target_first: bool) -> None:
    words = ["results/models/fr/model.safetensors", "--forcerun", "train_model"]
    plan = planned(finished_once, *(words if target_first else [*words[1:], words[0]]))
    assert plan.rules == {"train_model", "evaluate_run", "choose_model"}
    assert all(" fr" in message for message in plan.messages)


def table(folder: Path) -> bytes:
    return (folder / "results/tables/sts.csv").read_bytes()


@pytest.mark.slow("trains for a while")
def test_a_killed_training_goes_on_from_its_checkpoint(finished: Path, tmp_path: Path) -> None:
    model = finished / "results/training/fr/dropout-0.0-megabatch-10"
    reference = (model / "model.safetensors").read_bytes()
    target = str((model / "model.safetensors").relative_to(finished))
    log = finished / "results/logs/train_model/fr/dropout-0.0-megabatch-10.log"
    with (tmp_path / "log").open("w") as output:
        run = subprocess.Popen(
            command("--forcerun", "train_model", "--", target),
            cwd=finished,
            env=environment(),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        deadline = time.monotonic() + 120
        while not (model / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    assert not (model / "model.safetensors").exists()
    assert snakemake(finished, "--unlock", target).returncode == 0
    again = snakemake(finished, target)
    assert again.returncode == 0, again.stdout
    assert "continuing after" in log.read_text()
    assert (model / "model.safetensors").read_bytes() == reference
    assert not (model / "checkpoint.safetensors").exists()
    # The history is complete: it begins with the first mini-batches.
    assert '{"step": 2, "epoch": 0.0' in (model / "training.jsonl").read_text()


def test_what_no_figure_depends_on_and_settings_of_other_languages_replan_nothing(finished: Path) -> None:
    configure(finished, "training.checkpoint_minutes", 1)
    configure(finished, "text.segmentation.zh", "full")
    configure(finished, "text.folding.tr", "dotless")
    assert planned(finished, "all").rules == set()


def test_scores_replan_training_only_where_they_stop_it(finished: Path, edit: Edit) -> None:
    edit(finished / "src/paraphrastic_pipeline/evaluation/development.py", "100.0 * pearson(", "pearson(")
    rules = planned(finished, "all").rules
    assert "evaluate_run" in rules
    assert "train_model" not in rules
    configure(finished, "training.early_stopping", {"patience": 2, "every": 0.5})
    assert "train_model" in planned(finished, "all").rules
