"""`paraphrastic mine`: translations among the sentences of two files."""

import argparse

from paraphrastic.cli import arguments

HELP = "find translations among the sentences of two files"
DESCRIPTION = "Find translations, or paraphrases, among the sentences of two files, one a line."
EXAMPLE = """\
example:
  paraphrastic mine --model results/models/de --source data/sample/tatoeba/tatoeba.deu-eng.deu \\
      --target data/sample/tatoeba/tatoeba.deu-eng.eng --output mined.tsv --min-score 1.05

Lines are score, source and target, the best first; sentences that recur count once. A pair's score is its
cosine over the mean cosine of both sentences with their 4 nearest neighbours (Artetxe and Schwenk 2019).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser, of_others=True)
    for side in ("source", "target"):
        arguments.add_input(parser, f"--{side}")
    parser.add_argument("--output", required=True, metavar="FILE", help="TSV; - is standard output")
    parser.add_argument(
        "--margin",
        choices=("ratio", "distance", "cosine"),
        default="ratio",
        help="score by the cosine's ratio to its neighbours', its distance, or the cosine alone (ratio)",
    )
    parser.add_argument("--k", type=arguments.count, default=4, metavar="N", help="nearest neighbours (4)")
    parser.add_argument(
        "--min-score", type=arguments.number, metavar="T", help="leave out pairs below (keep all)"
    )
    arguments.add_languages(parser, "files")
    parser.add_argument("--ids", action="store_true", help="add the numbers of the lines, source and target")
    arguments.add_threads(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.neighbours.mine_files import mine_files
    from paraphrastic.systems.open import open_system

    with arguments.Progress() as progress:
        mine_files(
            open_system(options.model, threads=options.threads),
            options.source,
            options.target,
            options.output,
            k=options.k,
            margin=options.margin,
            min_score=options.min_score,
            languages=options.languages or (None, None),
            line_numbers=options.ids,
            threads=options.threads,
            progress=progress,
        )
