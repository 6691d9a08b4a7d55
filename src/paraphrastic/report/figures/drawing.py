"""What all pictures have in common: drawn from a CSV file, with the same bytes for the same figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from paraphrastic.base.files import atomic_output


def plain_axes(axes: Axes, *, grid: Literal["x", "y", "both"]) -> None:
    """Draw a pale grid behind the figures, and no frame at the top and on the right."""
    axes.grid(axis=grid, color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def save_figure(figure: Figure, outputs: Sequence[str | Path], *, name: str) -> None:
    """Write a figure to files, each in the format of its suffix; `name` tells it from other figures."""
    # Without a date and with names that are not random, the same figures are the same bytes.
    for text in figure.findobj(Text):
        # A dollar in somebody's name begins no formula.
        text.set_parse_math(False)
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        for path in map(Path, outputs):
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            with atomic_output(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], dpi=160, metadata=metadata)
