"""The command line `paraphrastic COMMAND …`; every command imports only what it needs."""

import argparse
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from itertools import chain
from types import ModuleType
from typing import NoReturn

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.cli import models, quality, sentences

# By what people want to do, in the order of `--help`. The commands of plugins follow.
COMMANDS = {
    "use a model": (
        *(sentences.embed, sentences.score, sentences.search, sentences.dedup, sentences.mine),
        *(quality.evaluate, models.models, models.demo, models.export, models.import_checkpoint),
    )
}
_BEGIN = """\
Train and use models that turn sentences into vectors. Sentences with the same meaning get vectors that are
close to each other.
"""
_END = "`paraphrastic COMMAND --help` explains a command and shows an example."


@cache
def plugins() -> list[ModuleType]:
    """The modules that packages declare as entry points; they have `COMMANDS` as above, and `ENDING`."""
    found = []
    for point in entry_points(group="paraphrastic.commands"):
        try:
            found.append(point.load())
        except ModuleNotFoundError as error:
            # The pipeline is declared, but not there in an installation of the library alone.
            if not f"{point.module}.".startswith(f"{error.name}."):
                raise
    return found


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; its help lists them by what people want to do."""
    parser = _Parser(
        prog="paraphrastic",
        usage="paraphrastic COMMAND ...",
        description=_BEGIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shown = "paraphrastic, a copy of the code that is not installed"
    with suppress(PackageNotFoundError):
        shown = f"paraphrastic {version('paraphrastic')}"
    parser.add_argument("--version", action="version", version=shown, help="show the installed version")
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", help=argparse.SUPPRESS, prog=parser.prog
    )
    parts = []
    for title, group in chain(COMMANDS.items(), *(plugin.COMMANDS.items() for plugin in plugins())):
        lines = [f"  {name:<20}{help}" for name, help in (add_to(commands) for add_to in group)]
        parts.append("\n".join([f"{title}:", *lines, ""]))
    parser.epilog = "\n".join([*parts, " ".join([_END, *(plugin.ENDING for plugin in plugins())])])
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 1, after a one-line message, if the input is at fault."""
    # Half-written files are removed, as with an interrupt.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        parser = build_parser()
        given = parser.parse_args(arguments or sys.argv[1:] or ["--help"])
        options = vars(given)
        options.pop("run")(**options)
        # Only now is it known whether a short output has arrived.
        sys.stdout.flush()
        return 0
    except InputError as error:
        status, message = 1, f"error: {error}"
    except ModuleNotFoundError as error:
        status, message = 1, f"error: the package {error.name}, which this command needs, is not installed"
    except MemoryError:
        status, message = 1, "error: not enough memory; try less input, a smaller --batch or fewer --threads"
    except BrokenPipeError:
        # The reader of our output, such as `head`, wants no more.
        status, message = 0, ""
    except OSError as error:
        # A folder may vanish meanwhile, for example. Streams have no name.
        name = error.filename or "standard input or output"
        status, message = 1, f"error: {on_one_line(f'{name}: {error.strerror or error}')}"
    except KeyboardInterrupt:
        # A shell reports this status of a program that the signal ended.
        status, message = 128 + signal.SIGINT, "interrupted"
    if message:
        print(f"paraphrastic: {message}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        # It is full or already closed, and Python itself must not try again at the end.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    return status


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        unknown = re.match("argument COMMAND: invalid choice: ('.*?')", message)
        if unknown and not plugins():
            message = (
                f"{unknown[1]} is not a command of the library alone; those that train and evaluate come "
                "with the pipeline: run `make install` in the project's folder"
            )
        super().error(on_one_line(message))
