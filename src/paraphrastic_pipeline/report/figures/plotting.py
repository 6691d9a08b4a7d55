"""Helpers for all pictures; the same figures give a file with the same bytes."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import Formatter, LogLocator, NullFormatter

from paraphrastic.base.arrays import Float64
from paraphrastic.base.files import atomic_output

# A dollar sign in a name must not begin a formula. Numbers on axes need none, since all have a format.
matplotlib.rcParams["text.parse_math"] = False


def numbers(rows: Sequence[Mapping[str, str]], column: str) -> Float64:
    """The numbers in a column, [rows]; an empty cell is NaN."""
    return np.array([float(row[column] or "nan") for row in rows])


def plot_panels(
    count: int, in_a_row: int, size: tuple[float, float], margins: tuple[float, float], **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels, each `size` inches large, filled row by row from the top left."""
    columns = min(in_a_row, count)
    lines = ceil(count / columns)
    width, height = (
        n * length + margin for n, length, margin in zip((columns, lines), size, margins, strict=True)
    )
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = list(figure.subplots(lines, columns, squeeze=False, **shared).ravel())
    for axes in panels[count:]:
        axes.set_visible(False)
    return figure, panels[:count]


def plain_axes(axes: Axes, *, grid: Literal["x", "y", "both"]) -> None:
    """Put a pale grid behind the data, and remove the frame at the top and on the right."""
    axes.grid(axis=grid, color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def logarithmic(axes: Axes, values: Sequence[float], formatter: Formatter) -> None:
    """Make the x axis logarithmic, with numbers in a format; `values` are all that it shows."""
    axes.set_xscale("log")
    # In a wide range, one number for each power of ten is enough.
    wide = max(values, default=1.0) > 50 * min(values, default=1.0)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(formatter)
    axes.xaxis.set_minor_formatter(NullFormatter())


def save_figure(figure: Figure, outputs: Sequence[str | Path], *, name: str) -> None:
    """Write a figure to files, each in the format of its suffix; `name` seeds the identifiers in an SVG."""
    # By default, an SVG has a date and random identifiers, which would change its bytes at every run.
    # Without one family alone, each text in an SVG would name a dozen of them.
    with matplotlib.rc_context(
        {"svg.hashsalt": name, "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}
    ):
        for path in map(Path, outputs):
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            with atomic_output(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], dpi=160, metadata=metadata)
