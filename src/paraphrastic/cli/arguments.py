"""Commands and their arguments, the types of arguments, and what commands show on the terminal."""

import argparse
import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import Any, Self

from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import available_cores

# Adds itself to a parser.
Argument = Callable[[argparse.ArgumentParser], object]
Run = Callable[..., None]
# Between two looks of a counter.
_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Command:
    """What the command line knows of a command; `run` is called with its arguments by their names."""

    run: Run
    help: str
    description: str
    example: str
    arguments: tuple[Argument, ...]


def command(help: str, description: str, example: str, *arguments: Argument) -> Callable[[Run], Command]:
    """Make a command of a function, which has the command's name and takes the arguments by theirs."""
    return lambda run: Command(run, help, description, example, arguments)


def argument(*names: str, **settings: Any) -> Argument:
    """An argument, as `add_argument` of a parser takes it."""
    return methodcaller("add_argument", *names, **settings)


def flag(name: str, help: str, **settings: Any) -> Argument:
    """An argument without a value."""
    return argument(name, action="store_true", help=help, **settings)


def file(name: str, help: str, **settings: Any) -> Argument:
    """A file."""
    return argument(name, metavar="FILE", help=help, **settings)


def choice(name: str, values: tuple[str, ...], help: str, **settings: Any) -> Argument:
    """One of several values, the first of them by default."""
    return argument(name, choices=values, default=values[0], help=help, **settings)


def several(name: str, metavar: str, help: str, type: Callable[[str], object] = str) -> Argument:
    """One value or more, by default none."""
    return argument(name, nargs="+", default=[], type=type, metavar=metavar, help=help)


def group(title: str, description: str, *arguments: Argument) -> Argument:
    """Arguments under a title of their own."""

    def add(parser: argparse.ArgumentParser) -> None:
        own = parser.add_argument_group(title, description)
        for each in arguments:
            each(own)  # type: ignore[arg-type]

    return add


def model(*, of_others: bool = False) -> Argument:
    """`--model`: one of ours, or of others too."""
    named = ", or a name on the Hub" if of_others else ""
    return argument("--model", required=True, metavar="DIR", help=f"a model's folder{named}")


def lines(name: str = "--input", holds: str = "text", dest: str = "source") -> Argument:
    """A file that is read line by line."""
    help = f"{holds}, also compressed (gzip, bzip2, Zstandard); - is standard input"
    return file(name, help, dest=dest, required=True)


def output(help: str, metavar: str = "FILE") -> Argument:
    """`--output`."""
    return argument("--output", required=True, metavar=metavar, help=help)


def counted(name: str, help: str, default: int | None = None) -> Argument:
    """A whole number from 1."""
    return argument(name, type=count, default=default, metavar="N", help=help)


def min_score(what: str) -> Argument:
    """`--min-score`."""
    return argument("--min-score", type=number, metavar="T", help=f"leave out {what} below (keep all)")


def languages(of: str, default: Any = None) -> Argument:
    """`--languages`, those of two files or columns."""
    help = f"of the {of}, such as de-en, for a model that tells languages apart"
    return argument("--languages", type=pair, default=default, metavar="PAIR", help=help)


def settings_of(config: list[tuple[str, str]]) -> dict[str, Any]:
    """The values of `--config`, which are YAML, by their keys."""
    import yaml

    try:
        return {key: yaml.safe_load(value) for key, value in config}
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


LANGUAGE = argument("--language", metavar="CODE", help="for a model that tells languages apart")
CONFIGFILE = several("--configfile", "FILE", "as snakemake takes them", Path)
CONFIG = several("--config", "KEY=VALUE", "as snakemake takes them", lambda text: named(text, "seed=2"))
THREADS = counted("--threads", "(all cores)", available_cores())


class Progress:
    """A line on the terminal that says what is being done, and that is empty again at the end of a block."""

    def __init__(self) -> None:
        self._line = ""

    def __enter__(self) -> Self | None:
        return self if sys.stderr.isatty() else None

    def __exit__(self, *_: object) -> None:
        self.say("")

    def __call__(self, what: str, share: float) -> None:
        """Say how much of something is done."""
        self.say(f"{what}: {share:4.0%}")

    def say(self, line: str) -> None:
        """Say it, unless it stands there already."""
        if line != self._line:
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
        self._progress.say("")
