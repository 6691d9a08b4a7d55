"""Test the pictures of a table of systems and of a training."""

import json
from pathlib import Path

import pandas as pd
import pytest
from pictures import drawn

from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.evaluation.system_tables import INTERVAL_COLUMNS
from paraphrastic_pipeline.report.figures.systems import plot_systems
from paraphrastic_pipeline.report.figures.training import _without_rests, plot_training


def intervals(folder: Path, rows: list[dict[str, str]]) -> Path:
    write_csv(folder / "intervals.csv", INTERVAL_COLUMNS, rows)
    return folder / "intervals.csv"


def test_names_are_no_formulas_and_panels_are_in_the_order_of_the_table(tmp_path: Path) -> None:
    measured = {
        "low": "60",
        "high": "70",
        "value": "65.0",
        "source": "measured",
        "system": r"cost_$^$ $\frac$",
    }
    rows = [
        {"system": "LASER", "source": "published", "column": "avg", "value": "63.1"},
        *({"column": column, **measured} for column in ("2012", "2013", "avg")),
    ]
    texts = drawn(tmp_path, plot_systems, intervals(tmp_path, rows), title="$5 & $6")
    assert {r"cost_$^$ $\frac$", "$5 & $6"} <= set(texts)
    assert [text for text in texts if text in ("2012", "2013", "avg")][::2] == ["2012", "2013", "avg"]


def test_a_panel_for_each_column_and_a_line_for_each_system(tmp_path: Path) -> None:
    measured = {"low": "60", "high": "70", "value": "65.0"}
    rows = [
        {"system": "LASER", "source": "published", "column": "2012", "value": "63.1"},
        {"system": "P-SP de", "source": "untrained", "column": "2012", **measured},
        {"system": "P-SP de", "source": "measured", "column": "2012", **measured},
        {"system": "P-SP de", "source": "measured", "column": "avg", **measured},
        {"system": "P-SP de", "source": "measured", "row": "de-en", "column": "f1", **measured},
    ]
    texts = drawn(tmp_path, plot_systems, intervals(tmp_path, rows), title="Pearson's r × 100")
    names = {"LASER (published)", "P-SP de (untrained)", "P-SP de"}
    assert {"2012", "avg", "de-en f1", "Pearson's r × 100", *names} <= set(texts)


def test_the_rest_of_an_epoch_is_no_spike() -> None:
    lines = pd.DataFrame({"step": [10, 14, 20, 30], "megabatch": 10})
    assert list(_without_rests(lines).step) == [10, 20, 30]
    assert list(_without_rests(lines[1:2].assign(megabatch=100)).step) == [14]


@pytest.mark.parametrize("scored", [True, False])
def test_the_picture_of_a_run(tmp_path: Path, scored: bool) -> None:
    lines = [
        {"step": part, "epoch": part / 10, "loss": 1 / part, "megabatch": part, "development": None}
        for part in range(1, 11)
    ]
    if scored:
        lines[4]["development"], lines[9]["development"] = 61.5, 70.25
    history = tmp_path / "training.jsonl"
    history.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = drawn(tmp_path, plot_training, history, title="de, some run")
    assert {"de, some run", "training loss", "epochs", "M"} <= set(shown)
    assert ("score on development data" in shown) == scored
