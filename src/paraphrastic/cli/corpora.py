"""`paraphrastic corpora`: what OPUS has in a language pair."""

import argparse
import difflib

from paraphrastic.base.errors import InputError
from paraphrastic.cli.arguments import Commands, add_command, pair

_EXAMPLE = """\
example:
  paraphrastic corpora --languages en-pl
  paraphrastic corpora --languages en-pl --estimate CCMatrix OpenSubtitles

Afterwards the names can stand in a configuration:
  pl: {languages: [en, pl], corpora: [CCMatrix, OpenSubtitles]}
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        _run,
        help="list what OPUS has in a language pair",
        description="List what OPUS has in a language pair, largest first; the pipeline uses the list.",
        example=_EXAMPLE,
    )
    parser.add_argument(
        "--languages",
        required=True,
        type=pair,
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


def _run(options: argparse.Namespace) -> None:
    from paraphrastic.pipeline.estimate import archive_bytes, estimate, size
    from paraphrastic.registry.opus import fetch_list

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
            rows.append((corpus.name, corpus.version, pairs, "?" if archive is None else size(archive / 1e6)))
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            f"{name:{widths[0]}}  {version:{widths[1]}}  {pairs:>{widths[2]}}  {archive:>{widths[3]}}"
            for name, version, pairs, archive in rows
        ]
    print("\n".join(lines))
