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
from datetime import timedelta
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
        self._logged = time.monotonic()

    def start(self, progress: Progress) -> None:
        """Write what the history has so far."""
        with unwritable_named(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text("".join(progress.lines), encoding="utf-8")

    def add(self, progress: Progress, *, megabatch: int, before: int, score: float | None) -> None:
        """Report on a mega-batch, before which `before` pairs of the epoch were read, if a line is due."""
        read, n = progress.pairs_read, self.n_pairs
        hundredths = [(progress.epoch * n + pairs) * _LINES_AN_EPOCH // n for pairs in (before, read)]
        if score is None and hundredths[0] == hundredths[1]:
            return
        loss = progress.line_loss / progress.line_pairs
        speed = progress.line_pairs / max(progress.seconds - progress.line_seconds, 1e-9)
        line = {
            "step": progress.batches_read,
            "epoch": round(progress.epoch + read / n, 4),
            "megabatch": megabatch,
            "loss": round(loss, 6),
            "pairs_per_second": round(speed, 6),
            "development": None if score is None else round(score, 6),
            "seconds": round(progress.seconds, 3),
        }
        progress.lines.append(json.dumps(line) + "\n")
        with unwritable_named(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(progress.lines[-1])
        progress.line_loss, progress.line_pairs, progress.line_seconds = 0.0, 0, progress.seconds
        if score is None and read < n and time.monotonic() - self._logged < _SECONDS_BETWEEN_LOG_LINES:
            return
        self._logged = time.monotonic()
        left = timedelta(seconds=round(((self.epochs - progress.epoch) * n - read) / speed))
        shown = "" if score is None else f"  development {score:.1f}"
        text = "epoch %d/%d %3d %%  M %d  loss %.4f  %.0f pairs/s  %s left%s"
        log.info(text, progress.epoch + 1, self.epochs, 100 * read // n, megabatch, loss, speed, left, shown)
