"""Show the progress of a run: a bar on a terminal, lines in the log, and the run's history.

Each line of the history is a JSON object. There are about a hundred lines per epoch, and one for every score:

    step              mini-batches read
    epoch             epochs done, including the fraction of the current one
    megabatch         M
    loss              mean over the pairs since the previous line
    pairs_per_second  speed since the previous line; checkpoints count as time, scores do not
    seconds           time of the run from its initial parameters on, without scores and without work that
                      was lost when it was killed
    development       the score, or null if there is none

A run that was killed continues its history: lines after its last checkpoint are dropped and written again.
"""

import json
import logging
import time
from pathlib import Path

from tqdm import tqdm

from paraphrastic.base.files import unwritable_named
from paraphrastic_pipeline.training.checkpoint import Progress
from paraphrastic_pipeline.training.durations import in_words

log = logging.getLogger(__name__)

HISTORY = "training.jsonl"
SECONDS_BETWEEN_LOG_LINES = 10.0


class Report:
    """Reports one process's part of a run of `epochs` epochs with `n_pairs` pairs each.

    The run continues from `progress`, and later lines of the file `history` are dropped. The bar shows the
    run's `name`.
    """

    def __init__(self, history: Path, progress: Progress, *, n_pairs: int, epochs: int, name: str) -> None:
        self.n_pairs = n_pairs
        self.epochs = epochs
        self.last_line = time.monotonic()
        self.pairs = progress.epoch * n_pairs + progress.pairs_read
        # The pairs that had been read at some moments, of which the first is where the pace is measured from.
        # The first mini-batch, in which kernels are compiled, does not count.
        self._marks: list[tuple[int, float]] = []
        with unwritable_named(history):
            history.parent.mkdir(parents=True, exist_ok=True)
            self._history = history.open("a", encoding="utf-8")
        # Lines after the checkpoint will be written again.
        self._history.truncate(min(progress.history_bytes, history.stat().st_size))
        escaped = name.replace("{", "{{").replace("}", "}}")
        # `disable=None` shows no bar if there is no terminal.
        self._bar = tqdm(
            total=epochs * n_pairs,
            initial=self.pairs,
            disable=None,
            dynamic_ncols=True,
            # What matters most comes first, since a narrow terminal cuts the end off.
            bar_format=f"{{desc}}{{percentage:3.0f}} % {{bar:10}} {escaped}",
        )

    def step(self, pairs: int) -> None:
        """Move the bar on by a mini-batch of `pairs` pairs."""
        self.pairs += pairs
        self._bar.update(pairs)
        if not self._marks:
            self._marks.append((self.pairs, time.monotonic()))

    def pace(self) -> tuple[float, float]:
        """Pairs per second in the last seconds, and the seconds that the rest will take at this pace."""
        pairs, moment = self._marks[0]
        speed = (self.pairs - pairs) / max(time.monotonic() - moment, 1e-9)
        left = self.epochs * self.n_pairs - self.pairs
        return speed, left / speed if speed else 0.0

    def show(self, progress: Progress, *, megabatch: int, end_of_epoch: bool = False) -> None:
        """Bring the bar up to date and, if it is time, write a line to the log."""
        now = time.monotonic()
        epoch, read = progress.epoch, progress.pairs_read
        loss = progress.epoch_loss / read
        score = "" if progress.development is None else f"  dev {progress.development:.1f}"
        place = f"epoch {epoch + 1}/{self.epochs}"
        speed, left = self.pace()
        told = f"{place}  M {megabatch}  loss {loss:.4f}{score}  {speed:.0f} pairs/s  {in_words(left)} left "
        self._bar.set_description_str(told, refresh=False)
        if not end_of_epoch and now - self.last_line < SECONDS_BETWEEN_LOG_LINES:
            return
        self.last_line = now
        # The mega-batch grows, and so the pace falls: only the last two lines count.
        self._marks = [*self._marks[-1:], (self.pairs, now)]
        done = "done " if end_of_epoch else f"{100 * read // self.n_pairs:3d} %"
        line = "%s %s  M %d  loss %.4f  %.0f pairs/s  %s left%s"
        log.info(line, place, done, megabatch, loss, speed, in_words(left), score)

    def line(self, progress: Progress, *, megabatch: int, scored: bool) -> None:
        """Append a line to the history, about the pairs since the previous line."""
        seconds = progress.seconds - progress.line_seconds
        figures: dict[str, float | None] = {
            "loss": progress.line_loss / progress.line_pairs,
            "pairs_per_second": progress.line_pairs / max(seconds, 1e-9),
            "development": progress.development if scored else None,
        }
        line = {
            "step": progress.batches_read,
            "epoch": round(progress.epoch + progress.pairs_read / self.n_pairs, 4),
            "megabatch": megabatch,
            **{name: value if value is None else round(value, 6) for name, value in figures.items()},
            "seconds": round(progress.seconds, 3),
        }
        with unwritable_named(self._history.name):
            self._history.write(json.dumps(line) + "\n")
            self._history.flush()
        progress.history_bytes = self._history.tell()

    def close(self) -> None:
        """End the bar and close the files."""
        self._bar.close()
        self._history.close()
