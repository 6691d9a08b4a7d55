"""Picture of the filter funnel: how many pairs of each corpus are kept, and why the others are dropped."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paraphrastic_pipeline.report.figures.plotting import save_figure
from paraphrastic_pipeline.report.shown_tables import read_rows, words

# Label and colour of known fates of a pair. Colour-blind readers can tell apart the colours of Okabe and Ito,
# which most of these are. Others get the next of the spare colours.
_FATES = {
    "kept": ("kept", "#0072b2"),
    "empty": ("empty", "#000000"),
    "rank": ("rank", "#8c6bb1"),
    "length": ("length", "#e69f00"),
    "language": ("language", "#56b4e9"),
    "trigram_overlap": ("trigram overlap", "#009e73"),
    "near_copy": ("near copy", "#7fd4b8"),
    "paraphrase_score": ("paraphrase score", "#f0e442"),
    "duplicates": ("duplicate", "#d55e00"),
    "contaminated": ("contaminated", "#cc79a7"),
    "held_out": ("held out", "#332288"),
    "capped": ("over the cap", "#999999"),
}
_SPARE = ("#8b5a2b", "#b8b800", "#5e3c99", "#ff9da7", "#2f4b4b")
_NO_FATES = ("model", "corpus", "read")
_FATE_ON_DARK = ("kept", "empty", "duplicates", "trigram_overlap", "held_out")
# Parts of a bar that are narrower than this, in %, have no room for a number.
_NARROW = 3.5


def plot_funnel(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Plot a bar for each corpus with the fates of its pairs, from the table of `tabulate_funnel`."""
    rows = read_rows(table)
    figure = Figure(figsize=(10, 0.34 * len(rows) + 1.4), layout="constrained")
    bars = figure.subplots()
    _plot_bars(bars, rows)
    # The legend belongs to the figure: inside axes, a long legend would make them narrower.
    figure.legend(
        loc="outside upper left",
        ncols=6,
        frameon=False,
        fontsize=8.5,
        handlelength=1,
        handletextpad=0.5,
        columnspacing=1.3,
    )
    save_figure(figure, outputs, name="funnel")


def _plot_bars(axes: Axes, rows: Sequence[Mapping[str, str]]) -> None:
    """Plot one horizontal bar per corpus; its full length is 100 % of the corpus's pairs."""
    read = np.array([max(1, int(row["read"])) for row in rows])
    left = np.zeros(len(rows))
    spare = cycle(_SPARE)
    for fate in ("kept", *(name for name in rows[0] if name not in (*_NO_FATES, "kept"))):
        label, colour = _FATES.get(fate) or (words(fate), next(spare))
        shares = 100 * np.array([int(row[fate] or 0) for row in rows]) / read
        if not shares.any():
            continue
        look: dict[str, Any] = {"label": label, "color": colour, "edgecolor": "white", "lw": 0.6}
        bars = axes.barh(range(len(rows)), shares, left=left, **look)
        texts = [f"{share:.1f}" if share >= _NARROW else "" for share in shares]
        ink = "white" if fate in _FATE_ON_DARK else "black"
        axes.bar_label(bars, texts, label_type="center", fontsize=8, color=ink)
        left += shares
    for number, row in enumerate(rows):
        text = f"{int(row['kept']):,} of {int(row['read']):,}"
        axes.text(101, number, text, va="center", fontsize=9)
    axes.set_yticks(range(len(rows)), [f"{row['corpus']}   {row['model']}" for row in rows])
    axes.margins(y=0.02)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the pairs read, by the first reason for which they are dropped")
    axes.set_title("What becomes of the pairs (kept of read)", loc="left", fontsize=11, pad=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
