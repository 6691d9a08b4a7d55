"""What models learn from parts of a corpus."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paraphrastic.base.errors import InputError
from paraphrastic.report.figures.drawing import plain_axes, save_figure
from paraphrastic.report.tables import read_rows

# Measures that pairs are ranked by: name, colour, and a mark that is told apart without colour.
_MEASURES = {
    "paraphrase_score": ("paraphrase score", "#0072b2", "o"),
    "trigram_overlap": ("trigram overlap", "#d55e00", "s"),
    "translation_score": ("translation score", "#009e73", "^"),
}


def plot_filter_study(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Draw what models learn from each part of a ranking: a curve a measure, on both test sets.

    The best part of a ranking, by the development data, is the filled mark.

    Args:
        table: CSV file of `tabulate_filter_study`; published rows, which have no part, are not drawn.
        outputs: files to write, each in the format of its suffix.

    Raises:
        InputError: a table without measured rows.
    """
    rows = [row for row in read_rows(table) if row["part"]]
    if not rows:
        raise InputError(f"{table}: there are no parts in it")
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, 2)
    titles = {
        "development": "STS 2017 en-en, by which the best is chosen",
        "sts": "STS 2012–2016, average",
    }
    measures = list(dict.fromkeys(row["rank_by"] for row in rows))
    for axes, (score, title) in zip(panels, titles.items(), strict=True):
        for number, measure in enumerate(measures):
            own = [row for row in rows if row["rank_by"] == measure]
            # Beside each other, so that intervals do not hide each other.
            shift = 0.12 * (number - (len(measures) - 1) / 2)
            _draw_curve(axes, own, score, measure, shift)
        parts = sorted({int(row["part"]) for row in rows})
        axes.set_xticks(parts)
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


def _draw_curve(
    axes: Axes, rows: Sequence[Mapping[str, str]], score: str, measure: str, shift: float
) -> None:
    """One measure's scores over the parts, with intervals where the table has them."""
    label, colour, mark = _MEASURES[measure]
    places = np.array([int(row["part"]) for row in rows]) + shift
    values = np.array([float(row[score]) for row in rows])
    axes.plot(places, values, color=colour, lw=1.4, marker=mark, mfc="white", ms=6, label=label)
    if f"{score}_low" in rows[0]:
        low, high = (np.array([float(row[f"{score}_{end}"]) for row in rows]) for end in ("low", "high"))
        # A percentile interval need not hold the estimate itself.
        beyond = np.maximum([values - low, high - values], 0)
        axes.errorbar(places, values, beyond, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)
    best = [row["best"] == "yes" for row in rows]
    axes.plot(places[best], values[best], color=colour, ls="none", marker=mark, ms=8)
