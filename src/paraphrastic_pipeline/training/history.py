"""The history of a run: a file of JSON lines, and lines in the log.

Each line of the history is a JSON object. There are about a hundred lines per epoch, and one for every score:

    step              mini-batches read
    epoch             epochs done, including the fraction of the current one
    megabatch         M
    loss              mean over the pairs since the previous line
    pairs_per_second  speed since the previous line, without scores
    seconds           time of the run without scores, and without work that was lost when it was killed
    development       the score, or null if there is none

A run that was killed continues its history: lines after its last checkpoint are dropped and written again.
"""

import json
import logging
import time
from pathlib import Path

from paraphrastic.base.files import unwritable_named
from paraphrastic_pipeline.training.checkpoint import Progress

log = logging.getLogger(__name__)

HISTORY = "training.jsonl"
_LINES_AN_EPOCH = 100
_SECONDS_BETWEEN_LOG_LINES = 10.0


class History:
    """Writes the history of a run of `epochs` epochs with `n_pairs` pairs each to the file `path`."""

    def __init__(self, path: Path, *, n_pairs: int, epochs: int) -> None:
        self.path, self.n_pairs, self.epochs = path, n_pairs, epochs
        self._logged, self._logged_pairs = time.monotonic(), 0

    def start(self, progress: Progress) -> None:
        """Write what the history has so far."""
        with unwritable_named(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text("".join(progress.lines), encoding="utf-8")
        self._logged_pairs = self._pairs(progress)

    def add(self, progress: Progress, *, megabatch: int, before: int) -> None:
        """Report on a mega-batch, before which `before` pairs of the epoch had been read.

        The history and the log get a line if one is due.
        """
        epoch, read, n = progress.epoch, progress.pairs_read, self.n_pairs
        lines = [(epoch * n + pairs) * _LINES_AN_EPOCH // n for pairs in (before, read)]
        if progress.is_scored or lines[1] > lines[0]:
            self._add_line(progress, megabatch)
        now = time.monotonic()
        if read < n and now - self._logged < _SECONDS_BETWEEN_LOG_LINES:
            return
        pairs = self._pairs(progress)
        speed = (pairs - self._logged_pairs) / max(now - self._logged, 1e-9)
        left = in_words((self.epochs * n - pairs) / max(speed, 1e-9))
        score = "" if progress.development is None else f"  development {progress.development:.1f}"
        done, loss = 100 * read // n, progress.epoch_loss / read
        line = "epoch %d/%d %3d %%  M %d  loss %.4f  %.0f pairs/s  %s left%s"
        log.info(line, epoch + 1, self.epochs, done, megabatch, loss, speed, left, score)
        self._logged, self._logged_pairs = now, pairs

    def _add_line(self, progress: Progress, megabatch: int) -> None:
        seconds = progress.seconds - progress.line_seconds
        score = progress.development if progress.is_scored else None
        line = {
            "step": progress.batches_read,
            "epoch": round(progress.epoch + progress.pairs_read / self.n_pairs, 4),
            "megabatch": megabatch,
            "loss": round(progress.line_loss / progress.line_pairs, 6),
            "pairs_per_second": round(progress.line_pairs / max(seconds, 1e-9), 6),
            "development": None if score is None else round(score, 6),
            "seconds": round(progress.seconds, 3),
        }
        progress.lines.append(json.dumps(line) + "\n")
        with unwritable_named(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(progress.lines[-1])
        progress.line_loss, progress.line_pairs, progress.is_scored = 0.0, 0, False
        progress.line_seconds = progress.seconds

    def _pairs(self, progress: Progress) -> int:
        return progress.epoch * self.n_pairs + progress.pairs_read


def in_words(seconds: float) -> str:
    """Seconds as `40 seconds`, `25 minutes`, `3.5 hours` or `4.0 days`."""
    for unit, size in (("days", 86400), ("hours", 3600)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    if seconds >= 120:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds:.0f} second{'s' * (round(seconds) != 1)}"
