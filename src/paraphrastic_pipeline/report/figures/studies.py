"""Pictures of the filter study and of the choice of a language."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.report.figures.plotting import numbers, plain_axes, plot_panels, save_figure
from paraphrastic_pipeline.report.shown_tables import read_rows

# Measures that pairs are ranked by: label, colour, and a mark that can be recognised without colour.
_MEASURES = {
    "paraphrase_score": ("paraphrase score", "#0072b2", "o"),
    "trigram_overlap": ("trigram overlap", "#d55e00", "s"),
    "translation_score": ("translation score", "#009e73", "^"),
}
_TEST_SETS = {
    "development": "STS 2017 en-en, on which the best is chosen",
    "sts": "STS 2012–2016, average",
}
# Wieting et al. 2019 saw two clusters of languages, one on either side of this overlap.
_THRESHOLD = 0.3
# A language without a distance is grey.
_COLOURS = colormaps["viridis_r"].with_extremes(bad="#bbbbbb")


def plot_filter_study(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot the scores of models trained on each part of a ranking: a curve per measure, on both test sets.

    A filled mark is the part of a ranking that is best on the development data. The table comes from
    `tabulate_filter_study`; its published rows have no part and are not drawn.
    """
    rows = [row for row in read_rows(table) if row["part"]]
    if not rows:
        raise InputError(f"{table}: contains no parts")
    measures = list(dict.fromkeys(row["rank_by"] for row in rows))
    figure, panels = plot_panels(2, 2, (5, 4.2), (0, 0))
    for axes, (score, title) in zip(panels, _TEST_SETS.items(), strict=True):
        for number, measure in enumerate(measures):
            of_measure = [row for row in rows if row["rank_by"] == measure]
            # Curves are shifted sideways, or their intervals would hide each other.
            _plot_curve(axes, of_measure, score, measure, 0.12 * (number - (len(measures) - 1) / 2))
        axes.set_xticks(sorted({int(row["part"]) for row in rows}))
        axes.set_xlabel("part of the ranked pairs, from the lowest values to the highest")
        axes.set_title(title, loc="left", fontsize=11, pad=8)
        plain_axes(axes, grid="y")
    panels[0].set_ylabel("Pearson's r × 100")
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside upper left",
        ncols=len(measures),
        frameon=False,
        fontsize=9,
        title="ranked by; filled: the best part; bars: 95 % intervals",
        title_fontsize=9,
        alignment="left",
    )
    save_figure(figure, outputs, name="filter_study")


def _plot_curve(
    axes: Axes, rows: Sequence[Mapping[str, str]], score: str, measure: str, shift: float
) -> None:
    """Plot one measure's scores over the parts, with intervals if the table has them."""
    label, colour, mark = _MEASURES[measure]
    places, values = numbers(rows, "part") + shift, numbers(rows, score)
    axes.plot(places, values, color=colour, lw=1.4, marker=mark, mfc="white", ms=6, label=label)
    if f"{score}_low" in rows[0]:
        # A percentile interval need not contain the estimate itself.
        beyond = [values - numbers(rows, f"{score}_low"), numbers(rows, f"{score}_high") - values]
        bars = np.maximum(beyond, 0)
        axes.errorbar(places, values, bars, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)
    best = [row["best"] == "yes" for row in rows]
    axes.plot(places[best], values[best], color=colour, ls="none", marker=mark, ms=8)


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
