"""Draw the README's picture from its table: `python benchmarks/front_figure.py`.

Reads docs/pictures/front.csv, the figures of one run, and writes docs/pictures/front.png.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import EngFormatter

from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.report.figures.plotting import logarithmic, plain_axes, plot_panels, save_figure

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
OURS, OTHERS = "#0072b2", "#777777"
# Published scores further below the lowest mark than this are left out, since they would squeeze the marks.
BELOW = 5
# Square points of a mark for each megabyte.
AREA = 8
# Where a name may stand beside its mark: to the right, to the left, above or below.
SIDES = ((1, 0, "left"), (-1, 0, "right"), (0, 1, "center"), (0, -1, "center"))


def plot_front(table: Path, outputs: Sequence[Path]) -> None:
    """Plot systems by Pearson's r × 100 over sentences per second, with areas by their size.

    Our models have a colour, and all others are grey. Published scores stand on the right, without a speed.
    """
    rows = read_csv(table)
    measured = [row for row in rows if row["source"] == "measured"]
    ours = [row for row in measured if "in the package" in row["system"]]
    others = [row for row in measured if row not in ours]
    figure, (axes,) = plot_panels(1, 1, (8.6, 4.6), (0.0, 0.0))
    logarithmic(axes, [float(row["sentences_per_second"]) for row in measured], EngFormatter(sep=""))
    axes.margins(x=0.1, y=0.1)
    for group, color in ((others, OTHERS), (ours, OURS)):
        speeds, scores, sizes = (
            [float(row[key]) for row in group] for key in ("sentences_per_second", "sts", "megabytes")
        )
        axes.scatter(speeds, scores, [AREA * size for size in sizes], color=color, alpha=0.8, lw=0, zorder=3)
    least = min(float(row["sts"]) for row in measured) - BELOW
    published = [row for row in rows if row["source"] == "published" and float(row["sts"] or 0) > least]
    axes.set_ylim(bottom=least)
    axes.set_ylabel("quality: Pearson's r × 100 on STS 2012–2016")
    axes.set_xlabel("sentences per second on one core")
    plain_axes(axes, grid="y")
    ratio = min(map(_speed, ours)) / max(map(_speed, others))
    best = max(float(row["sts"]) for row in ours)
    better = " and ".join(row["system"] for row in others if float(row["sts"]) > best)
    title = f"Of the models measured, ours are {int(ratio)} times as fast as the rest"
    axes.set_title(f"{title}; only {better} scores higher", loc="left", fontsize=11)
    _name_published(axes, published)
    _name_marks(figure, axes, [(row, OTHERS) for row in others] + [(row, OURS) for row in ours])
    save_figure(figure, outputs, name="front")


def _speed(row: Mapping[str, str]) -> float:
    return float(row["sentences_per_second"])


def _name_published(axes: Axes, rows: Sequence[Mapping[str, str]]) -> None:
    """Write published scores at the right margin, from the bottom up, no two on top of each other."""
    bottom, top = axes.get_ylim()
    line, height = (top - bottom) / 24, bottom
    axes.text(1.02, 0.96, "published scores:", transform=axes.transAxes, fontsize=8, color=OTHERS)
    for row in sorted(rows, key=lambda row: float(row["sts"])):
        score = float(row["sts"])
        height = max(score, height + line)
        axes.annotate(f"{row['system']} {row['sts']}", (1, score), (1.02, height),
                      xycoords=axes.get_yaxis_transform(), textcoords=axes.get_yaxis_transform(),
                      fontsize=8, color=OTHERS, va="center", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": OTHERS, "lw": 0.6})  # fmt: skip


def _name_marks(figure: Figure, axes: Axes, rows: Sequence[tuple[Mapping[str, str], str]]) -> None:
    """Write each system's name and size on a side of its mark where it hides no other."""
    figure.draw_without_rendering()
    radius = {row["system"]: (AREA * float(row["megabytes"]) / 3.14) ** 0.5 for row, _ in rows}
    places = {row["system"]: axes.transData.transform((_speed(row), float(row["sts"]))) for row, _ in rows}
    names: list[Annotation] = []
    for row, color in rows:
        name, point = row["system"], (_speed(row), float(row["sts"]))
        for right, up, align in SIDES:
            away = radius[name] + 4
            offset = right * away, up * (away + 4)
            text = axes.annotate(f"{name}, {row['megabytes']} MB", point, offset, textcoords="offset points",
                                 ha=align, va="center", fontsize=9, color=color)  # fmt: skip
            box = text.get_window_extent()
            hidden = [place for other, place in places.items() if other != name and box.contains(*place)]
            is_outside = box.x0 < axes.bbox.x0 or box.x1 > axes.bbox.x1
            if not (is_outside or hidden or any(box.overlaps(each.get_window_extent()) for each in names)):
                names.append(text)
                break
            text.remove()


if __name__ == "__main__":
    plot_front(PICTURES / "front.csv", [PICTURES / "front.png"])
