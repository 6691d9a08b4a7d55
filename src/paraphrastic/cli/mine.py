"""`paraphrastic mine`: translations among the sentences of two files."""

import argparse
import os
import sys

from paraphrastic.cli.arguments import (
    Commands,
    Progress,
    add_command,
    add_input,
    add_languages,
    add_model,
    add_threads,
    count,
    number,
)

_EXAMPLE = """\
example:
  paraphrastic mine --model results/models/de --source data/sample/tatoeba/tatoeba.deu-eng.deu \\
      --target data/sample/tatoeba/tatoeba.deu-eng.eng --output mined.tsv --min-score 1.05

Lines are score, source and target, the best first; sentences that recur count once. A pair's score is its
cosine over the mean cosine of both sentences with their 4 nearest neighbours (Artetxe and Schwenk 2019).
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        _run,
        help="find translations among the sentences of two files",
        description="Find translations, or paraphrases, among the sentences of two files, one a line.",
        example=_EXAMPLE,
    )
    add_model(parser, of_others=True)
    for side in ("source", "target"):
        add_input(parser, f"--{side}")
    parser.add_argument("--output", required=True, metavar="FILE", help="TSV; - is standard output")
    parser.add_argument(
        "--margin",
        choices=("ratio", "distance", "cosine"),
        default="ratio",
        help="score by the cosine's ratio to its neighbours', its distance, or the cosine alone (ratio)",
    )
    parser.add_argument("--k", type=count, default=4, metavar="N", help="nearest neighbours (4)")
    parser.add_argument("--min-score", type=number, metavar="T", help="leave out pairs below (keep all)")
    add_languages(parser, "files")
    parser.add_argument("--ids", action="store_true", help="add the numbers of the lines, source and target")
    add_threads(parser)


def _run(options: argparse.Namespace) -> None:
    from paraphrastic.neighbours.mine_files import mine_files
    from paraphrastic.systems.open import open_system

    threads = options.threads or os.cpu_count() or 1
    shown = Progress()
    try:
        mine_files(
            open_system(options.model, threads=threads),
            options.source,
            options.target,
            options.output,
            k=options.k,
            margin=options.margin,
            min_score=options.min_score,
            languages=options.languages or (None, None),
            line_numbers=options.ids,
            threads=threads,
            progress=shown if sys.stderr.isatty() else None,
        )
    finally:
        shown.clear()
