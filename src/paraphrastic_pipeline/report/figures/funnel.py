"""Picture of the filter funnel: how many pairs of each corpus are kept, and why the others are dropped."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from paraphrastic_pipeline.report.figures.plotting import numbers, save_figure
from paraphrastic_pipeline.report.shown_tables import read_rows, words

# The colours of Okabe and Ito, which colour-blind readers can tell apart, and some more.
_KEPT = "#0072b2"
_OTHERS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#d55e00", "#cc79a7", "#999999", "#7fd4b8", "#b39ddb")
# Parts of a bar that are narrower than this, in %, have no room for a number.
_NARROW = 3.5


def plot_funnel(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot a bar for each corpus with the fates of its pairs, from the table of `tabulate_funnel`."""
    rows = read_rows(table)
    figure = Figure(figsize=(10, 0.34 * len(rows) + 1.4), layout="constrained")
    axes = figure.subplots()
    read, left = np.maximum(1, numbers(rows, "read")), np.zeros(len(rows))
    colours = cycle(_OTHERS)
    for fate in ("kept", *(name for name in rows[0] if name not in ("model", "corpus", "read", "kept"))):
        shares = np.nan_to_num(100 * numbers(rows, fate) / read)
        if not shares.any():
            continue
        colour = _KEPT if fate == "kept" else next(colours)
        bars = axes.barh(
            range(len(rows)), shares, left=left, label=words(fate), color=colour, edgecolor="white", lw=0.6
        )
        texts = [f"{share:.1f}" if share >= _NARROW else "" for share in shares]
        ink = "white" if fate == "kept" else "black"
        axes.bar_label(bars, texts, label_type="center", fontsize=8, color=ink)
        left += shares
    for place, row in enumerate(rows):
        axes.text(101, place, f"{int(row['kept']):,} of {int(row['read']):,}", va="center", fontsize=9)
    axes.set_yticks(range(len(rows)), [f"{row['corpus']}   {row['model']}" for row in rows])
    axes.margins(y=0.02)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the pairs read, by the first reason for which they are dropped")
    axes.set_title("What becomes of the pairs (kept of read)", loc="left", fontsize=11, pad=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    # The legend belongs to the figure: inside axes, a long legend would make them narrower.
    figure.legend(loc="outside upper left", ncols=6, frameon=False, fontsize=8.5, handlelength=1)
    save_figure(figure, outputs, name="funnel")
