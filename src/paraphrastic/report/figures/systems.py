"""The systems of a table side by side, with the intervals of their figures."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paraphrastic.report.figures.drawing import plain_axes, save_figure
from paraphrastic.report.tables import read_rows

_COLUMNS = 4
# Sources of figures: colour, and a mark that is told apart without colour.
_SOURCES = {
    "published": ("#777777", "D"),
    "untrained": ("#e69f00", "s"),
    "measured": ("#0072b2", "o"),
}


def plot_systems(intervals: str | Path, outputs: Sequence[str | Path], *, title: str) -> None:
    """Draw a panel for each column (and row) of a table: the figures of all systems with 95 % intervals.

    Published figures have no interval. Filled is what is better than all others where the difference holds.

    Args:
        intervals: CSV file of `tabulate_systems`.
        outputs: files to write, each in the format of its suffix.
        title: what is measured.

    Raises:
        InputError: a table without figures.
    """
    rows = read_rows(intervals)
    systems = list(dict.fromkeys((row["system"], row["source"]) for row in rows))
    # In the order of the table, which published rows may have only some columns of.
    measured = [row for row in rows if row["source"] != "published"]
    panels = list(dict.fromkeys((row["row"], row["column"]) for row in [*measured, *rows]))
    columns = min(_COLUMNS, len(panels))
    lines = ceil(len(panels) / columns)
    labels = [_label(system, source) for system, source in systems]
    width = 0.075 * max(map(len, labels)) + 2.4 * columns
    figure = Figure(figsize=(width, lines * (0.2 * len(systems) + 0.8) + 0.6), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
    for axes, panel in zip(grid.ravel(), panels, strict=False):
        of_panel = {
            (row["system"], row["source"]): row for row in rows if (row["row"], row["column"]) == panel
        }
        _draw_panel(axes, [of_panel.get(system) for system in systems])
        axes.set_title(" ".join(filter(None, panel)), loc="left", fontsize=10)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    grid[0, 0].set_yticks(range(len(systems)), labels, fontsize=8)
    grid[0, 0].invert_yaxis()
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, wrap=True)
    save_figure(figure, outputs, name="systems")


def _label(system: str, source: str) -> str:
    return system if source == "measured" else f"{system} ({source})"


def _draw_panel(axes: Axes, rows: Sequence[Mapping[str, str] | None]) -> None:
    for place, row in enumerate(rows):
        if row is None:
            continue
        colour, mark = _SOURCES[row["source"]]
        if row["low"]:
            axes.plot([float(row["low"]), float(row["high"])], [place, place], color=colour, lw=1.4)
        fill = colour if row["best"] else "white"
        axes.plot(float(row["value"]), place, mark, ms=4.5, mfc=fill, mec=colour, mew=1.2)
    plain_axes(axes, grid="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(length=0, labelsize=8)
