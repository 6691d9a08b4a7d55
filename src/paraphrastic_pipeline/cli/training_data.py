"""`paraphrastic corpora`, `licences`, `links` and `negatives`: what models are trained on."""

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

Lines are corpus, commercial use (allowed, forbidden or unknown) and licence, separated by tabs. With
`licences: commercial` in a configuration, only corpora that allow it are used. This is no legal advice: read
the licences. Run the command in the folder of the pipeline.
""",
    CONFIGFILE,
)
def licences(configfile: list[Path]) -> None:
    """Print the licences of the corpora of a configuration."""
    from paraphrastic_pipeline.registry.licences import commercial_use
    from paraphrastic_pipeline.settings.check import DEFAULT_CONFIG, check_config, read_config

    config = read_config(configfile or [DEFAULT_CONFIG])
    checked, datasets = check_config(config)
    named = {corpus for definition in checked.definitions.values() for corpus in definition.names}
    named |= {corpus for mined in checked.mined.values() for corpus in mined.names}
    for name in sorted(named - set(checked.mined)):
        licence = datasets[name].licence
        cli.say(name, commercial_use(licence), licence)


@cli.command(
    "check the addresses of the data sets",
    "Ask all addresses of the registry whether they still have their files, and list those that do not.",
    """\
example:
  paraphrastic links --datasets multi30k tanzil

Lines are state, data set, file, address and cause, separated by tabs. The state is dead, changed (the address
has a file of another size), or spare (dead, but another address has the file). Nothing is downloaded. The
exit status is 1 if an address is dead or changed. Run the command in the folder of the pipeline.
""",
    cli.several("--datasets", "NAME", "check only these data sets (default: all)"),
    cli.file("--registry", "the registry (default: config/datasets.tsv)", default="config/datasets.tsv"),
    cli.argument("--mirror", help="folder or address of a mirror, which has https://HOST/PATH as HOST/PATH"),
)
def links(datasets: list[str], registry: str, mirror: str | None) -> None:
    """Print the addresses that have no file, or another one than the registry says."""
    from paraphrastic_pipeline.base.errors import did_you_mean
    from paraphrastic_pipeline.registry.datasets import read_registry
    from paraphrastic_pipeline.registry.links import check_links

    known = read_registry(registry)
    for name in datasets:
        if name not in known:
            raise InputError(f"{name!r} is not in {registry}{did_you_mean(name, known)}")
    checked, bad = 0, 0
    for link in check_links([known[name] for name in datasets or known], mirror=mirror):
        checked += 1
        bad += link.state in ("dead", "changed")
        if link.state != "ok":
            cli.say(link.state, link.file.dataset, link.file.name, link.address, link.cause)
    if bad:
        raise InputError(f"{registry}: {bad} of {checked} addresses are dead or changed")
    cli.say(f"{registry}: {checked} addresses were asked, and every file is there")


@cli.command(
    "show the negatives that training chooses",
    "Show the negatives that training would choose with a model, for several sizes of the mega-batch.",
    """\
example:
  paraphrastic negatives --model results/models/de --pairs results/corpora/de/pairs.parquet \\
      --sentence "A man is playing a guitar." --megabatch 1 10 60

A mega-batch has the pairs of the given sentences, followed by the first pairs of the file. The negatives are
chosen with the model's own settings.
""",
    cli.model(),
    cli.file("--pairs", "Parquet or TSV file of source and target; - for standard input", required=True),
    cli.argument(
        "--sentence",
        action="append",
        default=[],
        metavar="TEXT",
        help="sentence on either side; can be repeated",
    ),
    cli.file(
        "--sentences", "sentences, one per line (default, without --sentence: the sources of the first pairs)"
    ),
    cli.argument(
        "--megabatch",
        nargs="+",
        type=cli.count,
        default=[1, 20, 40],
        metavar="M",
        help="sizes of the mega-batch (default: 1 20 40)",
    ),
    cli.counted("--batch-size", "pairs per mini-batch (default: 128)", 128),
    cli.counted("--threads", "number of threads for the search (default: 1)", 1),
    cli.file("--output", "TSV file to write; - for standard output (default: -)", default="-"),
)
def negatives(
    model: str, pairs: str, sentence: list[str], sentences: str | None, output: str, **options: Any
) -> None:
    """Write the negatives that training would choose."""
    from paraphrastic.base.text_files import read_sentences, text_output
    from paraphrastic.model.folder import open_folder
    from paraphrastic_pipeline.training.negatives import as_table, choose_negatives, read_pairs

    if pairs == sentences == "-":
        raise InputError("--pairs and --sentences cannot both be standard input")
    given = [*sentence, *(read_sentences(sentences) if sentences else ())]
    asked = [word for word in given if word.strip()]
    rows = choose_negatives(open_folder(model), read_pairs(pairs), asked, **options)
    with text_output(output) as file:
        file.writelines(as_table(rows))
