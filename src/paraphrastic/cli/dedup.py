"""`paraphrastic dedup`: a file without near duplicates by meaning."""

import argparse
import sys

from paraphrastic.cli import arguments

HELP = "leave out near duplicates by meaning"
DESCRIPTION = "Leave out the sentences of a text file, one a line, that are near to an earlier one."
EXAMPLE = """\
example:
  paraphrastic dedup --model results/models/en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output kept.txt --threshold 0.6 --report dropped.tsv

A line is left out if an earlier one that is kept has the same text, but for white space around it, or a
cosine with it of the threshold or more; the others go out as they came, blank lines too. Lines of the report
are cosine, number of the line that is left out, number of the first kept line that it is near to, and both
sentences.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser, of_others=True)
    arguments.add_input(parser)
    parser.add_argument(
        "--output", required=True, metavar="FILE", help="the lines that are kept; - is standard output"
    )
    parser.add_argument(
        "--threshold",
        type=arguments.number,
        default=0.9,
        metavar="T",
        help="cosine of near duplicates, above 0 and at most 1 (0.9)",
    )
    parser.add_argument("--report", metavar="FILE", help="TSV of the lines that are left out")
    arguments.add_language(parser)
    arguments.add_threads(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.neighbours.dedup_files import dedup_file
    from paraphrastic.systems.open import open_system

    with arguments.Progress() as progress:
        kept, dropped = dedup_file(
            open_system(options.model, threads=options.threads),
            options.input,
            options.output,
            threshold=options.threshold,
            report=options.report,
            language=options.language,
            threads=options.threads,
            progress=progress,
        )
    print(f"paraphrastic: lines kept: {kept}, left out: {dropped}", file=sys.stderr)
