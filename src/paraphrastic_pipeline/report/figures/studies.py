"""A picture of the choice of a language."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from paraphrastic_pipeline.report.figures.plotting import numbers, plain_axes, save_figure
from paraphrastic_pipeline.report.shown_tables import read_rows

# Wieting et al. 2019 saw two clusters of languages, one on either side of this overlap.
_THRESHOLD = 0.3
# A language without a distance is grey.
_COLOURS = colormaps["viridis_r"].with_extremes(bad="#bbbbbb")


def plot_language_choice(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot a point for each language in the table of `tabulate_language_choice`, labelled with its code.

    As in Figure 1 of Wieting et al. 2019, the score is plotted against the overlap of the pieces. The colour
    of a point is the language's featural distance from English, if the table has it. A hollow point above or
    below it shows the model with prefixed tokens.
    """
    rows = read_rows(table)
    overlap, scores, prefixed = (numbers(rows, name) for name in ("sp_overlap", "sts", "prefixed"))
    distances = numbers(rows, "featural")
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    if np.isfinite(prefixed).any():
        axes.vlines(overlap, scores, prefixed, color="#999999", lw=0.8)
        look: dict[str, Any] = {"facecolor": "white", "edgecolor": "#d55e00", "zorder": 2}
        axes.scatter(overlap, prefixed, marker="D", s=30, label="prefixed: none is shared", **look)
    known = bool(np.isfinite(distances).any())
    look = {"c": distances, "cmap": _COLOURS, "plotnonfinite": True} if known else {"c": "#0072b2"}
    label = "pieces that are spelled alike share an embedding"
    points = axes.scatter(overlap, scores, s=42, zorder=3, label=label, **look)
    if known:
        figure.colorbar(points, ax=axes, label="featural distance from English (URIEL)")
    for row, x, y in zip(rows, overlap, scores, strict=True):
        axes.annotate(row["language"], (x, y), (6, 4), textcoords="offset points", fontsize=9)
    axes.axvline(_THRESHOLD, color="#999999", lw=0.8, ls="--", zorder=1)
    axes.set_xlabel("share of the English pieces that the other language also has")
    axes.set_ylabel("Pearson's r × 100, STS 2012–2016")
    axes.margins(0.08)
    plain_axes(axes, grid="both")
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    save_figure(figure, outputs, name="language_choice")
