"""Snakemake's `--logger paraphrastic`: on a terminal, one bar with the steps that are done and what runs.

Without a terminal, the output is Snakemake's own. In both cases, warnings in the log of a job that has ended
are shown.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter, is_quiet_about
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from tqdm import tqdm

# What begins a warning in a step's log, after the time.
_WARNING = " warning: "
# Events that the bar shows, so that their text is not needed as well.
_SHOWN = (
    *(LogEvent.JOB_INFO, LogEvent.JOB_STARTED, LogEvent.JOB_FINISHED, LogEvent.PROGRESS),
    *(LogEvent.SHELLCMD, LogEvent.RUN_INFO, LogEvent.RESOURCES_INFO),
)
_BAR = "{n_fmt} of {total_fmt} steps {bar:20} {elapsed}, about {remaining} left  {desc}"


class LogHandler(LogHandlerBase):
    """Shows a run; see the module. It replaces Snakemake's own output, but not its log file."""

    # The interface declares these as abstract properties, which attributes fulfil as well.
    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        settings = self.common_settings
        # Without a stream, nothing is shown.
        stream = sys.stdout if settings.stdout else sys.stderr
        self._stream: TextIO = stream or open(os.devnull, "w")  # noqa: PTH123, SIM115
        self._plain = ColorizingTextHandler(nocolor=settings.nocolor, stream=self._stream)
        self._plain.setFormatter(DefaultFormatter(settings.quiet, settings.show_failed_logs))
        self._plain.addFilter(
            DefaultFilter(
                settings.quiet, settings.debug_dag, settings.verbose, settings.dryrun,
                getattr(settings, "printshellcmds", False),
            )
        )  # fmt: skip
        wanted = not (settings.dryrun or settings.verbose or is_quiet_about(settings.quiet or (), "progress"))
        self._on_terminal = wanted and self._stream.isatty()
        self._bar: Any = None
        self._logs: dict[int, list[str]] = {}
        self._running: dict[int, str] = {}

    def emit(self, record: Any) -> None:
        """Show a record, or what it says about the run."""
        event = getattr(record, "event", None)
        # A run does not end because a terminal is closed or a log is full.
        with suppress(OSError):
            if not self._on_terminal or event not in _SHOWN:
                self._above(lambda: self._plain.handle(record))
            if event == LogEvent.JOB_INFO and not self.common_settings.dryrun:
                self._logs[record.jobid] = list(record.log or ())
                self._running[record.jobid] = record.rule_msg or record.rule_name
            elif event == LogEvent.JOB_FINISHED:
                self._running.pop(record.job_id, None)
                for log in self._logs.pop(record.job_id, ()):
                    self._show_warnings(Path(log))
            elif event == LogEvent.JOB_ERROR:
                self._running.pop(record.jobid, None)
            if self._on_terminal:
                self._update(event, record)

    def _update(self, event: Any, record: Any) -> None:
        """Bring the bar up to date."""
        if event == LogEvent.RUN_INFO:
            total = int(getattr(record, "stats", {}).get("total", 0))
            self._bar = tqdm(total=total, file=self._stream, bar_format=_BAR, dynamic_ncols=True, leave=True)
        if self._bar is None:
            return
        if event == LogEvent.PROGRESS:
            self._bar.total = record.total
            self._bar.update(record.done - self._bar.n)
        running = list(self._running.values())
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        self._bar.set_description_str(f"{running[0]}{more}" if running else "")

    def _above(self, show: Any) -> None:
        """Show something above the bar."""
        if self._bar is not None:
            self._bar.clear()
        show()
        if self._bar is not None:
            self._bar.refresh()

    def _show_warnings(self, log: Path) -> None:
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        for line in text.splitlines():
            if _WARNING in line:
                told = f"warning: {line.partition(_WARNING)[2]}"
                self._above(lambda told=told: print(told, file=self._stream, flush=True))

    def close(self) -> None:
        """Leave the bar on the terminal."""
        if self._bar is not None:
            self._bar.close()
        super().close()
