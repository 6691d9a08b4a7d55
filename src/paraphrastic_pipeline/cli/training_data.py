"""`paraphrastic corpora`: what models can be trained on."""

from pathlib import Path
from typing import Any

from paraphrastic.cli import arguments as cli


@cli.command(
    "list the corpora of OPUS in a language pair",
    "List the corpora of OPUS in a language pair, the largest first. The pipeline uses the list.",
    """\
example:
  paraphrastic corpora --languages en-pl

Afterwards, a configuration can use the names:
  pl: {languages: [en, pl], corpora: [CCMatrix, OpenSubtitles]}

Columns are name, version, pairs, megabytes to download, and the licence if the registry knows it. This is no
legal advice: read the licences.
""",
    cli.argument(
        "--languages",
        required=True,
        type=cli.pair,
        metavar="PAIR",
        help="two languages in any order, such as en-pl",
    ),
    cli.argument("--mirror", help="folder or address of a mirror, which has https://HOST/PATH as HOST/PATH"),
    cli.flag("--refresh", "fetch the list again, with newer versions of corpora"),
)
def corpora(languages: tuple[str, str], **options: Any) -> None:
    """Print the corpora that OPUS has in a language pair."""
    from paraphrastic_pipeline.registry.datasets import read_registry
    from paraphrastic_pipeline.registry.opus import fetch_list
    from paraphrastic_pipeline.settings.check import DEFAULT_REGISTRY

    registry = read_registry(DEFAULT_REGISTRY) if Path(DEFAULT_REGISTRY).is_file() else {}
    licences = {name.lower(): dataset.licence for name, dataset in registry.items()}
    rows = [("corpus", "version", "pairs", "MB", "licence")]
    for corpus in fetch_list(languages, **options).values():
        pairs = "?" if corpus.pairs is None else f"{corpus.pairs:,}"
        size = "?" if corpus.size is None else f"{corpus.size / 1e6:,.1f}"
        rows.append((corpus.name, corpus.version, pairs, size, licences.get(corpus.name.lower(), "-")))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2])]
        cli.say("  ".join([*cells, row[3].rjust(widths[3]), row[4]]))
