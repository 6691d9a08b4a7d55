"""Test that the best run of a sweep becomes the model and that a table shows all runs."""

import csv
from pathlib import Path

from paraphrastic.base.files import write_json
from paraphrastic_pipeline.training.model_selection import choose_model, tabulate_sweep

RUNS = {(0.0, 5): 0.71, (0.0, 60): 0.74321, (0.3, 5): 0.74321, (0.3, 60): 0.7}


def sweep(folder: Path, runs: dict[tuple[float, int], float]) -> Path:
    """Return the folder of the model that was chosen among these runs."""
    scores = []
    for (dropout, megabatch), score in runs.items():
        run = folder / "training" / f"dropout-{dropout}-megabatch-{megabatch}"
        settings = {"dropout": dropout, "megabatch": megabatch, "mining_precision": "float32"}
        model = {"encoder": "averaged_subwords", "model": "xx", "lowercase": True, "dimension": 4}
        write_json(run / "config.json", {**model, "training": settings})
        (run / "model.safetensors").write_text(f"weights {dropout} {megabatch}")
        (run / "sentencepiece.model").write_text("pieces")
        write_json(run / "development.json", {"held_out": 90.0, "development": 100 * score})
        scores.append(run / "development.json")
    choose_model(scores, folder / "model")
    return folder / "model"


def test_the_best_run_becomes_the_model_of_equal_ones_the_first(tmp_path: Path) -> None:
    model = sweep(tmp_path, RUNS)
    assert (model / "model.safetensors").read_text() == "weights 0.0 60"
    assert (model / "sweep.csv").read_text().splitlines() == [
        "dropout,megabatch,mining_precision,held_out,sts2017,development,chosen",
        "0.0,5,float32,90.00,,71.00,",
        "0.0,60,float32,90.00,,74.32,yes",
        "0.3,5,float32,90.00,,74.32,",
        "0.3,60,float32,90.00,,70.00,",
    ]


def test_the_first_run_is_taken_if_nothing_can_be_measured(tmp_path: Path) -> None:
    sweep(tmp_path, RUNS)
    scores = sorted(tmp_path.rglob("development.json"))
    for score in scores:
        write_json(score, {})
    choose_model(scores, tmp_path / "model")
    rows = (tmp_path / "model" / "sweep.csv").read_text().splitlines()[1:]
    assert [row.split(",")[3:] for row in rows] == [["", "", "", "yes"], *[["", "", "", ""]] * 3]


def test_files_for_other_libraries_do_not_outlive_their_model(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "modules.json", "mine.txt"):
        (tmp_path / "model").mkdir(exist_ok=True)
        (tmp_path / "model" / name).write_text("{}")
    model = sweep(tmp_path, RUNS)
    assert not (model / "tokenizer.json").exists()
    assert not (model / "modules.json").exists()
    assert (model / "mine.txt").exists()


def test_the_table_of_all_sweeps(tmp_path: Path) -> None:
    sweeps = [
        sweep(tmp_path / "de", RUNS) / "sweep.csv",
        sweep(tmp_path / "en", {(0.1, 5): 0.5}) / "sweep.csv",
    ]
    table = tmp_path / "sweep.csv"
    tabulate_sweep(sweeps, table, models=["de", "en"])
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == ["de"] * 4 + ["en"]
    assert rows[4] == {
        "model": "en", "dropout": "0.1", "megabatch": "5", "mining_precision": "float32",
        "held_out": "90.00", "sts2017": "", "development": "50.00", "chosen": "yes",
    }  # fmt: skip
