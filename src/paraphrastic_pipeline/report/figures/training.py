"""Picture of the training of a run: its loss and its scores on development data."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from paraphrastic_pipeline.report.figures.plotting import save_figure

_LOSS, _SCORE = "#0072b2", "#d55e00"


def plot_training(history: str | Path, outputs: Sequence[str | Path], *, title: str) -> None:
    """Plot the loss by epoch with the development scores, if there are any, and the mega-batch size below.

    A larger mega-batch has harder negatives and raises the loss, so both are shown in one picture. `history`
    is the file that `training.history` writes.
    """
    lines = pd.DataFrame(map(json.loads, Path(history).read_text(encoding="utf-8").splitlines()))
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    loss, megabatch = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    curve = _without_rests(lines)
    # Without a mark, a history of a single line would be invisible.
    marker = "." if len(curve) < 30 else ""
    loss.plot(curve.epoch, curve.loss, color=_LOSS, marker=marker)
    loss.set_ylabel("training loss", color=_LOSS)
    loss.set_title(title, loc="left", fontsize=10)
    if len(scored := lines.dropna(subset="development")):
        scores = loss.twinx()
        scores.plot(scored.epoch, scored.development.astype(float), color=_SCORE, marker="o", markersize=4)
        scores.set_ylabel("score on development data", color=_SCORE)
        scores.spines["top"].set_visible(False)
    megabatch.step(lines.epoch, lines.megabatch, where="pre", color="0.4")
    megabatch.set_ylabel("M")
    megabatch.set_xlabel("epochs")
    for axes in (loss, megabatch):
        axes.set_ylim(bottom=0)
        axes.spines["top"].set_visible(False)
    save_figure(figure, outputs, name="training")


def _without_rests(lines: pd.DataFrame) -> pd.DataFrame:
    """Lines of mega-batches that are at least half full; the rest of an epoch has too few negatives."""
    full = lines[2 * lines.step.diff().fillna(lines.step) >= lines.megabatch]
    return full if len(full) else lines
