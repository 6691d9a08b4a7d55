"""`paraphrastic score`: a cosine for each pair of a file."""

import argparse
import sys

from paraphrastic.cli import arguments

HELP = "say how alike two sentences are"
DESCRIPTION = "Say how alike the two sentences of each line are, by the cosine of their vectors."
EXAMPLE = """\
example:
  printf 'A dog runs.\\tThe dog is running.\\n' |
      paraphrastic score --model results/models/en --input - --output -

Lines of the input are two sentences with a tab between them; lines of the output begin with their cosine.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser)
    arguments.add_input(parser, holds="TSV of two columns")
    parser.add_argument(
        "--output", required=True, metavar="FILE", help="TSV: score, both sentences; - is standard output"
    )
    arguments.add_languages(parser, "columns")
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a line that has not two columns (stop)",
    )
    arguments.add_threads(parser)
    parser.add_argument(
        "--batch", type=arguments.count, default=2048, metavar="N", help="pairs at a time (2048)"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.model.embed_files import score_file
    from paraphrastic.model.folder import open_folder

    with arguments.Counter("pairs") as counter:
        _, skipped = score_file(
            open_folder(options.model),
            options.input,
            options.output,
            languages=options.languages,
            threads=options.threads,
            batch=options.batch,
            on_error=options.on_error,
            progress=counter,
        )
    if skipped:
        print(f"paraphrastic: lines left out, which have not two columns: {skipped}", file=sys.stderr)
