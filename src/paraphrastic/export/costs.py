"""What a smaller model costs and gains: bytes, sentences a second, points on STS."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraphrastic.model import SentenceEncoder

# Sentences that speed is measured on, and how often; the median counts.
_SENTENCES, _REPEATS = 20_000, 3


@dataclass(frozen=True, slots=True)
class Costs:
    """One model's figures.

    Attributes:
        size: bytes of all files of its folder.
        speed: sentences embedded a second, from raw text, on all cores.
        sts: Pearson's r × 100, averaged over STS 2012–2016; None where no test sets were given.
    """

    size: int
    speed: float
    sts: float | None


def measure(
    model: SentenceEncoder, folder: Path, sentences: Sequence[str], testsets: Path | None = None
) -> Costs:
    """The figures of a model.

    Args:
        model: the model of the folder.
        folder: its files.
        sentences: what speed is measured on, again and again.
        testsets: Parquet file of `prepare_sts`.
    """
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    texts = [sentences[number % len(sentences)] for number in range(_SENTENCES)]
    model.embed_raw_text(texts)
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        model.embed_raw_text(texts)
        times.append(time.perf_counter() - start)
    score = None
    if testsets is not None:
        # Not at the top: only this needs what reads test sets.
        from paraphrastic.evaluation.development import average_score

        score = average_score(model, testsets)
    return Costs(size, _SENTENCES / statistics.median(times), score)


def cost_table(before: Costs, after: Costs) -> list[tuple[str, str]]:
    """What a reduction cost, for a person to read."""
    rows = [
        ("size", f"{_bytes(after.size)}, of {_bytes(before.size)}"),
        (
            "speed",
            f"{after.speed:,.0f} sentences a second, {after.speed / before.speed:.2f} times the model's",
        ),
    ]
    if before.sts is None or after.sts is None:
        return [*rows, ("STS 2012–2016", "not measured: --sts names the test sets")]
    lost = before.sts - after.sts
    return [*rows, ("STS 2012–2016", f"{after.sts:.2f}, of {before.sts:.2f}: {lost:.2f} points lost")]


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
