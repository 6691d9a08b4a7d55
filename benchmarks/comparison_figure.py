"""A picture of trainings beside each other: their scores over time and over the pairs that they read."""

from collections.abc import Sequence
from pathlib import Path

from curves import LABELS, OWN, PAPER, STATIC_EMBEDDING, WITH_BATCHES, Curve, read_curve, with_batches
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, NullFormatter

from paraphrastic_pipeline.report.figures.plotting import plain_axes, plot_panels, save_figure

# Colour, and a mark that can be recognised without colour.
_LOOKS = {STATIC_EMBEDDING: ("#d55e00", "s"), PAPER: ("#777777", "D"), OWN: ("#0072b2", "o")}


def plot_comparison(outputs: Sequence[str | Path], **curves: str | Path) -> None:
    """Plot the scores of each training over the seconds of training, and over the millions of pairs read.

    StaticEmbedding has a second, dashed curve over time, which includes the making of its batches. A thin
    line marks the score at which it ends. `curves` has a file of `write_curve` for each name in `LABELS`.
    """
    read = {name: read_curve(path) for name, path in curves.items()}
    figure, (over_time, over_pairs) = plot_panels(2, 2, (5, 4.2), (0, 0), sharey=True)
    for name, curve in read.items():
        colour, mark = _LOOKS[name]
        look = {"color": colour, "marker": mark, "ms": 4, "lw": 1.4}
        _plot(over_time, curve, [point.seconds for point in curve], label=LABELS[name], **look)
        if name == STATIC_EMBEDDING:
            longer = [point.seconds for point in with_batches(curve)]
            _plot(over_time, curve, longer, label=WITH_BATCHES, **{**look, "ls": "--", "mfc": "white"})
        _plot(over_pairs, curve, [point.pairs / 1e6 for point in curve], **look)
    for axes in (over_time, over_pairs):
        axes.axhline(read[STATIC_EMBEDDING][-1].sts, color=_LOOKS[STATIC_EMBEDDING][0], lw=0.6, zorder=1)
        plain_axes(axes, grid="both")
    # The slowest training can take many times as long as the fastest one.
    over_time.set_xscale("log")
    over_time.xaxis.set_major_formatter(EngFormatter(sep=""))
    over_time.xaxis.set_minor_formatter(NullFormatter())
    over_time.set_xlabel("seconds of training, on a logarithmic scale")
    over_pairs.set_xlabel("pairs read, in millions")
    over_time.set_ylabel("Pearson's r × 100, STS 2012–2016")
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    save_figure(figure, outputs, name="comparison")


def _plot(axes: Axes, curve: Curve, places: Sequence[float], **look: object) -> None:
    axes.plot(places, [point.sts for point in curve], **look)  # type: ignore[arg-type]
