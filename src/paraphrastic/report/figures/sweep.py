"""The development scores of all runs of a sweep."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from paraphrastic.report.figures.drawing import save_figure
from paraphrastic.report.tables import read_rows

_COLUMNS = 3


def plot_sweep(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Draw a heat map a model: dropout by size of the mega-batch; the run that became the model is framed.

    Colours are of each model's own range, since models of different data differ by more than their runs.

    Args:
        table: CSV file of `tabulate_sweep`.
        outputs: files to write, each in the format of its suffix.

    Raises:
        InputError: a table without rows.
    """
    rows = read_rows(table)
    models = list(dict.fromkeys(row["model"] for row in rows))
    columns = min(_COLUMNS, len(models))
    lines = ceil(len(models) / columns)
    figure = Figure(figsize=(3.4 * columns + 0.4, 2.7 * lines + 0.5), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, model in zip(panels, models, strict=False):
        _draw_model(axes, model, [row for row in rows if row["model"] == model])
    for axes in panels[len(models) :]:
        axes.set_visible(False)
    title = "Pearson's r × 100 on STS 2017 en-en; framed: the run that became the model"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    save_figure(figure, outputs, name="sweep")


def _draw_model(axes: Axes, model: str, rows: Sequence[Mapping[str, str]]) -> None:
    dropouts = sorted({float(row["dropout"]) for row in rows})
    megabatches = sorted({int(row["megabatch"]) for row in rows})
    scores = np.full((len(dropouts), len(megabatches)), np.nan)
    for row in rows:
        line, column = dropouts.index(float(row["dropout"])), megabatches.index(int(row["megabatch"]))
        scores[line, column] = float(row["development"])
        if row["chosen"]:
            frame = Rectangle((column - 0.48, line - 0.48), 0.96, 0.96, fill=False, ec="#d55e00", lw=2)
            axes.add_patch(frame)
    low, high = np.nanmin(scores), np.nanmax(scores)
    # Wider than the range, so that numbers can be read and a range of nothing has a colour.
    axes.imshow(scores, cmap="Blues", vmin=low - 1e-9, vmax=high + 0.6 * (high - low) + 1, aspect="auto")
    for (line, column), score in np.ndenumerate(scores):
        axes.text(column, line, f"{score:.1f}", ha="center", va="center", fontsize=9)
    axes.set_xticks(range(len(megabatches)), [str(size) for size in megabatches])
    axes.set_yticks(range(len(dropouts)), [f"{dropout:g}" for dropout in dropouts])
    axes.set_xlabel("mega-batch size M")
    axes.set_ylabel("dropout")
    axes.set_title(model, loc="left", fontsize=11)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
