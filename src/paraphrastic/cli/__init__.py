"""The command line `paraphrastic COMMAND …`; every command imports only what it needs."""

import argparse
import logging
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

from paraphrastic.base.errors import InputError, LogFormatter, lack_of_memory, on_one_line
from paraphrastic.base.streams import prepare_streams
from paraphrastic.cli import models, quality, sentences
from paraphrastic.cli.plugins import plugins

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


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; its help lists them by what people want to do."""
    parser = _Parser(
        prog="paraphrastic",
        usage="paraphrastic COMMAND ...",
        description=_BEGIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, default=argparse.SUPPRESS, help="show the installed version"
    )
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", help=argparse.SUPPRESS, prog=parser.prog
    )
    parts = []
    for title, group in chain(COMMANDS.items(), *(plugin.COMMANDS.items() for plugin in plugins())):
        lines = [f"  {name:<20}{help}" for name, help in (add_to(commands) for add_to in group)]
        parts.append("\n".join([f"{title}:", *lines, ""]))
    endings = [plugin.ENDING for plugin in plugins() if hasattr(plugin, "ENDING")]
    parser.epilog = "\n".join([*parts, " ".join([_END, *endings])])
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 1, after a one-line message, if the input is at fault."""
    prepare_streams(results=True)
    # This handler writes the warnings of the library, which name files and their members, to standard error.
    if logging.lastResort:
        logging.lastResort.setFormatter(LogFormatter())
    # Half-written files are removed, as with an interrupt.
    signal.signal(signal.SIGTERM, _end)
    options: dict[str, Any] = {}
    status, message = 1, ""
    try:
        _run(arguments, options)
        return 0
    except BrokenPipeError:
        # The reader of our output, such as `head`, wants no more.
        status = 0
    except KeyboardInterrupt:
        # A shell reports this status of a program that the signal ended.
        status, message = 128 + signal.SIGINT, "interrupted"
    except Exception as error:
        if lack := lack_of_memory(error):
            message = f"error: {lack}; {_advice(options)}"
        elif isinstance(error, InputError):
            message = f"error: {error}"
        elif isinstance(error, OSError):
            # A folder may vanish meanwhile, for example. Streams have no name.
            name = error.filename or "standard input or output"
            message = f"error: {on_one_line(f'{name}: {error.strerror or error}')}"
        else:
            raise
    if message:
        print(f"paraphrastic: {message}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        # It is full or already closed, and Python itself must not try again at the end.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    return status


def _run(arguments: Sequence[str] | None, options: dict[str, Any]) -> None:
    """Run a command, whose options are added to `options`."""
    parser = build_parser()
    if not (sys.argv[1:] if arguments is None else arguments):
        parser.print_help()
        return
    try:
        options |= vars(parser.parse_args(arguments))
    except SystemExit:
        sys.stdout.flush()
        raise
    options.pop("run")(**options)
    # Only now is it known whether a short output has arrived.
    sys.stdout.flush()


def _advice(options: Mapping[str, Any]) -> str:
    """How a command with these options needs less memory."""
    names = [f"--{name}" for name in ("batch", "threads", "megabatch", "dimension") if options.get(name)]
    smaller = f"a smaller {' and '.join(names)}, " if names else ""
    return f"try {smaller}less input or a machine with more memory"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        unknown = re.match("argument COMMAND: invalid choice: ('.*?')", message)
        if unknown and not plugins():
            message = (
                f"{unknown[1]} is not a command of the library alone; those that train and evaluate come "
                "with the pipeline: run `make install` in the project's folder"
            )
        super().error(on_one_line(message))

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse itself says nothing if help cannot be written.
        print(message, end="", file=file or sys.stderr)


class _Version(argparse.Action):
    """Shows the version, which is looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        try:
            version = metadata.version("paraphrastic")
        except metadata.PackageNotFoundError:
            version = "(a copy of the code that is not installed)"
        print(f"paraphrastic {version}")
        parser.exit()


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)
