"""`paraphrastic negatives`: what training would choose."""

import argparse

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments

HELP = "show the negatives that training chooses"
DESCRIPTION = "Show the negatives that training would choose by a model, by size of the mega-batch."
EXAMPLE = """\
example:
  paraphrastic negatives --model results/models/de --pairs results/corpora/de/pairs.parquet \\
      --sentence "A man is playing a guitar." --megabatch 1 10 60

A mega-batch has the pairs of the sentences and then the first pairs of the file; by the model's own settings.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser)
    parser.add_argument(
        "--pairs",
        required=True,
        metavar="FILE",
        help="Parquet or TSV of source and target; - is standard input",
    )
    parser.add_argument(
        "--sentence", action="append", default=[], metavar="TEXT", help="on either side; can be repeated"
    )
    parser.add_argument(
        "--sentences",
        metavar="FILE",
        help="a sentence a line; without any, the first pairs' sources are taken",
    )
    parser.add_argument(
        "--megabatch",
        nargs="+",
        type=arguments.count,
        default=[1, 20, 40],
        metavar="M",
        help="sizes (1 20 40)",
    )
    parser.add_argument(
        "--batch-size", type=arguments.count, default=128, metavar="N", help="pairs a mini-batch (128)"
    )
    parser.add_argument("--threads", type=arguments.count, default=1, metavar="N", help="to search with (1)")
    parser.add_argument("--output", default="-", metavar="FILE", help="TSV; - is standard output")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.model.embed_files import read_sentences, text_output
    from paraphrastic.model.folder import open_folder

    with arguments.needing("pipeline"):
        from paraphrastic.training.negatives import as_table, choose_negatives, read_pairs
    if options.pairs == options.sentences == "-":
        raise InputError("--pairs and --sentences cannot both be standard input")
    sentences = options.sentence + (list(read_sentences(options.sentences)) if options.sentences else [])
    rows = choose_negatives(
        open_folder(options.model),
        read_pairs(options.pairs),
        [sentence for sentence in sentences if sentence.strip()],
        megabatch=options.megabatch,
        batch_size=options.batch_size,
        threads=options.threads,
    )
    with text_output(options.output) as file:
        file.writelines(as_table(rows))
