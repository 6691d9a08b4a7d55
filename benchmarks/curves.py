"""Scores in the course of trainings that are compared with each other, and the table of their ends."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic_pipeline.base.tables import read_csv, write_csv

# The compared trainings, in the order of the table, with the names of their curves.
STATIC_EMBEDDING, PAPER, OWN = "static_embedding", "paper", "own"
LABELS = {
    STATIC_EMBEDDING: "StaticEmbedding of sentence-transformers",
    PAPER: "paraphrastic, recipe: paper",
    OWN: "paraphrastic, the model's own settings",
}
# StaticEmbedding once more, with the time in which its batches are made.
WITH_BATCHES = "StaticEmbedding, with the making of batches"
CURVE_COLUMNS = ("dim", "threads", "pairs", "seconds", "seconds_of_batches", "sts")
COMPARISON_COLUMNS = (
    "system", "dim", "threads", "pairs_read", "seconds", "sts", "seconds_to_reach", "sts_at_equal_time",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A score in the course of a training.

    Attributes:
        pairs: number of pairs that were read, counted again in each epoch.
        seconds: time of training, without scores.
        seconds_of_batches: further time in which batches were drawn and cut into pieces, if that was a part
            of the training.
        sts: Pearson's r × 100 on STS 2012–2016, the average over the years.
    """

    pairs: int
    seconds: float
    seconds_of_batches: float = 0.0
    sts: float


# The points of a training, in their order.
Curve = Sequence[Point]


def write_curve(points: Curve, output: Path, *, dim: int, threads: int) -> None:
    """Write a row for each point, with the columns `CURVE_COLUMNS`."""
    about = {"dim": dim, "threads": threads}
    digits = {"pairs": 0, "seconds": 3, "seconds_of_batches": 3, "sts": 2}
    rows = [
        {**about, **{name: f"{value:.{digits[name]}f}" for name, value in asdict(point).items()}}
        for point in points
    ]
    write_csv(output, CURVE_COLUMNS, rows)


def write_curve_of_run(folder: Path, output: Path, *, threads: int) -> None:
    """Write the curve of the run of `train_model` in `folder`, whose scores are those of STS 2012–2016.

    Raises:
        InputError: the history has no scores.
    """
    history, config = folder / "training.jsonl", read_json(folder / "config.json")
    lines = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    points = [
        Point(pairs=round(line["epoch"] * config["pairs"]), seconds=line["seconds"], sts=line["development"])
        for line in lines
        if line["development"] is not None
    ]
    if not points:
        raise InputError(f"{history}: has no scores; the log of the training says why")
    write_curve(points, output, dim=config["training"]["dimension"], threads=threads)


def read_curve(path: str | Path) -> list[Point]:
    """Read the points of a curve; an `InputError` if the file is damaged or has none."""
    try:
        points = [
            Point(
                pairs=int(row["pairs"]),
                **{name: float(row[name]) for name in ("seconds", "seconds_of_batches", "sts")},
            )
            for row in read_csv(path)
        ]
    except (KeyError, ValueError) as error:
        raise InputError(f"{path}: is not a curve of a training: {error!r}") from None
    if not points:
        raise InputError(f"{path}: contains no points")
    return points


def with_batches(curve: Curve) -> list[Point]:
    """The same points, whose time includes that of the batches."""
    return [
        Point(pairs=point.pairs, seconds=point.seconds + point.seconds_of_batches, sts=point.sts)
        for point in curve
    ]


def tabulate_comparison(table: Path, **curves: Path) -> None:
    """Write a row for each training, and one for StaticEmbedding with the time of its batches.

    Columns: `system`, `dim`, `threads`; `pairs_read`, `seconds` and `sts` at the end of the training;
    `seconds_to_reach`, the time of the first point that is not below StaticEmbedding's last one; and
    `sts_at_equal_time`, the score of the last point that is not later than the end of the model's own
    settings. A cell is empty if there is no such point.

    Args:
        table: the CSV file.
        curves: the curves of `STATIC_EMBEDDING`, `PAPER` and `OWN`.
    """
    read = {name: read_curve(path) for name, path in curves.items()}
    goal, end = read[STATIC_EMBEDDING][-1].sts, read[OWN][-1].seconds
    rows = []
    for name, path in curves.items():
        about = {key: read_csv(path)[0][key] for key in ("dim", "threads")}
        rows.append({"system": LABELS[name], **about, **_figures(read[name], goal, end)})
        if name == STATIC_EMBEDDING:
            rows.append({"system": WITH_BATCHES, **about, **_figures(with_batches(read[name]), goal, end)})
    write_csv(table, COMPARISON_COLUMNS, rows)


def _figures(curve: Curve, goal: float, end: float) -> dict[str, str]:
    reached = next((point.seconds for point in curve if point.sts >= goal), None)
    then = next((point.sts for point in reversed(curve) if point.seconds <= end), None)
    return {
        "pairs_read": str(curve[-1].pairs),
        "seconds": f"{curve[-1].seconds:.1f}",
        "sts": f"{curve[-1].sts:.1f}",
        "seconds_to_reach": "" if reached is None else f"{reached:.1f}",
        "sts_at_equal_time": "" if then is None else f"{then:.1f}",
    }
