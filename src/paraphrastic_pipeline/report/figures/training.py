"""Picture of the training of a run: its loss and its scores on development data."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from paraphrastic_pipeline.report.figures.plotting import save_figure

_LOSS, _SCORE = "#0072b2", "#d55e00"


def plot_training(history: str | Path, outputs: Sequence[str | Path], *, title: str) -> None:
    """Plot the loss by epoch with the development scores, if there are any, and the mega-batch size below.

    A larger mega-batch has harder negatives and raises the loss, so both are shown in one picture. `history`
    is the file that `training.history` writes.
    """
    lines = [json.loads(line) for line in Path(history).read_text(encoding="utf-8").splitlines()]
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    loss, megabatch = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    curve = _without_rests(lines)
    # Without a mark, a history of a single line would be invisible.
    marker = "." if len(curve) < 30 else ""
    loss.plot([line["epoch"] for line in curve], [line["loss"] for line in curve], color=_LOSS, marker=marker)
    loss.set_ylabel("training loss", color=_LOSS)
    loss.set_title(title, loc="left", fontsize=10)
    scored = [line for line in lines if line["development"] is not None]
    if scored:
        scores = loss.twinx()
        values = [line["development"] for line in scored]
        scores.plot([line["epoch"] for line in scored], values, color=_SCORE, marker="o", markersize=4)
        scores.set_ylabel("score on development data", color=_SCORE)
        scores.spines["top"].set_visible(False)
    epochs = [line["epoch"] for line in lines]
    megabatch.step(epochs, [line["megabatch"] for line in lines], where="pre", color="0.4")
    megabatch.set_ylabel("M")
    megabatch.set_xlabel("epochs")
    for axes in (loss, megabatch):
        axes.set_ylim(bottom=0)
        axes.spines["top"].set_visible(False)
    save_figure(figure, outputs, name="training")


def _without_rests(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of mega-batches that are at least half full; the rest of an epoch has too few negatives."""
    steps = np.diff([0, *(line["step"] for line in lines)])
    full = [line for line, size in zip(lines, steps, strict=True) if 2 * size >= line["megabatch"]]
    return full or list(lines)
