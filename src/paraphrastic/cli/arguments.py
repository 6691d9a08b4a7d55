"""Building blocks of commands: arguments, their types, and progress on the terminal."""

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import escaped, on_one_line
from paraphrastic.base.numbers import is_count, read_number
from paraphrastic.base.threads import available_cores

if TYPE_CHECKING:
    from paraphrastic.base.rows import BadRow, Source

# Rows that cannot be read are named up to this number.
_SHOWN_BAD_ROWS = 10

# An argument adds itself to a parser. A command adds itself to the others, and returns its name and help.
Argument = Callable[[argparse.ArgumentParser], object]
Command = Callable[[Any], tuple[str, str]]
Action = Callable[..., None]
# Keeps the lines of examples, and explains options beside their names.
_Formatter: Any = partial(argparse.RawDescriptionHelpFormatter, max_help_position=28)


def command(help: str, description: str, example: str, *arguments: Argument) -> Callable[[Action], Command]:
    """Make a function a command of the same name; it takes the command's arguments by their names."""

    def made(run: Action) -> Command:
        def add(commands: Any) -> tuple[str, str]:
            name = run.__name__.replace("_", "-")
            parser = commands.add_parser(
                name, description=description, epilog=example, formatter_class=_Formatter
            )
            for add_argument in arguments:
                add_argument(parser)
            # All options would take half of a screen, and are explained below.
            needed = [action for action in parser._actions if action.required]
            words = [
                " ".join([*action.option_strings[:1], action.metavar or action.dest]) for action in needed
            ]
            parser.usage = " ".join(["paraphrastic", name, *words, "[OPTION ...]"])
            parser.set_defaults(run=run)
            return name, help

        return add

    return made


def argument(*names: str, **settings: Any) -> Argument:
    """An argument with the settings that a parser's `add_argument` takes."""
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
    """One or more values; none by default."""
    return argument(name, nargs="+", default=[], type=type, metavar=metavar, help=help)


# The model that `folder.choose_folder` chooses without `--model`.
CHOSEN = "en-de-es-fr, or en with --language en"


def model(*, of_others: bool = False, chosen: bool = False) -> Argument:
    """`--model`: a model of ours or, with `of_others`, another encoder; required unless one is `chosen`."""
    named = " or on the Hugging Face Hub" if of_others else ""
    help = f"a folder, or a name in `paraphrastic models`{named}"
    help += f" (default: {CHOSEN})" if chosen else ""
    return argument("--model", required=not chosen, metavar="MODEL", help=help)


def rows(name: str = "--input", holds: str = "text, one sentence per line", dest: str = "source") -> Argument:
    """A file of lines or a table."""
    return file(name, f"{holds}, or a table: .csv, .tsv, .jsonl, .parquet", dest=dest, required=True)


def id_column(help: str) -> Argument:
    """`--id`."""
    return argument("--id", metavar="NAME", help=help)


def output(help: str, metavar: str = "FILE") -> Argument:
    """`--output`."""
    return argument("--output", required=True, metavar=metavar, help=help)


def counted(name: str, help: str, default: int | None = None) -> Argument:
    """A whole number from 1."""
    return argument(name, type=count, default=default, metavar="N", help=help)


def min_score(what: str, *, of_files: bool = False) -> Argument:
    """`--min-score`, which with `of_files` may also be a file of `evaluate`."""
    file = ", or a file of `evaluate`" if of_files else ""
    return argument(
        "--min-score",
        type=number_or_file if of_files else number,
        metavar="T",
        help=f"leave out {what} with a lower score{file}",
    )


def languages(what: str, default: Any = None) -> Argument:
    """`--languages`: the languages of two files or columns."""
    help = f"languages of the {what}, such as de-en"
    return argument("--languages", type=pair, default=default, metavar="PAIR", help=help)


def codes(text: str) -> tuple[str, ...]:
    """Different language codes with hyphens between them."""
    named = tuple(text.split("-"))
    if len(set(named)) < len(named) or not all(re.fullmatch("[a-z]{2,3}", code) for code in named):
        raise argparse.ArgumentTypeError(f"{text!r} is not a language such as en, or a pair such as en-pl")
    return named


def pair(text: str) -> tuple[str, str]:
    """Two language codes, such as en-pl."""
    if len(named := codes(text)) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair such as en-pl")
    return named[0], named[1]


def count(text: str) -> int:
    """A whole number from 1."""
    if not is_count(text) or not 0 < int(text) < 10**12:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def number(text: str) -> float:
    """A finite number."""
    try:
        return read_number(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def number_or_file(text: str) -> float | Path:
    """A number, or a file that exists."""
    return Path(text) if Path(text).is_file() else number(text)


LANGUAGE = argument("--language", metavar="CODE", help="language of the sentences, such as de")
COLUMN = argument("--column", metavar="NAME", help="column of a table, or its number without a header")
SKIP_BAD = flag("--skip-bad", "leave out rows that cannot be read, and count them")
THREADS = counted("--threads", "number of threads (default: all cores)", available_cores())


def say(*cells: object) -> None:
    """Print a line for people: cells with tabs between them, in which control characters are escaped."""
    print("\t".join(escaped(str(cell)) for cell in cells), flush=True)


def note(message: str) -> None:
    """Show a line that the user should read, on standard error."""
    over_progress = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{over_progress}paraphrastic: {on_one_line(message)}", file=sys.stderr)


@contextmanager
def bad_rows(skip: bool) -> Iterator[Callable[["BadRow"], None] | None]:
    """Yield a function that names the first rows that cannot be read and counts all, if they are skipped."""
    count = 0

    def on_bad(row: "BadRow") -> None:
        nonlocal count
        count += 1
        if count <= _SHOWN_BAD_ROWS:
            note(str(row))

    yield on_bad if skip else None
    if count:
        note(f"rows that cannot be read and are left out: {count}")


def source(path: str, column: str | None, on_bad: Any, id: str | None = None) -> "Source":
    """A file of lines or a table as a source."""
    from paraphrastic.base.rows import Source

    return Source(path, [column] if column else [], id, on_bad=on_bad)


def of_each(paths: tuple[str, str], name: str | None, other: str | None) -> tuple[str | None, str | None]:
    """The column of each of two files: one that is named for both is that of the tables among them."""
    from paraphrastic.base.rows import kind_of

    first, second = map(kind_of, paths)
    return (name if first or not second else None), other or (name if second else None)


@contextmanager
def progress() -> Iterator[Callable[..., None] | None]:
    """Yield a function that shows on the terminal how much of a task is done, or how many rows.

    It is None if there is no terminal. The line is cleared at the end.
    """
    if not sys.stderr.isatty():
        yield None
        return
    start, shown = time.monotonic(), ""

    def show(what: str | int, share: float = 0.0) -> None:
        nonlocal shown
        line = f"{what}: {share:4.0%}"
        if isinstance(what, int):
            line = f"{what:,} rows, {what / (time.monotonic() - start):,.0f} per second"
        if line != shown:
            shown = line
            print(f"\r{escaped(line)}\033[K", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
