"""`paraphrastic search`: the rows of a saved matrix that are nearest to sentences."""

import argparse

from paraphrastic.cli import arguments

HELP = "find the nearest sentences of a saved matrix"
DESCRIPTION = "Find the rows of a matrix that `embed` wrote that are nearest to sentences."
EXAMPLE = """\
example:
  paraphrastic embed --model results/models/en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output vectors.npy
  printf 'I like music.\\n' |
      paraphrastic search --model results/models/en --index vectors.npy \\
          --sentences data/sample/tatoeba/tatoeba.deu-eng.eng --input - --output - --k 3

Lines are score (cosine), number of the query's line, rank, number of the row and, with --sentences, the query
and the row's sentence. All numbers are from 1.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser, of_others=True)
    parser.add_argument(
        "--index",
        required=True,
        metavar="FILE",
        help=".npy file of vectors, which may be larger than memory, or an index of FAISS (.faiss)",
    )
    parser.add_argument(
        "--sentences", metavar="FILE", help="text whose line i is the sentence of row i, to be shown"
    )
    arguments.add_input(parser, holds="sentences, one a line")
    parser.add_argument("--output", required=True, metavar="FILE", help="TSV; - is standard output")
    parser.add_argument(
        "--k", type=arguments.count, default=10, metavar="N", help="rows for each sentence (10)"
    )
    parser.add_argument(
        "--min-score", type=arguments.number, metavar="T", help="leave out rows below (keep all)"
    )
    arguments.add_language(parser)
    parser.add_argument("--faiss", action="store_true", help="search with FAISS; it finds the same")
    arguments.add_threads(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.neighbours.search_files import search_files
    from paraphrastic.systems.open import open_system

    with arguments.Progress() as progress:
        search_files(
            open_system(options.model, threads=options.threads),
            options.index,
            options.input,
            options.output,
            sentences=options.sentences,
            k=options.k,
            min_score=options.min_score,
            language=options.language,
            with_faiss=options.faiss,
            threads=options.threads,
            progress=progress,
        )
