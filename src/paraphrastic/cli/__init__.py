"""The command line: `paraphrastic COMMAND …`; every command imports only what it needs."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from paraphrastic.base.errors import InputError
from paraphrastic.cli import models, nearest, runs, training_data, vectors

# In the order of `--help`.
_COMMANDS = (
    *(vectors.embed, vectors.score),
    *(nearest.search, nearest.dedup, nearest.mine),
    *(models.export, models.import_checkpoint),
    *(training_data.corpora, training_data.negatives),
    *(runs.config, runs.plan, runs.report, runs.verify),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 1, with one line of why, where the input is at fault."""
    parser = argparse.ArgumentParser(prog="paraphrastic", description="Paraphrastic sentence embeddings.")
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        default=argparse.SUPPRESS,
        help="show the version that is installed",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        added = commands.add_parser(
            command.run.__name__.replace("_", "-"),
            help=command.help,
            description=command.description,
            epilog=command.example,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for argument in command.arguments:
            argument(added)
        added.set_defaults(run=command.run)
    options = vars(parser.parse_args(arguments))
    run = options.pop("run")
    # What is half-written is removed, as with an interrupt.
    signal.signal(signal.SIGTERM, _end)
    try:
        run(**options)
    except InputError as error:
        print(f"paraphrastic: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read our output has enough, such as `head`; nothing is to be flushed at the end either.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
        return 0
    except OSError as error:
        # Such as a folder that vanishes meanwhile; streams have no name.
        name = error.filename or "standard input or output"
        print(f"paraphrastic: error: {name}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # As a shell reports a program that the signal ended.
        print("paraphrastic: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


class _Version(argparse.Action):
    """Shows the version, which is looked up only then."""

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
