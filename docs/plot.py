"""Plot the pictures of the documentation from a run of the sample: `python docs/plot.py [RESULTS]`.

Needs what `snakemake --cores all all results/figures/funnel.svg` makes, and writes `docs/pictures/`.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from matplotlib.figure import Figure
from sentencepiece import SentencePieceProcessor

from paraphrastic import load_model
from paraphrastic_pipeline.report.figures.plotting import save_figure

PICTURES = Path(__file__).parent / "pictures"
SENTENCE = "The old musicians were playing in the park."
# Dimensions of a vector that are shown.
SHOWN = 48
SIZES = (1, 10, 60)


def plot_sentence(folder: Path, output: Path) -> None:
    """Draw the pieces of a sentence, the row of each piece, and their average."""
    model = load_model(folder)
    processor = SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))
    pieces = processor.encode(SENTENCE.lower(), out_type=str)
    # A piece alone is embedded as its own row.
    rows = np.stack([model.embed_raw_text([piece.replace("▁", " ")])[0] for piece in pieces])
    average = model.embed_raw_text([SENTENCE])[0]
    strips = np.vstack([rows, average])[:, :SHOWN]
    limit = np.abs(rows[:, :SHOWN]).max()
    figure = Figure(figsize=(8, 0.36 * len(strips) + 1.1), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=[len(rows), 1.15])
    for axes, part, labels in (
        (top, strips[:-1], [piece.replace("▁", "") for piece in pieces]),
        (bottom, strips[-1:], ["the sentence"]),
    ):
        axes.imshow(part, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        axes.set_yticks(range(len(part)), labels, fontsize=10)
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.hlines(np.arange(1, len(part)) - 0.5, -0.5, SHOWN - 0.5, color="white", lw=3)
    top.set_title(
        f"“{SENTENCE}” is cut into {len(pieces)} pieces; each has a row of numbers", loc="left", fontsize=10
    )
    bottom.set_title("the average of the rows is the vector of the sentence", loc="left", fontsize=10)
    bottom.set_xlabel(
        f"the first {SHOWN} of {len(average)} numbers; the darker, the further from zero", fontsize=9
    )
    save_figure(figure, [output], name="sentence")


def plot_negatives(folder: Path, pairs: Path, output: Path) -> None:
    """Draw the cosines of a sentence with its translation and with its negatives in larger mega-batches."""
    model = load_model(folder)
    table = pq.read_table(pairs).slice(0, max(SIZES) * 128)
    texts = list(zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True))
    sentence, translation = next(pair for pair in texts if 4 <= len(pair[0].split()) <= 7)
    others = [target for _, target in texts if target != translation]
    scores = model.score_raw_text([(sentence, other) for other in others])
    bars = [(f"its translation:  {translation}", model.score_raw_text([(sentence, translation)])[0])]
    for count in (min(len(others), size * 128) for size in SIZES):
        hardest = max(range(count), key=scores.__getitem__)
        bars.append((f"hardest of {count:,}:  {others[hardest]}", scores[hardest]))
    figure = Figure(figsize=(8, 0.5 * len(bars) + 0.9), layout="constrained")
    axes = figure.subplots()
    colours = ["#0072b2", *["#d55e00"] * (len(bars) - 1)]
    axes.barh(range(len(bars)), [value for _, value in bars], color=colours)
    for row, (_, value) in enumerate(bars):
        axes.text(value + 0.01, row, f"{value:.2f}", va="center", fontsize=9)
    axes.set_yticks(range(len(bars)), [label for label, _ in bars], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.08)
    axes.set_xlabel("cosine")
    axes.set_title(f"“{sentence}”", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, [output], name="negatives")


def main() -> None:
    """Draw all pictures."""
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    PICTURES.mkdir(exist_ok=True)
    plot_sentence(results / "models/en", PICTURES / "sentence.svg")
    plot_negatives(results / "models/de", results / "corpora/de/pairs.parquet", PICTURES / "negatives.svg")
    shutil.copy(results / "figures/funnel.svg", PICTURES / "funnel.svg")


if __name__ == "__main__":
    main()
