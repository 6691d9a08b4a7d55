"""Pictures of training: loss and development scores of a run, and scores of all runs of a sweep."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.report.figures.plotting import plot_panels, plot_squares, save_figure
from paraphrastic_pipeline.report.shown_tables import read_rows

_LOSS, _SCORE = "#0072b2", "#d55e00"


def plot_training(history: str | Path, outputs: Sequence[str | Path], *, title: str) -> None:
    """Plot the loss by epoch with the development scores, if there are any, and the mega-batch size below.

    A larger mega-batch has harder negatives and raises the loss, so both are shown in one picture. `history`
    is the file that `training.history` writes.
    """
    lines = _read(history)
    epochs = [line["epoch"] for line in lines]
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


def _read(history: str | Path) -> list[dict[str, Any]]:
    if lines := [json.loads(line) for line in Path(history).read_text(encoding="utf-8").splitlines()]:
        return lines
    raise InputError(f"{history}: contains no lines")


def plot_sweep(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot a heat map per model, dropout by mega-batch size, with a frame around the chosen run.

    The colours span each model's own range, because models trained on different data differ more than the
    runs of one model. The table comes from `tabulate_sweep`.
    """
    rows = read_rows(table)
    models = list(dict.fromkeys(row["model"] for row in rows))
    figure, panels = plot_panels(len(models), 3, (3.4, 2.7), (0.4, 0.5))
    for axes, model in zip(panels, models, strict=True):
        _plot_sweep(axes, model, [row for row in rows if row["model"] == model])
    title = "Score on development data; framed: the run that became the model"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    save_figure(figure, outputs, name="sweep")


def _plot_sweep(axes: Axes, model: str, rows: Sequence[Mapping[str, str]]) -> None:
    dropouts = sorted({float(row["dropout"]) for row in rows})
    megabatches = sorted({int(row["megabatch"]) for row in rows})
    scores = np.full((len(dropouts), len(megabatches)), np.nan)
    for row in rows:
        line, column = dropouts.index(float(row["dropout"])), megabatches.index(int(row["megabatch"]))
        scores[line, column] = float(row["development"] or "nan")
        if row["chosen"]:
            frame = Rectangle((column - 0.48, line - 0.48), 0.96, 0.96, fill=False, ec="#d55e00", lw=2)
            axes.add_patch(frame)
    known = scores[np.isfinite(scores)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    # The colour range exceeds the scores: numbers stay legible, and equal scores still have a colour.
    lines, columns = [f"{dropout:g}" for dropout in dropouts], [str(size) for size in megabatches]
    plot_squares(axes, scores, lines, columns, low=low - 1e-9, top=high + 0.6 * (high - low) + 1)
    for (line, column), score in np.ndenumerate(scores):
        axes.text(
            column, line, "" if np.isnan(score) else f"{score:.1f}", ha="center", va="center", fontsize=9
        )
    axes.set_xlabel("mega-batch size M")
    axes.set_ylabel("dropout")
    axes.set_title(model, loc="left", fontsize=11)
