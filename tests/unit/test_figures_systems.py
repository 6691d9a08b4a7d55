"""Test the picture of a table of systems."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.system_tables import INTERVAL_COLUMNS
from paraphrastic_pipeline.report.figures.systems import plot_systems


def intervals(folder: Path, rows: list[dict[str, str]]) -> Path:
    path = folder / "intervals.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, INTERVAL_COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


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
    plot_systems(intervals(tmp_path, rows), [tmp_path / "t.svg", tmp_path / "t.png"], title="$5 & $6")
    texts = ["".join(each.itertext()).strip() for each in ElementTree.parse(tmp_path / "t.svg").iter()]
    assert {r"cost_$^$ $\frac$", "$5 & $6"} <= set(texts)
    assert [text for text in texts if text in ("2012", "2013", "avg")][::2] == ["2012", "2013", "avg"]


def test_a_panel_for_each_column_and_a_line_for_each_system(tmp_path: Path) -> None:
    measured = {"low": "60", "high": "70", "value": "65.0"}
    rows = [
        {"system": "LASER", "source": "published", "column": "2012", "value": "63.1"},
        {"system": "P-SP de", "source": "untrained", "column": "2012", **measured},
        {"system": "P-SP de", "source": "measured", "column": "2012", "best": "yes", **measured},
        {"system": "P-SP de", "source": "measured", "column": "avg", **measured},
        {"system": "P-SP de", "source": "measured", "row": "de-en", "column": "f1", **measured},
    ]
    outputs = [tmp_path / "t.svg", tmp_path / "t.png"]
    plot_systems(intervals(tmp_path, rows), outputs, title="Pearson's r × 100")
    assert outputs[1].read_bytes().startswith(b"\x89PNG")
    texts = ["".join(each.itertext()).strip() for each in ElementTree.parse(outputs[0]).iter()]
    for text in (
        "2012", "avg", "de-en f1", "LASER (published)", "P-SP de (untrained)", "P-SP de", "Pearson's r × 100"
    ):  # fmt: skip
        assert text in texts
    before = [path.read_bytes() for path in outputs]
    plot_systems(tmp_path / "intervals.csv", outputs, title="Pearson's r × 100")
    assert [path.read_bytes() for path in outputs] == before


def test_a_picture_of_no_systems(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"intervals\.csv: contains no rows"):
        plot_systems(intervals(tmp_path, []), [tmp_path / "t.svg"], title="x")
