"""What all pictures have in common: drawn from a CSV file, with the same bytes for the same figures."""

import csv
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.text import Text

from paraphrastic.base.files import atomic_output


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """Rows of a CSV file with a header."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
