"""Test the picture of a table of systems."""

from pathlib import Path

import pytest
from pictures import drawn

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.evaluation.system_tables import INTERVAL_COLUMNS
from paraphrastic_pipeline.report.figures.systems import plot_systems


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


def test_a_picture_of_no_systems(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"intervals\.csv: contains no rows"):
        plot_systems(intervals(tmp_path, []), [tmp_path / "t.svg"], title="x")
