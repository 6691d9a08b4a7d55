"""`paraphrastic score`: a cosine for each pair of a file."""

import argparse
import sys

from paraphrastic.cli.arguments import (
    Commands,
    Counter,
    add_command,
    add_input,
    add_languages,
    add_model,
    add_threads,
    count,
)

_EXAMPLE = """\
example:
  printf 'A dog runs.\\tThe dog is running.\\n' |
      paraphrastic score --model results/models/en --input - --output -

Lines of the input are two sentences with a tab between them; lines of the output begin with their cosine.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        _run,
        help="say how alike two sentences are",
        description="Say how alike the two sentences of each line are, by the cosine of their vectors.",
        example=_EXAMPLE,
    )
    add_model(parser)
    add_input(parser, holds="TSV of two columns")
    parser.add_argument(
        "--output", required=True, metavar="FILE", help="TSV: score, both sentences; - is standard output"
    )
    add_languages(parser, "columns")
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a line that has not two columns (stop)",
    )
    add_threads(parser)
    parser.add_argument("--batch", type=count, default=2048, metavar="N", help="pairs at a time (2048)")


def _run(options: argparse.Namespace) -> None:
    from paraphrastic.model.embed_files import score_file
    from paraphrastic.model.folder import open_folder

    with Counter("pairs") as counter:
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
