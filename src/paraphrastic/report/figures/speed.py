"""How many sentences systems embed a second."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paraphrastic.base.errors import InputError
from paraphrastic.report.figures.drawing import plain_axes, save_figure
from paraphrastic.report.tables import read_rows

Row = Mapping[str, str]

_COLOURS = {"measured": "#0072b2", "published": "#8c8c8c"}


def plot_speed(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Draw bars of sentences a second, a panel each device, number of cores and batch size that was measured.

    Published figures of the same setting are grey: their machines were others.

    Args:
        table: CSV file of `tabulate_speed`.
        outputs: files to write, each in the format of its suffix.

    Raises:
        InputError: a table without measured rows.
    """
    rows = read_rows(table)
    measured = [row for row in rows if row["source"] != "published"]
    if not measured:
        raise InputError(f"{table}: there are no measured speeds in it")
    setups = list(dict.fromkeys((row["device"], row["cores"]) for row in measured))
    sizes = list(dict.fromkeys(row["batch_size"] for row in measured))
    panels = {
        (setup, size): [
            row for row in rows if (row["device"], row["cores"], row["batch_size"]) == (*setup, size)
        ]
        for size in sizes
        for setup in setups
    }
    lines = [max(len(_names(panels[setup, size])) for setup in setups) for size in sizes]
    figure = Figure(
        figsize=(3.2 + 3.2 * len(setups), 0.6 + sum(0.6 + 0.34 * count for count in lines)),
        layout="constrained",
    )
    grid = figure.subplots(len(sizes), len(setups), squeeze=False, sharex=True, height_ratios=lines)
    for line, count, size in zip(grid, lines, sizes, strict=True):
        for axes, setup in zip(line, setups, strict=True):
            _draw_panel(axes, panels[setup, size])
            axes.set_ylim(count - 0.5, -0.5)
            axes.set_title(f"{_setup_name(*setup)}, batches of {size}", loc="left", fontsize=11)
    for axes in grid[-1]:
        axes.set_xlabel("sentences a second, on a logarithmic scale")
    figure.suptitle(
        "filled: with preprocessing; empty: without it; grey: published figures, of other machines",
        x=0.01,
        ha="left",
        fontsize=10,
    )
    save_figure(figure, outputs, name="speed")


def _setup_name(device: str, cores: str) -> str:
    if device == "gpu":
        return "GPU"
    return f"{cores} core" + ("s" if cores != "1" else "")


def _name(row: Row) -> str:
    """A system, and what tells published rows of one name apart."""
    if row["source"] == "published" and row["dim"]:
        return f"{row['system']}, {row['dim']} dimensions"
    return row["system"]


def _names(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Name and source of each line of a panel."""
    return list(dict.fromkeys((_name(row), row["source"]) for row in rows))


def _draw_panel(axes: Axes, rows: Sequence[Row]) -> None:
    names = _names(rows)
    for line, name in enumerate(names):
        own = [row for row in rows if (_name(row), row["source"]) == name]
        height = 0.8 / max(2, len(own))
        for place, row in zip(line + height * (np.arange(len(own)) - (len(own) - 1) / 2), own, strict=True):
            colour, speed = _COLOURS[row["source"]], float(row["sentences_per_second"])
            fill = "white" if row["preprocessing"] == "not counted" else colour
            axes.barh(place, speed, height=0.85 * height, color=fill, edgecolor=colour, lw=1)
            axes.annotate(
                f"{speed:,.0f}",
                (speed, place),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=7,
            )
    axes.set_yticks(range(len(names)), [name for name, _ in names], fontsize=8)
    axes.set_xscale("log")
    axes.margins(x=0.25)
    axes.tick_params(axis="y", length=0)
    plain_axes(axes, grid="x")
