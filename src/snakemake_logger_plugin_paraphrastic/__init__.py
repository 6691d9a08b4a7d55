"""Snakemake's `--logger paraphrastic`: on a terminal, a line with a bar for each phase, and the time left.

Without a terminal, the output is Snakemake's own, with a line now and then on the time that is left. The
module imports nothing of `paraphrastic` at first, because the workflow decides which copy of the library it
uses.
"""

import logging
import os
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from runpy import run_path
from typing import Any, TextIO

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter, is_quiet_about
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# Seconds between two pictures of a run, and between two lines on the time that is left.
_REFRESH, _REST = 1.0, 30.0
# What begins a warning in a step's log, after the time.
_WARNING = " warning: "
# Events that the picture shows, so that their text is not needed as well.
_SHOWN = (
    *(LogEvent.JOB_INFO, LogEvent.JOB_STARTED, LogEvent.JOB_FINISHED, LogEvent.PROGRESS),
    *(LogEvent.SHELLCMD, LogEvent.RUN_INFO, LogEvent.RESOURCES_INFO),
)


# A module of the library that imports nothing of it.
_YAML = Path(__file__).parents[1] / "paraphrastic_pipeline" / "settings" / "yaml.py"


class LogHandler(LogHandlerBase):
    """Shows a run; see the module.

    It replaces Snakemake's own output, but not its log file. All records are needed to follow a run; those
    that are printed have Snakemake's filter and formatter.
    """

    # The interface declares these as abstract properties, which attributes fulfil as well.
    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        refuse_files(["--configfile", "config/config.yaml", *sys.argv[1:]])
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
        self._progress: Any = None
        self._picture: list[str] = []
        self._told = 0.0
        self._logs: dict[int, list[str]] = {}
        self._over = threading.Event()
        # Records come from a thread of Snakemake's, and the clock ticks in another one.
        self._drawing = threading.RLock()

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record, or what it says about the run."""
        with self._drawing:
            event = getattr(record, "event", None)
            self._take(event, record)
            if self._progress is None or not self._on_terminal:
                self._plain.handle(record)
                if event == LogEvent.PROGRESS:
                    self._tell()
            elif hasattr(record, "is_last"):
                self._finish()
                self._plain.handle(record)
            elif event in _SHOWN:
                self._draw()
            elif event is not None or record.levelno >= logging.WARNING:
                self._erase()
                self._plain.handle(record)
                self._draw()

    def _take(self, event: Any, record: Any) -> None:
        """Follow the run, and show the warnings in the log of a job that has ended."""
        is_dry, following = self.common_settings.dryrun, self._progress is not None
        if event == LogEvent.JOB_INFO:
            self._logs[record.jobid] = list(record.log or ())
            if not following and not is_dry:
                self._begin()
            if self._progress is not None:
                self._progress.begin(record.jobid, record.rule_msg or record.rule_name)
        elif event == LogEvent.JOB_FINISHED:
            if following:
                self._progress.finish(record.job_id)
            for log in () if is_dry else self._logs.pop(record.job_id, ()):
                for line in _warnings(log):
                    self._erase()
                    self._print(line)
        elif event == LogEvent.JOB_ERROR and following:
            self._progress.end(record.jobid)

    def _begin(self) -> None:
        # The workflow has been read, so this is its own library.
        from paraphrastic_pipeline.workflow import hooks

        self._progress = hooks.progress
        if self._progress is not None and self._on_terminal:
            threading.Thread(target=self._tick, daemon=True).start()

    def _tick(self) -> None:
        while not self._over.wait(_REFRESH):
            with self._drawing:
                self._draw()

    def _tell(self) -> None:
        """Say without a terminal how long the rest will take, now and then."""
        if self._progress is None or self._progress.seconds - self._told < _REST:
            return
        self._told = self._progress.seconds
        self._print(self._progress.summary())

    def _print(self, text: str, end: str = "\n") -> None:
        # A run does not end because a terminal is closed or a log is full.
        with suppress(OSError):
            print(text, end=end, file=self._stream, flush=True)

    def _finish(self) -> None:
        """Leave the last picture on the terminal; what follows stands below it."""
        self._over.set()
        if self._picture:
            self._progress.stop()
            self._draw()
            self._picture = []

    def _draw(self) -> None:
        if self._over.is_set() and not self._picture:
            return
        size = shutil.get_terminal_size()
        lines = self._progress.lines(size.columns, size.lines)
        if lines == self._picture:
            return
        self._erase()
        self._print("\n".join(lines))
        self._picture = lines

    def _erase(self) -> None:
        if self._picture:
            # Go up to the first line of the picture, and clear everything from there on.
            self._print(f"\033[{len(self._picture)}F\033[J", end="")
            self._picture = []

    def close(self) -> None:
        """Leave the last picture on the terminal."""
        with self._drawing:
            self._finish()
        super().close()


def _warnings(log: str) -> list[str]:
    """The warnings in a step's log."""
    try:
        lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [f"warning: {line.partition(_WARNING)[2]}" for line in lines if _WARNING in line]


def refuse_files(arguments: Iterable[str]) -> None:
    """End the program if its arguments name a configuration file that `settings.yaml` refuses.

    Snakemake reads these files before the workflow, which checks them. It would not come to an end with some
    of them, and would run the code in others.
    """
    ours = run_path(str(_YAML))
    for path in filter(Path.is_file, _configuration_files(arguments)):
        try:
            ours["read_yaml"](path.read_text(encoding="utf-8", errors="replace"))
        except ours["MarkedYAMLError"] as error:
            line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
            sys.exit(f"{path}{line}: {error.problem}")
        except ValueError:
            # The workflow says more about it.
            continue


def _configuration_files(arguments: Iterable[str]) -> Iterator[Path]:
    named = False
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if argument.startswith("-"):
            named = option in ("--configfile", "--configfiles")
            if named and equals:
                yield Path(value)
        elif named:
            yield Path(argument)
