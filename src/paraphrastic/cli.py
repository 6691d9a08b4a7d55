"""The command line: `paraphrastic COMMAND …`; every command imports only what it needs."""

import argparse
import difflib
import math
import os
import re
import sys
from collections.abc import Sequence

from paraphrastic.errors import InputError

_CORPORA_EXAMPLE = """\
example:
  paraphrastic corpora --languages en-pl
  paraphrastic corpora --languages en-pl --estimate CCMatrix OpenSubtitles

Afterwards the names can stand in a configuration:
  pl: {languages: [en, pl], corpora: [CCMatrix, OpenSubtitles]}
"""

_NEGATIVES_EXAMPLE = """\
example:
  paraphrastic negatives --model results/models/de --pairs results/corpora/de/pairs.parquet \\
      --sentence "A man is playing a guitar." --megabatch 1 10 60

A mega-batch has the pairs of the sentences and then the first pairs of the file; by the model's own settings.
"""

_MINE_EXAMPLE = """\
example:
  paraphrastic mine --model results/models/de --source data/sample/tatoeba/tatoeba.deu-eng.deu \\
      --target data/sample/tatoeba/tatoeba.deu-eng.eng --output mined.tsv --min-score 1.05

Lines are score, source and target, the best first; sentences that recur count once. A pair's score is its
cosine over the mean cosine of both sentences with their 4 nearest neighbours (Artetxe and Schwenk 2019).
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 1, with one line of why, where the input is at fault."""
    parser = argparse.ArgumentParser(prog="paraphrastic", description="Paraphrastic sentence embeddings.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_corpora(commands)
    _add_negatives(commands)
    _add_mine(commands)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except InputError as error:
        print(f"paraphrastic: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read our output has enough, such as `head`; nothing is to be flushed at the end either.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
        return 0
    return 0


def _add_corpora(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "corpora",
        help="list what OPUS has in a language pair",
        description="List what OPUS has in a language pair, largest first; the pipeline uses the list.",
        epilog=_CORPORA_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--languages",
        required=True,
        type=_pair,
        metavar="PAIR",
        help="such as en-pl; the order does not matter",
    )
    parser.add_argument(
        "--estimate",
        nargs="+",
        metavar="NAME",
        help="estimate disk, memory and time for these corpora instead",
    )
    parser.add_argument("--mirror", help="a folder or an address in which https://HOST/PATH is HOST/PATH")
    parser.add_argument(
        "--refresh", action="store_true", help="fetch the list again, and newer versions with it"
    )
    parser.set_defaults(run=_corpora)


def _pair(text: str) -> tuple[str, str]:
    codes = text.split("-")
    if len(codes) != 2 or codes[0] == codes[1] or not all(re.fullmatch("[a-z]{2,3}", code) for code in codes):
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair such as en-pl")
    return codes[0], codes[1]


def _corpora(options: argparse.Namespace) -> None:
    from paraphrastic.estimate import archive_bytes, estimate, size
    from paraphrastic.opus import fetch_list

    corpora = fetch_list(options.languages, mirror=options.mirror, refresh=options.refresh)
    if options.estimate:
        for name in options.estimate:
            if name not in corpora:
                guess = difflib.get_close_matches(name, corpora, n=1)
                hint = f"; did you mean {guess[0]!r}?" if guess else ""
                raise InputError(
                    f"{name!r} is not among OPUS's corpora in {'-'.join(options.languages)}{hint}"
                )
        lines = estimate([corpora[name] for name in dict.fromkeys(options.estimate)])
    else:
        rows = [("corpus", "version", "pairs", "compressed")]
        for corpus in corpora.values():
            archive = archive_bytes(corpus)
            pairs = "?" if corpus.pairs is None else f"{corpus.pairs:,}"
            rows.append((corpus.name, corpus.version, pairs, "?" if archive is None else size(archive)))
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            f"{name:{widths[0]}}  {version:{widths[1]}}  {pairs:>{widths[2]}}  {archive:>{widths[3]}}"
            for name, version, pairs, archive in rows
        ]
    print("\n".join(lines))


def _add_negatives(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "negatives",
        help="show the negatives that training chooses",
        description="Show the negatives that training would choose by a model, by size of the mega-batch.",
        epilog=_NEGATIVES_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", required=True, metavar="DIR", help="a model's folder")
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
        "--megabatch", nargs="+", type=_count, default=[1, 20, 40], metavar="M", help="sizes (1 20 40)"
    )
    parser.add_argument(
        "--batch-size", type=_count, default=128, metavar="N", help="pairs a mini-batch (128)"
    )
    parser.add_argument("--threads", type=_count, default=1, metavar="N", help="to search with (1)")
    parser.add_argument("--output", default="-", metavar="FILE", help="TSV; - is standard output")
    parser.set_defaults(run=_negatives)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return number


def _negatives(options: argparse.Namespace) -> None:
    from paraphrastic.files import atomic_output
    from paraphrastic.model import load_model

    try:
        from paraphrastic.training.negatives import as_table, choose_negatives, read_lines, read_pairs
    except ImportError as error:
        raise InputError(f"{error.name} is not installed; pip install paraphrastic[pipeline]") from None
    if options.pairs == options.sentences == "-":
        raise InputError("--pairs and --sentences cannot both be standard input")
    sentences = options.sentence + (list(read_lines(options.sentences)) if options.sentences else [])
    rows = choose_negatives(
        load_model(options.model),
        read_pairs(options.pairs),
        [sentence for sentence in sentences if sentence.strip()],
        megabatch=options.megabatch,
        batch_size=options.batch_size,
        threads=options.threads,
    )
    if options.output == "-":
        sys.stdout.writelines(as_table(rows))
        return
    with atomic_output(options.output) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(as_table(rows))


def _add_mine(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "mine",
        help="find translations among the sentences of two files",
        description="Find translations, or paraphrases, among the sentences of two files, one a line.",
        epilog=_MINE_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--model", required=True, metavar="DIR", help="a model's folder, or a name on the Hub"
    )
    for side in ("source", "target"):
        parser.add_argument(
            f"--{side}",
            required=True,
            metavar="FILE",
            help="text, also compressed (gzip, bzip2, Zstandard); - is standard input",
        )
    parser.add_argument("--output", required=True, metavar="FILE", help="TSV; - is standard output")
    parser.add_argument(
        "--margin",
        choices=("ratio", "distance", "cosine"),
        default="ratio",
        help="score by the cosine's ratio to its neighbours', its distance, or the cosine alone (ratio)",
    )
    parser.add_argument("--k", type=_count, default=4, metavar="N", help="nearest neighbours (4)")
    parser.add_argument("--min-score", type=_number, metavar="T", help="leave out pairs below (keep all)")
    parser.add_argument(
        "--languages",
        type=_pair,
        metavar="PAIR",
        help="of the files, such as de-en, for a model that tells languages apart",
    )
    parser.add_argument("--ids", action="store_true", help="add the numbers of the lines, source and target")
    parser.add_argument("--threads", type=_count, metavar="N", help="(all cores)")
    parser.set_defaults(run=_mine)


def _mine(options: argparse.Namespace) -> None:
    try:
        from paraphrastic.encoders import open_encoder
        from paraphrastic.mining.files import mine_files
    except ImportError as error:
        raise InputError(f"{error.name} is not installed; pip install paraphrastic[pipeline]") from None
    threads = options.threads or os.cpu_count() or 1
    shown = _Progress()
    try:
        mine_files(
            open_encoder(options.model, threads=threads),
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


class _Progress:
    """A line on the terminal that says what is being done."""

    def __init__(self) -> None:
        self._line = ""

    def __call__(self, what: str, share: float) -> None:
        line = f"{what}: {share:4.0%}"
        if line != self._line:
            self._write(line)

    def clear(self) -> None:
        if self._line:
            self._write("")

    def _write(self, line: str) -> None:
        print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)
        self._line = line


if __name__ == "__main__":
    sys.exit(main())
