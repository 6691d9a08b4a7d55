"""Pictures that compare systems: their figures with intervals, and their speed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.ticker import EngFormatter

from paraphrastic_pipeline.report.figures.plotting import logarithmic, plain_axes, plot_panels, save_figure
from paraphrastic_pipeline.report.shown_tables import read_records

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
    rows = read_records(intervals)
    systems = list(dict.fromkeys((row.system, row.source) for row in rows))
    # Measured rows give the order of the columns, because published rows may lack some.
    measured = [row for row in rows if row.source != "published"]
    names = list(dict.fromkeys((row.row, row.column) for row in [*measured, *rows]))
    labels = [system if source == "measured" else f"{system} ({source})" for system, source in systems]
    size, margins = (2.4, 0.2 * len(systems) + 0.8), (0.075 * max(map(len, labels)), 0.6)
    figure, panels = plot_panels(len(names), 4, size, margins, sharey=True)
    for axes, name in zip(panels, names, strict=True):
        of_panel = [row for row in rows if (row.row, row.column) == name]
        for row in of_panel:
            place = systems.index((row.system, row.source))
            colour, mark = _SOURCES[row.source]
            if row.low:
                axes.plot([float(row.low), float(row.high)], [place, place], color=colour, lw=1.4)
            axes.plot(float(row.value), place, mark, ms=4.5, mfc="white", mec=colour, mew=1.2)
        plain_axes(axes, grid="x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(length=0, labelsize=8)
        axes.set_title(" ".join(filter(None, name)), loc="left", fontsize=10)
    panels[0].set_yticks(range(len(systems)), labels, fontsize=8)
    panels[0].invert_yaxis()
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, wrap=True)
    save_figure(figure, outputs, name="systems")


def plot_speed(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot sentences per second as bars, in a panel for each measured device and number of cores.

    The table comes from `tabulate_speed`. Published figures are grey, because they were measured on other
    machines.
    """
    rows = read_records(table)
    setups = dict.fromkeys((row.device, row.cores) for row in rows if row.source != "published")
    by_setup = {setup: [row for row in rows if (row.device, row.cores) == setup] for setup in setups}
    speeds = [float(row.sentences_per_second) for shown in by_setup.values() for row in shown]
    size = (5.4, 0.22 * max(map(len, by_setup.values())))
    figure, panels = plot_panels(len(setups), 2, size, (0.2, 1.2), sharex=True)
    for axes, ((device, cores), shown) in zip(panels, by_setup.items(), strict=True):
        for place, row in enumerate(shown):
            colour, speed = _SOURCES[row.source][0], float(row.sentences_per_second)
            fill = "white" if row.preprocessing == "not counted" else colour
            bars = axes.barh(place, speed, height=0.7, color=fill, edgecolor=colour, lw=1)
            axes.bar_label(bars, [f"{speed:,.0f}"], padding=3, fontsize=7)
        axes.set_yticks(range(len(shown)), [_name(row) for row in shown], fontsize=8)
        axes.invert_yaxis()
        axes.margins(x=0.25, y=0.02)
        axes.tick_params(axis="y", length=0)
        plain_axes(axes, grid="x")
        logarithmic(axes, speeds, EngFormatter(sep=""))
        axes.set_title("GPU" if device == "gpu" else f"cores: {cores}", loc="left", fontsize=11)
    title = "Sentences per second (filled: with preprocessing; empty: without it; grey: published figures)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    save_figure(figure, outputs, name="speed")


def _name(row: Any) -> str:
    """Label of a row; the dimension tells apart published rows of the same system."""
    dimension = f", {row.dim} dimensions" if row.source == "published" and row.dim else ""
    return f"{row.system}{dimension}, batches of {row.batch_size}"
