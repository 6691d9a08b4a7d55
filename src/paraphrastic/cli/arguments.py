"""Building blocks of commands: arguments, their types, and progress on the terminal."""

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import InputError, on_one_line, spelled_out
from paraphrastic.base.numbers import is_count, read_count, read_number
from paraphrastic.base.threads import available_cores

if TYPE_CHECKING:
    from paraphrastic.base.rows import Source

# Rows that cannot be read are named up to this number.
_SHOWN_FAULTS = 10

# An argument adds itself to a parser. A command adds itself to the others, and returns its name and help.
Argument = Callable[[argparse.ArgumentParser], object]
Command = Callable[[Any], tuple[str, str]]
Action = Callable[..., None]


def command(help: str, description: str, example: str, *arguments: Argument) -> Callable[[Action], Command]:
    """Make a function a command of the same name; it takes the command's arguments by their names."""

    def made(run: Action) -> Command:
        def add(commands: Any) -> tuple[str, str]:
            name = run.__name__.replace("_", "-")
            parser = commands.add_parser(
                name, description=description, epilog=example,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )  # fmt: skip
            for add_argument in arguments:
                add_argument(parser)
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


def group(title: str, description: str, *arguments: Argument) -> Argument:
    """Arguments under a title of their own."""

    def add(parser: argparse.ArgumentParser) -> None:
        titled = parser.add_argument_group(title, description)
        for add_argument in arguments:
            add_argument(titled)  # type: ignore[arg-type]

    return add


# The model that `folder.choose_folder` chooses without `--model`.
CHOSEN = "en-de-es-fr, or en if English is the only language that is named"


def model(*, of_others: bool = False, chosen: bool = False) -> Argument:
    """`--model`: a model of ours or, with `of_others`, another encoder; required unless one is `chosen`."""
    named = ", a name on the Hugging Face Hub (OWNER/NAME or hf://OWNER/NAME)" if of_others else ""
    help = f"folder of a model{named}, or the name of one that comes with the package, such as en"
    help += f" (default: {CHOSEN})" if chosen else ""
    return argument("--model", required=not chosen, metavar="MODEL", help=help)


def rows(name: str = "--input", holds: str = "text, one sentence per line", dest: str = "source") -> Argument:
    """A file of lines or a table."""
    return file(
        name,
        f"{holds}, or a table by the ending of its name: .csv, .tsv, .jsonl or .parquet; all but the last "
        "may be compressed with gzip, bzip2 or Zstandard; - for text on standard input",
        dest=dest,
        required=True,
    )


def sources(
    paths: Sequence[str], options: dict[str, Any], on_fault: Callable[[str, str], None]
) -> list["Source"]:
    """Files of lines and tables as sources, whose columns are those of the tables.

    Args:
        paths: the files, of which the second one may have a column and an identity of its own.
        options: those of a command. The values of `--column`, `--id` and `--strict`, and those of the second
            file, are taken out.
        on_fault: is told about rows that cannot be read, unless the command is strict.
    """
    from paraphrastic.base.rows import Source, is_table

    column, identity, strict = (options.pop(name) for name in ("column", "identity", "strict"))
    others = options.pop("other_column", None), options.pop("other_identity", None)
    # Without any table, it is an error to name a column, which reading the first file shows.
    any_table = any(map(is_table, paths))
    found = []
    for path, own in zip(paths, ((None, None), others), strict=False):
        text, name = own[0] or column, own[1] or identity
        if any_table and not is_table(path):
            text, name = own
        found.append(Source(path, [text] if text else [], name, on_fault=None if strict else on_fault))
    return found


def pairs_of(path: str, options: dict[str, Any], on_fault: Callable[[str, str], None]) -> "Source":
    """A file of pairs as a source; the values of `--columns`, `--second` and `--strict` are taken out."""
    from paraphrastic.base.rows import Source

    columns, second, strict = (options.pop(name) for name in ("columns", "second", "strict"))
    others = [second] if second else []
    return Source(path, columns, others=others, texts=2, on_fault=None if strict else on_fault)


def identity(help: str) -> Argument:
    """`--id`."""
    return argument("--id", dest="identity", metavar="NAME", help=help)


def other_column(name: str, file: str) -> Argument:
    """The column of a second file, such as `--target-column`."""
    return argument(
        name, dest="other_column", metavar="NAME", help=f"column of {file} (default: that of --column)"
    )


def output(help: str, metavar: str = "FILE") -> Argument:
    """`--output`."""
    return argument("--output", required=True, metavar=metavar, help=help)


def counted(name: str, help: str, default: int | None = None) -> Argument:
    """A whole number from 1."""
    return argument(name, type=count, default=default, metavar="N", help=help)


def min_score(what: str, *, of_files: bool = False) -> Argument:
    """`--min-score`, which with `of_files` may also be a file of `evaluate`."""
    file = "; a file that `evaluate` wrote has one" if of_files else ""
    return argument(
        "--min-score",
        type=number_or_file if of_files else number,
        metavar="T",
        help=f"leave out {what} with a lower score{file} (default: keep all)",
    )


def languages(what: str, default: Any = None) -> Argument:
    """`--languages`: the languages of two files or columns."""
    help = (
        f"languages of the {what}, such as de-en, which the model must know; needed if it keeps its "
        "languages apart"
    )
    return argument("--languages", type=pair, default=default, metavar="PAIR", help=help)


def settings_of(config: list[tuple[str, str]]) -> dict[str, Any]:
    """Parse the values of `--config`, which are YAML, by their keys."""
    import yaml

    from paraphrastic.base.yaml_bounds import RefusedError
    from paraphrastic.base.yaml_text import read_yaml

    try:
        return {key: read_yaml(value) for key, value in config}
    except RefusedError as error:
        raise InputError(f"--config: {error.problem}") from None
    except (yaml.YAMLError, ValueError):
        raise InputError("--config: a value is not valid YAML; an example is models=[en]") from None


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turn a missing package into an `InputError` that says how to install it.

    Args:
        extra: `pipeline`, whose packages `make install` installs, or other extras of `pyproject.toml`, which
            are separated by commas.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        cause = f"{error.name} is not installed; run pip install '.[{extra}]' in the project's folder"
        if extra == "pipeline":
            cause = (
                f"this command needs the packages of the pipeline ({error.name} is missing); "
                "run `make install` in the project's folder"
            )
        raise InputError(cause) from None


def pair(text: str) -> tuple[str, str]:
    """Two language codes, such as en-pl."""
    codes = text.split("-")
    if len(codes) != 2 or codes[0] == codes[1] or not all(re.fullmatch("[a-z]{2,3}", code) for code in codes):
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair such as en-pl")
    return codes[0], codes[1]


def named(text: str, example: str, type: Callable[[str], Any] = str) -> tuple[str, Any]:
    """A name and its value, such as seed=2."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not like {example}")
    return name, type(value)


def count(text: str) -> int:
    """A whole number from 1."""
    if not is_count(text) or not text.strip("0"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    try:
        return read_count(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def number(text: str) -> float:
    """A finite number."""
    try:
        return read_number(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def number_or_file(text: str) -> float | Path:
    """A number, or a file that exists."""
    if Path(text).is_file():
        return Path(text)
    try:
        return read_number(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}, and there is no such file") from None


LANGUAGE = argument(
    "--language",
    metavar="CODE",
    help="language of the sentences, which the model must know; needed if it keeps its languages apart",
)
CONFIGFILE = several("--configfile", "FILE", "configuration files, as for snakemake", Path)
CONFIG_VALUES = several(
    "--config", "KEY=VALUE", "settings, as for snakemake", lambda text: named(text, "seed=2")
)
COLUMN = argument(
    "--column", metavar="NAME", help="column of the table, or its number, from 1, if there is no header"
)
STRICT = flag("--strict", "stop at a row that cannot be read")
THREADS = counted("--threads", "number of threads (default: all cores)", available_cores())


def say(*cells: object) -> None:
    """Print a line for people: cells with tabs between them, in which control characters are escaped."""
    print("\t".join(spelled_out(str(cell)).replace("\n", "\\n") for cell in cells), flush=True)


def note(message: str) -> None:
    """Show a line that the user should read, on standard error."""
    over_progress = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{over_progress}paraphrastic: {on_one_line(message)}", file=sys.stderr)


@contextmanager
def faults() -> Iterator[Callable[[str, str], None]]:
    """Yield a function that notes the first rows that cannot be read, and their number at the end."""
    count = 0

    def on_fault(place: str, cause: str) -> None:
        nonlocal count
        count += 1
        if count <= _SHOWN_FAULTS:
            note(f"{place}: {cause}")

    yield on_fault
    if count > _SHOWN_FAULTS:
        note(f"rows that cannot be read: {count}")


@contextmanager
def _on_terminal(text: Callable[..., str], *, seconds: float = 0.0) -> Iterator[Callable[..., None] | None]:
    """Yield a function that shows `text` of its arguments on the terminal, or None if there is no terminal.

    A new line replaces the one before after `seconds` at the earliest. The last one is cleared at the end.
    """
    if not sys.stderr.isatty():
        yield None
        return
    shown, last = "", time.monotonic()

    def show(*values: Any) -> None:
        nonlocal shown, last
        if (now := time.monotonic()) - last < seconds:
            return
        if (line := spelled_out(text(*values))) != shown:
            shown, last = line, now
            print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def progress() -> AbstractContextManager[Callable[[str, float], None] | None]:
    """Show on the terminal the current task and the share of it that is done."""
    return _on_terminal(lambda what, share: f"{what}: {share:4.0%}")


def counter(what: str) -> AbstractContextManager[Callable[[int], None] | None]:
    """Show on the terminal how many `what` are done and how fast, twice a second."""
    start = time.monotonic()

    def rate(done: int) -> str:
        return f"{done:,} {what}, {done / (time.monotonic() - start):,.0f} per second"

    return _on_terminal(rate, seconds=0.5)
