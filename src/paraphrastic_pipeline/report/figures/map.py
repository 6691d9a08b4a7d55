"""A map of sentences in two dimensions, coloured by their source."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from paraphrastic_pipeline.report.figures.plotting import numbers, plain_axes, save_figure
from paraphrastic_pipeline.report.shown_tables import read_rows


def plot_map(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot the places of sentences from a table of `inspection.MAP_COLUMNS`."""
    draw_map(read_rows(table), outputs)


def draw_map(rows: Sequence[Mapping[str, str]], outputs: Sequence[str | Path]) -> None:
    """Draw the places of sentences, which are rows of `inspection.positions`."""
    sources = list(dict.fromkeys(row["source"] for row in rows))
    figure = Figure(figsize=(7.6, 5.2), layout="constrained")
    axes = figure.subplots()
    colours = matplotlib.colormaps["tab20"]
    for number, source in enumerate(sources):
        of_source = [row for row in rows if row["source"] == source]
        # Points are one picture, since thousands of them as shapes would make the page slow.
        axes.scatter(
            numbers(of_source, "x"), numbers(of_source, "y"), s=5, color=colours(number % 20), alpha=0.6,
            lw=0, label=source, rasterized=True,
        )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    plain_axes(axes, grid="both")
    figure.legend(loc="outside right upper", frameon=False, fontsize=8, markerscale=3)
    save_figure(figure, outputs, name="map")
