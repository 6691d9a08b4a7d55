"""The command line `paraphrastic COMMAND …`; every command imports only what it needs."""

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence

from paraphrastic.base.errors import InputError, LogFormatter, spelled_out
from paraphrastic.cli import models, runs, sentences, training_data

# By what people want to do, in the order of `--help`.
_COMMANDS = {
    "use a model": (
        *(sentences.embed, sentences.score, sentences.search, sentences.dedup, sentences.mine),
        *(models.models, models.demo, models.export, models.import_checkpoint),
    ),
    "train a model": (runs.new, training_data.corpora, training_data.licences, runs.config, runs.plan),
    "understand a run": (
        models.inspect,
        training_data.negatives,
        runs.report,
        runs.verify,
        training_data.links,
    ),
}
_BEGIN = """\
Train and use models that turn sentences into vectors. Sentences with the same meaning get vectors that are
close to each other.
"""
_END = """\
`paraphrastic COMMAND --help` explains a command and shows an example. Training itself is run by Snakemake:

  paraphrastic new --languages en-pl --corpus my.tsv --output pl.yaml
  snakemake --cores all --configfile pl.yaml
  paraphrastic embed --model results/models/pl --input sentences.txt --output vectors.npy
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; its help lists them by what people want to do."""
    parser = argparse.ArgumentParser(
        prog="paraphrastic",
        usage="paraphrastic COMMAND ...",
        description=_BEGIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        default=argparse.SUPPRESS,
        help="show the installed version",
    )
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", help=argparse.SUPPRESS, prog=parser.prog
    )
    parts = []
    for title, group in _COMMANDS.items():
        lines = [f"  {name:<20}{help}" for name, help in (add_to(commands) for add_to in group)]
        parts.append("\n".join([f"{title}:", *lines, ""]))
    parser.epilog = "\n".join([*parts, _END])
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 1, after a one-line message, if the input is at fault."""
    parser = build_parser()
    options = vars(parser.parse_args(arguments))
    run = options.pop("run")
    # This handler writes the warnings of the library, which name files and their members, to standard error.
    if logging.lastResort:
        logging.lastResort.setFormatter(LogFormatter())
    # Half-written files are removed, as with an interrupt.
    signal.signal(signal.SIGTERM, _end)
    try:
        run(**options)
    except InputError as error:
        print(f"paraphrastic: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output, such as `head`, wants no more, so nothing must be flushed at the end.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
        return 0
    except OSError as error:
        # A folder may vanish meanwhile, for example. Streams have no name.
        name = error.filename or "standard input or output"
        print(spelled_out(f"paraphrastic: error: {name}: {error.strerror or error}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # A shell reports this status of a program that the signal ended.
        print("paraphrastic: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


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
