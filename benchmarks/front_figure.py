"""One picture of every model by quality, speed and size."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter

from paraphrastic.base.arrays import Float64
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.report.figures.plotting import logarithmic, plain_axes, plot_panels, save_figure
from paraphrastic_pipeline.report.shown_tables import read_rows

Row = Mapping[str, str]

_OURS, _PUBLISHED = "#0072b2", "#777777"
# Published figures further below the lowest mark than this are left out, since they would squeeze the marks.
_BELOW = 15
# Sides of a mark on which its number can stand, how far from it, in points, and the mark's size.
_SIDES = [
    np.array(side) for side in ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1.2), (0, -1.2), (1.2, 0), (-1.2, 0))
]
_DISTANCES = (8, 13, 18)
_MARK = np.array([7.0, 7.0])
# Characters of a line below the picture.
_LINE = 190


def plot_front(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot systems by Pearson's r × 100 over sentences per second, and over megabytes.

    The table comes from `tabulate_front`. Systems that nothing beats are filled and joined. Published figures
    are lines, because they have no speed on this machine; those by other measures are named below. A mark's
    number leads to its name on the right.
    """
    rows = read_rows(table)
    measured = [row for row in rows if row["source"] == "measured" and row["sentences_per_second"]]
    if not measured:
        raise InputError(f"{table}: contains no measured systems")
    measured.sort(key=lambda row: -float(row["sts"]))
    numbers = {id(row): number for number, row in enumerate(measured, 1)}
    figure, panels = plot_panels(2, 2, (4.6, 4.8), (3.2, 0.4), sharey=True)
    least = min(float(row["sts"]) for row in measured) - _BELOW
    published = [row for row in rows if row["source"] == "published" and float(row["sts"] or 0) >= least]
    names = ("sentences_per_second", "megabytes")
    for axes, column in zip(panels, names, strict=True):
        for row in published:
            axes.axhline(float(row["sts"]), color=_PUBLISHED, lw=0.8, ls=":", zorder=1)
        _plot(axes, [row for row in measured if row[column]], column)
    for row in published:
        label = f"{row['system']} {row['sts']}"
        panels[0].annotate(label, (0.01, float(row["sts"])), xycoords=("axes fraction", "data"), va="bottom",
                           fontsize=7, color=_PUBLISHED)  # fmt: skip
    panels[0].set_ylabel("Pearson's r × 100, STS 2012–2016")
    panels[0].set_xlabel("sentences per second on one core")
    panels[1].set_xlabel("megabytes")
    panels[1].invert_xaxis()
    for row in measured:
        name = " ".join(filter(None, [row["system"], row["version"]]))
        inside = _OURS if row["front"] else "white"
        panels[0].plot([], [], "o", ms=5, mec=_OURS, mfc=inside, label=f"{numbers[id(row)]}  {name}")
    figure.legend(loc="outside right upper", frameon=False, fontsize=7, handletextpad=0.2)
    figure.suptitle(
        "better is up and to the right; filled and joined: nothing is better, faster and smaller; dotted: "
        "published scores",
        x=0.01, ha="left", fontsize=9,
    )  # fmt: skip
    others = [_otherwise(row) for row in rows if row["source"] == "published" and not row["sts"]]
    if others:
        text = fill(f"published by other measures: {'; '.join(others)}", _LINE, break_on_hyphens=False)
        figure.supxlabel(text, x=0.01, ha="left", fontsize=7, color=_PUBLISHED)
    # Where numbers have room depends on where the layout puts the marks.
    figure.draw_without_rendering()
    for axes, column in zip(panels, names, strict=True):
        places = {
            numbers[id(row)]: (float(row[column]), float(row["sts"])) for row in measured if row[column]
        }
        _number(axes, places)
    save_figure(figure, outputs, name="front")


def _number(axes: Axes, places: Mapping[int, tuple[float, float]]) -> None:
    """Write each mark's number beside it, where the least of it lies on other marks and numbers."""
    points = 72 / axes.figure.dpi
    marks = {number: points * axes.transData.transform(place) for number, place in places.items()}
    taken = [(mark, _MARK) for mark in marks.values()]
    for number, mark in marks.items():
        size = np.array([4.5 * len(str(number)), 7.0])
        middles = [mark + distance * side * (1, 0.9) for distance in _DISTANCES for side in _SIDES]
        hidden = [sum(_overlap(middle, size, *other) for other in taken) for middle in middles]
        middle = middles[hidden.index(min(hidden))]
        taken.append((middle, size))
        offset = (middle - mark).tolist()
        axes.annotate(str(number), places[number], offset, textcoords="offset points", fontsize=7,
                      ha="center", va="center")  # fmt: skip


def _overlap(middle: Float64, size: Float64, other: Float64, other_size: Float64) -> float:
    """The common area of two rectangles, of which the middles and the sizes are given."""
    common = (size + other_size) / 2 - np.abs(middle - other)
    return float(np.prod(np.maximum(common, 0.0)))


def _otherwise(row: Row) -> str:
    """A published figure that is not Pearson's r on STS 2012–2016, or what is known instead."""
    figure = f"Spearman's ρ × 100 {row['sts_spearman']}" if row["sts_spearman"] else ""
    return f"{row['system']}: {figure or row['note'].partition('; ')[2]}"


def _plot(axes: Axes, rows: Sequence[Row], column: str) -> None:
    best = sorted((row for row in rows if row["front"]), key=lambda row: float(row[column]))
    axes.plot(
        [float(row[column]) for row in best],
        [float(row["sts"]) for row in best],
        color=_OURS,
        lw=0.8,
        alpha=0.5,
    )
    for row in rows:
        place, score = float(row[column]), float(row["sts"])
        axes.plot(
            [place] * 2, [float(row["sts_low"]), float(row["sts_high"])], color=_OURS, lw=0.6, alpha=0.3
        )
        axes.plot(place, score, "o", ms=6, mfc=_OURS if row["front"] else "white", mec=_OURS)
    speeds, megabytes = EngFormatter(sep=""), FuncFormatter(lambda value, _: f"{value:g}")
    form = megabytes if column == "megabytes" else speeds
    logarithmic(axes, [float(row[column]) for row in rows], form)
    axes.margins(x=0.15, y=0.1)
    plain_axes(axes, grid="both")
