"""`paraphrastic corpora` and `licences`: what models are trained on."""

from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments as cli
from paraphrastic_pipeline.cli.arguments import CONFIGFILE


@cli.command(
    "list the corpora of OPUS in a language pair",
    "List the corpora of OPUS in a language pair, the largest first. The pipeline uses the list.",
    """\
example:
  paraphrastic corpora --languages en-pl
  paraphrastic corpora --languages en-pl --estimate CCMatrix OpenSubtitles

Afterwards, a configuration can use the names:
  pl: {languages: [en, pl], corpora: [CCMatrix, OpenSubtitles]}
""",
    cli.argument(
        "--languages",
        required=True,
        type=cli.pair,
        metavar="PAIR",
        help="two languages in any order, such as en-pl",
    ),
    cli.several(
        "--estimate", "NAME", "instead of the list, estimate disk, memory and time for these corpora"
    ),
    cli.argument("--mirror", help="folder or address of a mirror, which has https://HOST/PATH as HOST/PATH"),
    cli.flag("--refresh", "fetch the list again, with newer versions of corpora"),
)
def corpora(languages: tuple[str, str], estimate: list[str], **options: Any) -> None:
    """Print the corpora that OPUS has in a language pair, or an estimate of their cost."""
    from paraphrastic_pipeline.base.errors import did_you_mean
    from paraphrastic_pipeline.registry.opus import fetch_list
    from paraphrastic_pipeline.workflow.estimate import archive_bytes, in_columns, size
    from paraphrastic_pipeline.workflow.estimate import estimate as estimated

    listed = fetch_list(languages, **options)
    if estimate:
        for name in estimate:
            if name not in listed:
                hint = did_you_mean(name, listed)
                raise InputError(f"{name!r} is not among OPUS's corpora in {'-'.join(languages)}{hint}")
        for line in estimated([listed[name] for name in dict.fromkeys(estimate)]):
            cli.say(line)
        return
    rows = [("corpus", "version", "pairs", "compressed")]
    for corpus in listed.values():
        packed = archive_bytes(corpus)
        pairs = "?" if corpus.pairs is None else f"{corpus.pairs:,}"
        rows.append((corpus.name, corpus.version, pairs, "?" if packed is None else size(packed / 1e6)))
    for line in in_columns(rows, left=2):
        cli.say(line)


@cli.command(
    "list the licences of a configuration's corpora",
    "List the licences of the corpora that a configuration uses, and whether they allow commercial use.",
    """\
example:
  paraphrastic licences --configfile config/small.yaml

Lines are corpus, commercial use (yes, no or unknown) and licence, separated by tabs. With
`licences: commercial` in a configuration, only corpora that allow it are used. This is no legal advice: read
the licences. Run the command in the folder of the pipeline.
""",
    CONFIGFILE,
)
def licences(configfile: list[Path]) -> None:
    """Print the licences of the corpora of a configuration."""
    from paraphrastic_pipeline.settings.check import DEFAULT_CONFIG, check_config, read_config

    config = read_config(configfile or [DEFAULT_CONFIG])
    checked, datasets = check_config(config)
    named = {corpus for definition in checked.definitions.values() for corpus in definition.names}
    named |= {corpus for mined in checked.mined.values() for corpus in mined.names}
    for name in sorted(named - set(checked.mined)):
        cli.say(name, datasets[name].commercial, datasets[name].licence)
