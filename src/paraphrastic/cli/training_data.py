"""`paraphrastic corpora` and `negatives`: corpora to train on, and the negatives that training chooses."""

from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments as cli


@cli.command(
    "list what OPUS has in a language pair",
    "List what OPUS has in a language pair, largest first; the pipeline uses the list.",
    """\
example:
  paraphrastic corpora --languages en-pl
  paraphrastic corpora --languages en-pl --estimate CCMatrix OpenSubtitles

Afterwards the names can stand in a configuration:
  pl: {languages: [en, pl], corpora: [CCMatrix, OpenSubtitles]}
""",
    cli.argument(
        "--languages",
        required=True,
        type=cli.pair,
        metavar="PAIR",
        help="such as en-pl; the order does not matter",
    ),
    cli.several("--estimate", "NAME", "estimate disk, memory and time for these corpora instead"),
    cli.argument("--mirror", help="a folder or an address in which https://HOST/PATH is HOST/PATH"),
    cli.flag("--refresh", "fetch the list again, and newer versions with it"),
)
def corpora(languages: tuple[str, str], estimate: list[str], **options: Any) -> None:
    """Print the corpora that OPUS has in a language pair, or an estimate of their cost."""
    from paraphrastic.base.errors import did_you_mean
    from paraphrastic.pipeline.estimate import archive_bytes, in_columns, size
    from paraphrastic.pipeline.estimate import estimate as estimated
    from paraphrastic.registry.opus import fetch_list

    found = fetch_list(languages, **options)
    if estimate:
        for name in estimate:
            if name not in found:
                hint = did_you_mean(name, found)
                raise InputError(f"{name!r} is not among OPUS's corpora in {'-'.join(languages)}{hint}")
        print("\n".join(estimated([found[name] for name in dict.fromkeys(estimate)])))
        return
    rows = [("corpus", "version", "pairs", "compressed")]
    for corpus in found.values():
        packed = archive_bytes(corpus)
        pairs = "?" if corpus.pairs is None else f"{corpus.pairs:,}"
        rows.append((corpus.name, corpus.version, pairs, "?" if packed is None else size(packed / 1e6)))
    print("\n".join(in_columns(rows, left=2)))


@cli.command(
    "show the negatives that training chooses",
    "Show the negatives that training would choose by a model, by size of the mega-batch.",
    """\
example:
  paraphrastic negatives --model results/models/de --pairs results/corpora/de/pairs.parquet \\
      --sentence "A man is playing a guitar." --megabatch 1 10 60

A mega-batch has the pairs of the sentences and then the first pairs of the file; by the model's own settings.
""",
    cli.model(),
    cli.file("--pairs", "Parquet or TSV of source and target; - is standard input", required=True),
    cli.argument(
        "--sentence", action="append", default=[], metavar="TEXT", help="on either side; can be repeated"
    ),
    cli.file("--sentences", "a sentence a line; without any, the first pairs' sources are taken"),
    cli.argument(
        "--megabatch", nargs="+", type=cli.count, default=[1, 20, 40], metavar="M", help="sizes (1 20 40)"
    ),
    cli.counted("--batch-size", "pairs a mini-batch (128)", 128),
    cli.counted("--threads", "to search with (1)", 1),
    cli.file("--output", "TSV; - is standard output", default="-"),
)
def negatives(
    model: str, pairs: str, sentence: list[str], sentences: str | None, output: str, **options: Any
) -> None:
    """Write the negatives that training would choose."""
    from paraphrastic.model.embed_files import read_sentences, text_output
    from paraphrastic.model.folder import open_folder

    with cli.needing("pipeline"):
        from paraphrastic.training.negatives import as_table, choose_negatives, read_pairs
    if pairs == sentences == "-":
        raise InputError("--pairs and --sentences cannot both be standard input")
    given = [*sentence, *(read_sentences(sentences) if sentences else ())]
    asked = [each for each in given if each.strip()]
    rows = choose_negatives(open_folder(model), read_pairs(pairs), asked, **options)
    with text_output(output) as file:
        file.writelines(as_table(rows))
