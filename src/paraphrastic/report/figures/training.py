"""The loss and the development scores of a training run."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from paraphrastic.base.errors import InputError
from paraphrastic.report.figures.drawing import save_figure

_LOSS, _SCORE = "#0072b2", "#d55e00"


def plot_training(history: str | Path, outputs: Sequence[str | Path], *, title: str) -> None:
    """Draw the loss by epoch with the development scores, if there are any, and the mega-batch below it.

    The loss rises with the mega-batch, whose negatives are harder, so that both are in one picture.

    Args:
        history: file of `training.report`.
        outputs: files to write, each in the format of its suffix.
        title: of the picture.

    Raises:
        InputError: a file without lines, or with a line that is damaged.
    """
    lines = _read(history)
    epochs = [line["epoch"] for line in lines]
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    loss, megabatch = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    curve = _without_rests(lines)
    # A single line of the history is a point.
    marker = "." if len(curve) < 30 else ""
    loss.plot([line["epoch"] for line in curve], [line["loss"] for line in curve], color=_LOSS, marker=marker)
    loss.set_ylabel("training loss", color=_LOSS)
    loss.set_title(title, loc="left", fontsize=10)
    scored = [line for line in lines if line["development"] is not None]
    if scored:
        scores = loss.twinx()
        values = [line["development"] for line in scored]
        scores.plot([line["epoch"] for line in scored], values, color=_SCORE, marker="o", markersize=4)
        scores.set_ylabel("Pearson's r × 100, STS 2017 en-en", color=_SCORE)
        scores.spines["top"].set_visible(False)
    megabatch.step(epochs, [line["megabatch"] for line in lines], where="pre", color="0.4")
    megabatch.set_ylabel("M")
    megabatch.set_xlabel("epochs")
    for axes in (loss, megabatch):
        axes.set_ylim(bottom=0)
        axes.spines["top"].set_visible(False)
    save_figure(figure, outputs, name="training")


def _without_rests(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of mega-batches that are at least half full: what an epoch leaves over has few negatives."""
    steps = np.diff([0, *(line["step"] for line in lines)])
    full = [line for line, size in zip(lines, steps, strict=True) if 2 * size >= line["megabatch"]]
    return full or list(lines)


def _read(history: str | Path) -> list[dict[str, Any]]:
    try:
        lines = [json.loads(line) for line in Path(history).read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise InputError(f"{history}: not a history of training: {error}") from None
    if not lines:
        raise InputError(f"{history}: there are no lines in it")
    return lines
