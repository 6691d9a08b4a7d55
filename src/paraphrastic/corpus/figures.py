"""Pictures of what became of the pairs of the corpora, and of what models learn from parts of them."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paraphrastic.errors import InputError
from paraphrastic.files import atomic_output

# What can become of a pair, with colours by Okabe and Ito, which the colour-blind can tell apart; the kept
# pairs have the darkest.
_FATES = {
    "kept": ("kept", "#0072b2"),
    "empty": ("empty", "#000000"),
    "length": ("length", "#e69f00"),
    "language": ("language", "#56b4e9"),
    "trigram_overlap": ("trigram overlap", "#009e73"),
    "near_copy": ("near copy", "#7fd4b8"),
    "paraphrase_score": ("paraphrase score", "#f0e442"),
    "duplicates": ("duplicate", "#d55e00"),
    "near_duplicates": ("near duplicate", "#f6b48f"),
    "contaminated": ("contaminated", "#cc79a7"),
    "capped": ("over the cap", "#999999"),
}
_FATE_ON_DARK = ("kept", "empty", "duplicates", "trigram_overlap")
# Measures that pairs are ranked by: name, colour, and a mark that is told apart without colour.
_MEASURES = {
    "paraphrase_score": ("paraphrase score", "#0072b2", "o"),
    "trigram_overlap": ("trigram overlap", "#d55e00", "s"),
    "translation_score": ("translation score", "#009e73", "^"),
}
# Narrower parts, in %, have no number in them.
_NARROW = 3.5


def draw_funnel(funnel: str | Path, overlap: str | Path, outputs: Sequence[str | Path]) -> None:
    """Draw each corpus as a bar of what became of its pairs, and which filters drop the same ones.

    Args:
        funnel: CSV file of `tabulate_funnel`.
        overlap: the other CSV file; its corpora are added up.
        outputs: files to write, each in the format of its suffix.

    Raises:
        InputError: a table without rows.
    """
    rows, pairs = _rows(funnel), _rows(overlap)
    if not rows:
        raise InputError(f"{funnel}: there are no corpora in it")
    # A filter that drops nothing has nothing in common with another.
    failing = [row["filter"] for row in pairs if int(row[row["filter"]])]
    reasons = [reason for reason in _FATES if reason in failing]
    height = 0.34 * len(rows)
    side = 0.55 * len(reasons)
    figure = Figure(figsize=(10, height + side + (3.0 if reasons else 1.4)), layout="constrained")
    if reasons:
        heights = [height + 1.0, side + 0.9]
        bars, squares = figure.subplots(2, 1, height_ratios=heights, gridspec_kw={"hspace": 0.12})
        _draw_overlap(squares, pairs, reasons)
    else:
        bars = figure.subplots()
    _draw_bars(bars, rows)
    # Beside no axes, which a long legend would make narrower.
    figure.legend(
        loc="outside upper left",
        ncols=len(_FATES),
        frameon=False,
        fontsize=8.5,
        handlelength=1,
        handletextpad=0.5,
        columnspacing=1.3,
    )
    _save(figure, outputs, name="funnel")


def draw_filter_study(table: str | Path, outputs: Sequence[str | Path]) -> None:
    """Draw what models learn from each part of a ranking: a curve a measure, on both test sets.

    The best part of a ranking, by the development data, is the filled mark.

    Args:
        table: CSV file of `tabulate_filter_study`; published rows, which have no part, are not drawn.
        outputs: files to write, each in the format of its suffix.

    Raises:
        InputError: a table without measured rows.
    """
    rows = [row for row in _rows(table) if row["part"]]
    if not rows:
        raise InputError(f"{table}: there are no parts in it")
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, 2)
    titles = {
        "development": "STS 2017 en-en, by which the best is chosen",
        "sts": "STS 2012–2016, average",
    }
    measures = list(dict.fromkeys(row["rank_by"] for row in rows))
    for axes, (score, title) in zip(panels, titles.items(), strict=True):
        for number, measure in enumerate(measures):
            own = [row for row in rows if row["rank_by"] == measure]
            # Beside each other, so that intervals do not hide each other.
            shift = 0.12 * (number - (len(measures) - 1) / 2)
            _draw_curve(axes, own, score, measure, shift)
        parts = sorted({int(row["part"]) for row in rows})
        axes.set_xticks(parts)
        axes.set_xlabel("part of the ranked pairs, from the lowest values to the highest")
        axes.set_title(title, loc="left", fontsize=11, pad=8)
        axes.grid(axis="y", color="#dddddd", lw=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("Pearson's r × 100")
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside upper left",
        ncols=len(measures),
        frameon=False,
        fontsize=9,
        title="ranked by; filled: the best part; bars: 95 % intervals",
        title_fontsize=9,
        alignment="left",
    )
    _save(figure, outputs, name="filter_study")


def _draw_curve(
    axes: Axes, rows: Sequence[Mapping[str, str]], score: str, measure: str, shift: float
) -> None:
    """One measure's scores over the parts, with intervals where the table has them."""
    label, colour, mark = _MEASURES[measure]
    places = np.array([int(row["part"]) for row in rows]) + shift
    values = np.array([float(row[score]) for row in rows])
    axes.plot(places, values, color=colour, lw=1.4, marker=mark, mfc="white", ms=6, label=label)
    if f"{score}_low" in rows[0]:
        low, high = (np.array([float(row[f"{score}_{end}"]) for row in rows]) for end in ("low", "high"))
        # A percentile interval need not hold the estimate itself.
        beyond = np.maximum([values - low, high - values], 0)
        axes.errorbar(places, values, beyond, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)
    best = [row["best"] == "yes" for row in rows]
    axes.plot(places[best], values[best], color=colour, ls="none", marker=mark, ms=8)


def _save(figure: Figure, outputs: Sequence[str | Path], *, name: str) -> None:
    # Without a date and with names that are not random, the same figures are the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        for path in map(Path, outputs):
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            with atomic_output(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], dpi=160, metadata=metadata)


def _draw_bars(axes: Axes, rows: Sequence[Mapping[str, str]]) -> None:
    """One horizontal bar a corpus, 100 % of its pairs long."""
    read = np.array([max(1, int(row["read"])) for row in rows])
    left = np.zeros(len(rows))
    for fate, (label, colour) in _FATES.items():
        shares = 100 * np.array([int(row[fate] or 0) for row in rows]) / read
        if not shares.any():
            continue
        axes.barh(range(len(rows)), shares, left=left, label=label, color=colour, edgecolor="white", lw=0.6)
        for number, share in enumerate(shares):
            if share >= _NARROW:
                ink = "white" if fate in _FATE_ON_DARK else "black"
                place = (left[number] + share / 2, number)
                axes.text(*place, f"{share:.1f}", ha="center", va="center", fontsize=8, color=ink)
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


def _draw_overlap(axes: Axes, pairs: Sequence[Mapping[str, str]], reasons: Sequence[str]) -> None:
    """A square for every two filters: of the pairs that the row's drops, the share that the column's does."""
    both = np.array(
        [
            [sum(int(p[column] or 0) for p in pairs if p["filter"] == row) for column in reasons]
            for row in reasons
        ]
    )
    fails = both.diagonal()
    shares = 100 * both / np.maximum(fails, 1)[:, None]
    np.fill_diagonal(shares, np.nan)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=100, aspect="auto")
    for row in range(len(reasons)):
        for column in range(len(reasons)):
            share = shares[row, column]
            text = f"{both[row, column]:,}"
            if row != column and share > 0:
                text += f"\n{share:.0f} %" if share >= 1 else "\nunder 1 %"
            ink = "white" if share > 60 else "black"
            weight = "bold" if row == column else "normal"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=ink, weight=weight)
    names = [_FATES[reason][0] for reason in reasons]
    axes.set_xticks(range(len(reasons)), names)
    axes.set_yticks(range(len(reasons)), names)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(
        "Which filters drop the same pairs, all corpora together: pairs that both drop, and their share of\n"
        "those that the row's filter drops; in bold, all that a filter drops by itself",
        loc="left",
        fontsize=11,
        pad=10,
    )


def _rows(path: str | Path) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
