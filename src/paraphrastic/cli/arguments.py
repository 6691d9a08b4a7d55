"""Types of arguments that several commands share, and what they show on the terminal."""

import argparse
import math
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import available_cores

# Between two looks of a counter.
_SECONDS = 0.5


def add_model(parser: argparse.ArgumentParser, *, of_others: bool = False) -> None:
    """Add `--model`: one of ours, or of others too."""
    named = ", or a name on the Hub" if of_others else ""
    parser.add_argument("--model", required=True, metavar="DIR", help=f"a model's folder{named}")


def add_input(parser: argparse.ArgumentParser, name: str = "--input", *, holds: str = "text") -> None:
    """Add an argument for a file that is read line by line."""
    parser.add_argument(
        name,
        required=True,
        metavar="FILE",
        help=f"{holds}, also compressed (gzip, bzip2, Zstandard); - is standard input",
    )


def add_language(parser: argparse.ArgumentParser) -> None:
    """Add `--language`, that of all sentences."""
    parser.add_argument("--language", metavar="CODE", help="for a model that tells languages apart")


def add_languages(parser: argparse.ArgumentParser, of: str) -> None:
    """Add `--languages`, those of two files or columns."""
    parser.add_argument(
        "--languages",
        type=pair,
        metavar="PAIR",
        help=f"of the {of}, such as de-en, for a model that tells languages apart",
    )


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add `--threads`."""
    parser.add_argument("--threads", type=count, default=available_cores(), metavar="N", help="(all cores)")


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """Add `--configfile` and `--config`, which are Snakemake's options."""
    parser.add_argument(
        "--configfile", nargs="+", default=[], type=Path, metavar="FILE", help="as snakemake takes them"
    )
    parser.add_argument(
        "--config",
        nargs="+",
        default=[],
        type=lambda text: named(text, "seed=2"),
        metavar="KEY=VALUE",
        help="as snakemake takes them",
    )


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The values of `--config`, which are YAML, by their keys."""
    import yaml

    try:
        return {key: yaml.safe_load(value) for key, value in options.config}
    except yaml.YAMLError:
        raise InputError("--config: a value is not YAML, such as models=[en]") from None


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turn a missing package into an `InputError` that says which extra has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed; pip install 'paraphrastic[{extra}]'") from None


def pair(text: str) -> tuple[str, str]:
    """Two codes of languages, such as en-pl."""
    codes = text.split("-")
    if len(codes) != 2 or codes[0] == codes[1] or not all(re.fullmatch("[a-z]{2,3}", code) for code in codes):
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair such as en-pl")
    return codes[0], codes[1]


def named(text: str, example: str) -> tuple[str, str]:
    """A name and its value, such as seed=2."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not like {example}")
    return name, value


def count(text: str) -> int:
    """A whole number from 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


class Progress:
    """A line on the terminal that says what is being done, and that is empty again at the end of a block."""

    def __init__(self) -> None:
        self._line = ""

    def __enter__(self) -> Self | None:
        return self if sys.stderr.isatty() else None

    def __exit__(self, *_: object) -> None:
        self.clear()

    def __call__(self, what: str, share: float) -> None:
        """Say it, unless it stands there already."""
        self.say(f"{what}: {share:4.0%}")

    def say(self, line: str) -> None:
        """Say something else."""
        if line != self._line:
            self._write(line)

    def clear(self) -> None:
        """Leave the line empty."""
        if self._line:
            self._write("")

    def _write(self, line: str) -> None:
        print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)
        self._line = line


class Counter:
    """A line on a terminal that says how many are done and how fast, twice a second."""

    def __init__(self, what: str) -> None:
        self._what, self._progress = what, Progress()
        self._start = self._last = time.monotonic()

    def __call__(self, done: int) -> None:
        """Say it, unless it was said just now."""
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._last >= _SECONDS:
            self._last = now
            self._progress.say(f"{done:,} {self._what}, {done / (now - self._start):,.0f} a second")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.clear()
