"""Test the picture of a training run."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.report.figures.training import _without_rests, plot_training


def test_the_rest_of_an_epoch_is_no_spike() -> None:
    lines = [{"step": step, "megabatch": 10} for step in (10, 14, 20, 30)]
    assert [line["step"] for line in _without_rests(lines)] == [10, 20, 30]
    assert _without_rests(lines[1:2]) == lines[1:2]


def lines_of(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("scored", [True, False])
def test_the_picture_of_a_run(tmp_path: Path, scored: bool) -> None:
    lines = [
        {"step": part, "epoch": part / 10, "loss": 1 / part, "megabatch": part, "development": None}
        for part in range(1, 11)
    ]
    if scored:
        lines[4]["development"], lines[9]["development"] = 61.5, 70.25
    outputs = [tmp_path / "run.svg", tmp_path / "run.png"]
    plot_training(lines_of(tmp_path / "training.jsonl", lines), outputs, title="de, some run")
    assert outputs[1].read_bytes().startswith(b"\x89PNG")
    shown = ["".join(each.itertext()).strip() for each in ElementTree.parse(outputs[0]).iter()]
    for text in ("de, some run", "training loss", "epochs", "M"):
        assert text in shown
    assert ("score on development data" in shown) == scored


def test_a_picture_of_no_history(tmp_path: Path) -> None:
    path = tmp_path / "training.jsonl"
    path.touch()
    with pytest.raises(InputError, match=r"training\.jsonl: contains no lines"):
        plot_training(path, [tmp_path / "run.svg"], title="de")
