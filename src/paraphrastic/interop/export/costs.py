"""What a smaller model costs and gains: bytes, sentences a second, points on STS."""

import math
import statistics
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from timeit import timeit

from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder

# Sentences that speed is measured on at a time; how long a measurement takes at least, in seconds, and how
# often each model has its turn.
_SENTENCES, _SECONDS, _TURNS = 1 << 14, 0.2, 7


@dataclass(frozen=True, slots=True)
class Original:
    """A model that was made smaller.

    Attributes:
        model: an average of one table.
        folder: of the model.
        testsets: Parquet file of `prepare_sts`; None, if points on STS are not to be measured.
    """

    model: AverageEncoder
    folder: Path
    testsets: Path | None = None


def cost_table(
    original: Original, model: AverageEncoder, folder: Path, sentences: Sequence[str]
) -> list[tuple[str, str]]:
    """What a reduction cost, for a person to read: bytes of all files, speed on all cores, Pearson's r × 100.

    Args:
        original: the model before.
        model: the smaller one.
        folder: its files.
        sentences: what speed is measured on, again and again.

    Raises:
        InputError: the test sets are none.
    """
    points = "not measured: --sts names the test sets"
    if original.testsets is not None:
        # Not at the top: only this needs what reads test sets.
        from paraphrastic.evaluation.development import average_score

        before, after = (average_score(each, original.testsets) for each in (original.model, model))
        points = f"{after:.2f}, of {before:.2f}: {before - after:.2f} points lost"
    sizes = [_size(each) for each in (folder, original.folder)]
    speed, times = _speed(original.model, model, sentences)
    return [
        ("size", "{:,.1f} MB, of {:,.1f} MB".format(*(size / 1e6 for size in sizes))),
        ("speed", f"{speed:,.0f} sentences a second, {times:.2f} times the model's"),
        ("STS 2012–2016", points),
    ]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _speed(first: SentenceEncoder, second: SentenceEncoder, sentences: Sequence[str]) -> tuple[float, float]:
    """Sentences a second of the second model, and how many times those of the first they are.

    The models take turns, and the median of each turn's ratio counts: what else the machine does is there
    for both.
    """
    texts = [sentences[number % len(sentences)] for number in range(_SENTENCES)]
    models = (first, second)
    for model in models:
        _seconds(model, texts, 1)
    repeats = [max(1, math.ceil(_SECONDS / _seconds(model, texts, 1))) for model in models]
    turns = [
        tuple(_seconds(model, texts, number) / number for model, number in zip(models, repeats, strict=True))
        for _ in range(_TURNS)
    ]
    ratio = statistics.median(before / after for before, after in turns)
    return _SENTENCES / statistics.median(after for _, after in turns), ratio


def _seconds(model: SentenceEncoder, texts: list[str], repeats: int) -> float:
    return timeit(lambda: model.embed_raw_text(texts), timer=time.perf_counter, number=repeats)


@contextmanager
def opened_testsets(path: str | None) -> Iterator[Path | None]:
    """Parquet file of test sets of STS, which may be given as their archive; None of none."""
    if path is None:
        yield None
        return
    from paraphrastic.evaluation.sts_data import prepare_sts

    if not zipfile.is_zipfile(path):
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        prepare_sts(Path(path), Path(folder, "sts.parquet"))
        yield Path(folder, "sts.parquet")
