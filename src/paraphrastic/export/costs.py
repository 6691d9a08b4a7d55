"""What a smaller model costs and gains: bytes, sentences a second, points on STS."""

import statistics
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paraphrastic.model import RawTextEncoder

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
    model: RawTextEncoder, folder: Path, sentences: Sequence[str], testsets: Path | None = None
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


@contextmanager
def opened_testsets(path: str | None) -> Iterator[Path | None]:
    """Parquet file of test sets of STS, which may be given as their archive; None of none."""
    if path is None or not zipfile.is_zipfile(path):
        yield Path(path) if path else None
        return
    from paraphrastic.evaluation.sts_data import prepare_sts

    with tempfile.TemporaryDirectory() as folder:
        prepare_sts(Path(path), Path(folder, "sts.parquet"))
        yield Path(folder, "sts.parquet")


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
