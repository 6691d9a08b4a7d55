"""Draw the README's picture from its table: `python benchmarks/front_figure.py`.

Reads docs/pictures/front.csv, the figures of one run, and writes docs/pictures/front.png.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter

from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.report.figures.plotting import logarithmic, plain_axes, plot_panels, save_figure

Row = Mapping[str, str]

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
OURS, PUBLISHED = "#0072b2", "#777777"
# Published figures further below the lowest mark than this are left out, since they would squeeze the marks.
BELOW = 15
# Characters of a line below the picture.
LINE = 190
TITLE = (
    "better is up and to the right; filled and joined: nothing is better, faster and smaller; dotted: "
    "published scores"
)


def plot_front(table: Path, outputs: Sequence[Path]) -> None:
    """Plot systems by Pearson's r × 100 over sentences per second, and over megabytes.

    Systems that nothing beats are filled and joined. A mark's number leads to its name on the right.
    Published figures are lines, because they have no speed on this machine; those by other measures are named
    below.
    """
    rows = read_csv(table)
    measured = sorted(
        (row for row in rows if row["source"] == "measured"), key=lambda row: -float(row["sts"])
    )
    published = [row for row in rows if row["source"] == "published"]
    figure, panels = plot_panels(2, 2, (4.6, 4.8), (3.2, 0.4), sharey=True)
    for axes, column in zip(panels, ("sentences_per_second", "megabytes"), strict=True):
        _plot(axes, measured, column)
    least = min(float(row["sts"]) for row in measured) - BELOW
    for row in published:
        if float(row["sts"] or 0) >= least:
            for axes in panels:
                axes.axhline(float(row["sts"]), color=PUBLISHED, lw=0.8, ls=":", zorder=1)
            label = f"{row['system']} {row['sts']}"
            panels[0].annotate(label, (0.01, float(row["sts"])), xycoords=("axes fraction", "data"),
                               va="bottom", fontsize=7, color=PUBLISHED)  # fmt: skip
    panels[0].set_ylabel("Pearson's r × 100, STS 2012–2016")
    panels[0].set_xlabel("sentences per second on one core")
    panels[1].set_xlabel("megabytes")
    panels[1].invert_xaxis()
    for number, row in enumerate(measured, 1):
        panels[0].plot([], [], "o", ms=5, mec=OURS, mfc=_inside(row), label=f"{number}  {row['system']}")
    figure.legend(loc="outside right upper", frameon=False, fontsize=7, handletextpad=0.2)
    figure.suptitle(TITLE, x=0.01, ha="left", fontsize=9)
    others = "; ".join(_otherwise(row) for row in published if not row["sts"])
    text = fill(f"published by other measures: {others}", LINE, break_on_hyphens=False)
    figure.supxlabel(text, x=0.01, ha="left", fontsize=7, color=PUBLISHED)
    save_figure(figure, outputs, name="front")


def _plot(axes: Axes, rows: Sequence[Row], column: str) -> None:
    best = sorted((float(row[column]), float(row["sts"])) for row in rows if row["front"])
    axes.plot(*zip(*best, strict=True), color=OURS, lw=0.8, alpha=0.5)
    for number, row in enumerate(rows, 1):
        point = float(row[column]), float(row["sts"])
        axes.vlines(point[0], float(row["sts_low"]), float(row["sts_high"]), color=OURS, lw=0.6, alpha=0.3)
        axes.plot(*point, "o", ms=6, mfc=_inside(row), mec=OURS)
        axes.annotate(str(number), point, (7, 4), textcoords="offset points", fontsize=7, va="center")
    speeds, megabytes = EngFormatter(sep=""), FuncFormatter(lambda value, _: f"{value:g}")
    form = megabytes if column == "megabytes" else speeds
    logarithmic(axes, [float(row[column]) for row in rows], form)
    axes.margins(x=0.15, y=0.1)
    plain_axes(axes, grid="both")


def _inside(row: Row) -> str:
    return OURS if row["front"] else "white"


def _otherwise(row: Row) -> str:
    """A published figure that is not Pearson's r on STS 2012–2016, or what is known instead."""
    figure = f"Spearman's ρ × 100 {row['sts_spearman']}" if row["sts_spearman"] else ""
    return f"{row['system']}: {figure or row['note'].partition('; ')[2]}"


if __name__ == "__main__":
    plot_front(PICTURES / "front.csv", [PICTURES / "front.png"])
