"""Pictures that compare systems: their figures with intervals, and their speed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.report.figures.plotting import logarithmic, plain_axes, plot_panels, save_figure
from paraphrastic_pipeline.report.shown_tables import Row, read_rows

# Sources of figures: colour, and a mark that can be recognised without colour.
_SOURCES = {
    "published": ("#777777", "D"),
    "untrained": ("#e69f00", "s"),
    "measured": ("#0072b2", "o"),
}


def plot_systems(intervals: str | Path, outputs: Sequence[str | Path], *, title: str) -> None:
    """Plot a panel for each column (and row) of a table: the figures of all systems with 95 % intervals.

    `intervals` is the file of intervals of `tabulate_systems`; published figures have no interval. `title`
    says what is measured.
    """
    rows = read_rows(intervals)
    systems = list(dict.fromkeys((row["system"], row["source"]) for row in rows))
    # Measured rows give the order of the columns, because published rows may lack some.
    measured = [row for row in rows if row["source"] != "published"]
    names = list(dict.fromkeys((row["row"], row["column"]) for row in [*measured, *rows]))
    labels = [system if source == "measured" else f"{system} ({source})" for system, source in systems]
    size, margins = (2.4, 0.2 * len(systems) + 0.8), (0.075 * max(map(len, labels)), 0.6)
    figure, panels = plot_panels(len(names), 4, size, margins, sharey=True)
    for axes, name in zip(panels, names, strict=True):
        of_panel = [row for row in rows if (row["row"], row["column"]) == name]
        for row in of_panel:
            place = systems.index((row["system"], row["source"]))
            colour, mark = _SOURCES[row["source"]]
            if row["low"]:
                axes.plot([float(row["low"]), float(row["high"])], [place, place], color=colour, lw=1.4)
            axes.plot(float(row["value"]), place, mark, ms=4.5, mfc="white", mec=colour, mew=1.2)
        plain_axes(axes, grid="x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(length=0, labelsize=8)
        axes.set_title(" ".join(filter(None, name)), loc="left", fontsize=10)
    panels[0].set_yticks(range(len(systems)), labels, fontsize=8)
    panels[0].invert_yaxis()
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, wrap=True)
    save_figure(figure, outputs, name="systems")


def plot_speed(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot sentences per second as bars, in a panel for each measured device, number of cores and batch size.

    The table comes from `tabulate_speed`. Published figures with the same setting are grey, because they were
    measured on other machines.
    """
    rows = read_rows(table)
    measured = [row for row in rows if row["source"] != "published"]
    if not measured:
        raise InputError(f"{table}: contains no measured speeds")
    setups = list(dict.fromkeys((row["device"], row["cores"]) for row in measured))
    sizes = list(dict.fromkeys(row["batch_size"] for row in measured))
    panels = {
        (setup, size): [
            row for row in rows if (row["device"], row["cores"], row["batch_size"]) == (*setup, size)
        ]
        for size in sizes
        for setup in setups
    }
    speeds = [float(row["sentences_per_second"]) for panel in panels.values() for row in panel]
    lines = [max(len(_names(panels[setup, size])) for setup in setups) for size in sizes]
    figure = Figure(
        figsize=(3.2 + 3.2 * len(setups), 0.6 + sum(0.6 + 0.34 * count for count in lines)),
        layout="constrained",
    )
    grid = figure.subplots(len(sizes), len(setups), squeeze=False, sharex=True, height_ratios=lines)
    for line, count, size in zip(grid, lines, sizes, strict=True):
        for axes, (device, cores) in zip(line, setups, strict=True):
            _plot_speeds(axes, panels[(device, cores), size])
            logarithmic(axes, speeds, EngFormatter(sep=""))
            axes.set_ylim(count - 0.5, -0.5)
            where = "GPU" if device == "gpu" else f"{cores} core" + ("s" if cores != "1" else "")
            axes.set_title(f"{where}, batches of {size}", loc="left", fontsize=11)
    for axes in grid[-1]:
        axes.set_xlabel("sentences per second, on a logarithmic scale")
    figure.suptitle(
        "filled: with preprocessing; empty: without it; grey: published figures, from other machines",
        x=0.01,
        ha="left",
        fontsize=10,
    )
    save_figure(figure, outputs, name="speed")


def _name(row: Row) -> tuple[str, str]:
    """Label and source of a row; the dimension tells apart published rows of the same system."""
    if row["source"] == "published" and row["dim"]:
        return f"{row['system']}, {row['dim']} dimensions", row["source"]
    return row["system"], row["source"]


def _names(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(map(_name, rows)))


def _plot_speeds(axes: Axes, rows: Sequence[Row]) -> None:
    names = _names(rows)
    for line, name in enumerate(names):
        of_system = [row for row in rows if _name(row) == name]
        height = 0.8 / max(2, len(of_system))
        for place, row in zip(
            line + height * (np.arange(len(of_system)) - (len(of_system) - 1) / 2), of_system, strict=True
        ):
            colour, speed = _SOURCES[row["source"]][0], float(row["sentences_per_second"])
            fill = "white" if row["preprocessing"] == "not counted" else colour
            bars = axes.barh(place, speed, height=0.85 * height, color=fill, edgecolor=colour, lw=1)
            axes.bar_label(bars, [f"{speed:,.0f}"], padding=3, fontsize=7)
    axes.set_yticks(range(len(names)), [name for name, _ in names], fontsize=8)
    axes.margins(x=0.25)
    axes.tick_params(axis="y", length=0)
    plain_axes(axes, grid="x")
