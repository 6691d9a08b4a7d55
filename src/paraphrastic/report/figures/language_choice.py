"""Which language to pair with English: scores by the overlap of the languages' pieces."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from paraphrastic.report.figures.drawing import plain_axes, save_figure
from paraphrastic.report.tables import read_rows

# Wieting et al. 2019 saw two clusters of languages, on either side of it.
THRESHOLD = 0.3
# Grey is a language without a distance.
_COLOURS = colormaps["viridis_r"].with_extremes(bad="#bbbbbb")
_BLUE = "#0072b2"


def plot_language_choice(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Draw a point a language, labelled with its code (Wieting et al. 2019, Figure 1).

    Its colour is the distance of the language's features from those of English, where the table has it; a
    hollow point below or above is that of the model with prefixed tokens.

    Args:
        table: CSV file of `tabulate_language_choice`.
        outputs: files to write, each in the format of its suffix.

    Raises:
        InputError: a table without rows.
    """
    rows = read_rows(table)
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    distances = [float(row["featural"]) for row in rows if row["featural"]]
    norm = Normalize(min(distances), max(distances)) if distances else None
    if any(row["prefixed"] for row in rows):
        _draw_prefixed(axes, rows)
    points = axes.scatter(
        [float(row["sp_overlap"]) for row in rows],
        [float(row["sts"]) for row in rows],
        c=[float(row["featural"] or "nan") for row in rows] if norm else _BLUE,
        cmap=_COLOURS if norm else None,
        norm=norm,
        plotnonfinite=bool(norm),
        s=42,
        zorder=3,
        label="pieces that are spelled alike share an embedding",
    )
    if norm:
        figure.colorbar(points, ax=axes, label="featural distance from English (URIEL)")
    for row in rows:
        place = float(row["sp_overlap"]), float(row["sts"])
        axes.annotate(row["language"], place, (6, 4), textcoords="offset points", fontsize=9)
    axes.axvline(THRESHOLD, color="#999999", lw=0.8, ls="--", zorder=1)
    axes.set_xlabel("share of the English pieces that the other language has, too")
    axes.set_ylabel("Pearson's r × 100, STS 2012–2016")
    axes.margins(0.08)
    plain_axes(axes, grid="both")
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    save_figure(figure, outputs, name="language_choice")


def _draw_prefixed(axes: Axes, rows: Sequence[Mapping[str, str]]) -> None:
    """Hollow points, each joined to that of the same language."""
    for row in rows:
        axes.plot(
            [float(row["sp_overlap"])] * 2, [float(row["sts"]), float(row["prefixed"])], "#999999", lw=0.8
        )
    axes.scatter(
        [float(row["sp_overlap"]) for row in rows],
        [float(row["prefixed"]) for row in rows],
        marker="D",
        s=30,
        facecolor="white",
        edgecolor="#d55e00",
        zorder=2,
        label="prefixed: none is shared",
    )
