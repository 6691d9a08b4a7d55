"""`paraphrastic corpora`: what OPUS has in a language pair."""

import argparse

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments

HELP = "list what OPUS has in a language pair"
DESCRIPTION = "List what OPUS has in a language pair, largest first; the pipeline uses the list."
EXAMPLE = """\
example:
  paraphrastic corpora --languages en-pl
  paraphrastic corpora --languages en-pl --estimate CCMatrix OpenSubtitles

Afterwards the names can stand in a configuration:
  pl: {languages: [en, pl], corpora: [CCMatrix, OpenSubtitles]}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--languages",
        required=True,
        type=arguments.pair,
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


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.config.names import did_you_mean
    from paraphrastic.pipeline.estimate import archive_bytes, estimate, in_columns, size
    from paraphrastic.registry.opus import fetch_list

    corpora = fetch_list(options.languages, mirror=options.mirror, refresh=options.refresh)
    if options.estimate:
        for name in options.estimate:
            if name not in corpora:
                hint = did_you_mean(name, corpora)
                raise InputError(
                    f"{name!r} is not among OPUS's corpora in {'-'.join(options.languages)}{hint}"
                )
        lines = estimate([corpora[name] for name in dict.fromkeys(options.estimate)])
    else:
        rows = [("corpus", "version", "pairs", "compressed")]
        for corpus in corpora.values():
            archive = archive_bytes(corpus)
            pairs = "?" if corpus.pairs is None else f"{corpus.pairs:,}"
            rows.append((corpus.name, corpus.version, pairs, "?" if archive is None else size(archive / 1e6)))
        lines = in_columns(rows, left=2)
    print("\n".join(lines))
