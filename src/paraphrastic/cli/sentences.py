"""`paraphrastic embed`, `score`, `search`, `dedup` and `mine`: sentences as vectors, and near sentences."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments as cli


@cli.command(
    "turn sentences into vectors",
    "Turn the sentences of a text file, one per line, or of a column of a table into vectors.",
    """\
examples:
  paraphrastic embed --model en --input data/sample/tatoeba/tatoeba.deu-eng.eng --output vectors.npy
  printf 'number,text\\n7,A dog runs.\\n' >texts.csv
  paraphrastic embed --model en --input texts.csv --column text --id number --output vectors.parquet

In Python, numpy.load("vectors.npy", mmap_mode="r") maps the file without reading it; row i is line i.
The file vectors.npy.json beside it says which model made it.
""",
    cli.model(of_others=True, chosen=True),
    cli.rows(),
    cli.output(
        "file to write: .npy has one row per sentence, .parquet and .jsonl have the columns id and vector"
    ),
    cli.COLUMN,
    cli.id_column("column that tells rows of .parquet and .jsonl apart (default: their numbers)"),
    cli.SKIP_BAD,
    cli.LANGUAGE,
    cli.choice("--dtype", ("float32", "float16"), "number format of the vectors (default: float32)"),
    cli.flag("--normalize", "scale vectors to length 1"),
    cli.THREADS,
    cli.counted("--batch", "sentences to embed at a time (default: 2048)", 2048),
)
def embed(
    model: str | None, source: str, *, column: str | None, id: str | None, skip_bad: bool, **options: Any
) -> None:
    """Write one vector per line of a file."""
    from paraphrastic.model.embed_files import embed_file

    encoder = _opened(model, [options["language"]], options)
    with cli.bad_rows(skip_bad) as on_bad, cli.progress() as progress:
        embed_file(encoder, cli.source(source, column, on_bad, id), **options, progress=progress)


@cli.command(
    "measure how similar two sentences are",
    "Measure how similar the two sentences of each line are: the score is the cosine of their vectors.",
    """\
example:
  printf 'A dog runs.\\tThe dog is running.\\n' |
      paraphrastic score --model en --input - --output -

A line of the output has the cosine before the two sentences.
""",
    cli.model(chosen=True),
    cli.rows(holds="text, one pair per line"),
    cli.output("TSV file to write, with the score and both sentences"),
    cli.languages("columns"),
    cli.argument(
        "--columns",
        nargs=2,
        metavar="NAME",
        default=(),
        help="columns of the table with the sentences, or their numbers if it has no header",
    ),
    cli.file("--second", "text with the second sentences, line by line beside those of --input"),
    cli.SKIP_BAD,
    cli.THREADS,
    cli.counted("--batch", "pairs to embed at a time (default: 2048)", 2048),
)
def score(
    model: str | None,
    source: str,
    *,
    columns: list[str],
    second: str | None,
    skip_bad: bool,
    **options: Any,
) -> None:
    """Write the cosine of each pair in a file."""
    from paraphrastic.base.rows import Source
    from paraphrastic.model.embed_files import score_file
    from paraphrastic.model.folder import choose_folder, open_folder

    opened = open_folder(choose_folder(model, options["languages"] or ()))
    with cli.bad_rows(skip_bad) as on_bad, cli.progress() as progress:
        rows = Source(source, columns, second=second, texts=2, on_bad=on_bad)
        score_file(opened, rows, **options, progress=progress)


@cli.command(
    "find the nearest sentences in saved vectors",
    "Find the rows nearest to given sentences in vectors that `embed` wrote.",
    """\
example:
  paraphrastic embed --model en --input data/sample/tatoeba/tatoeba.deu-eng.eng --output vectors.npy
  printf 'I like music.\\n' |
      paraphrastic search --model en --index vectors.npy \\
          --sentences data/sample/tatoeba/tatoeba.deu-eng.eng --input - --output - --k 3

A line of the output has the cosine, the number of the query or its --id, the
rank, and the number of the row or its id. With --sentences, both sentences
follow. All numbers start at 1.
""",
    cli.model(of_others=True, chosen=True),
    cli.file("--index", "vectors: a .npy or .parquet file, or a folder of .parquet files", required=True),
    cli.file("--sentences", "text or table to show, whose row i has the sentence of row i"),
    cli.rows(holds="sentences to search for, one per line", dest="queries"),
    cli.output("TSV file to write"),
    cli.COLUMN,
    cli.argument("--sentences-column", metavar="NAME", help="column of --sentences (default: --column)"),
    cli.id_column("column that tells the rows of --input apart (default: their numbers)"),
    cli.SKIP_BAD,
    cli.counted("--k", "rows to find for each sentence (default: 10)", 10),
    cli.min_score("rows", of_files=True),
    cli.LANGUAGE,
    cli.THREADS,
)
def search(
    model: str | None,
    index: str,
    sentences: str | None,
    queries: str,
    *,
    column: str | None,
    sentences_column: str | None,
    id: str | None,
    skip_bad: bool,
    min_score: float | Path | None,
    **options: Any,
) -> None:
    """Write the rows of saved vectors that are nearest to sentences."""
    from paraphrastic.neighbours.search_files import search_files
    from paraphrastic.quality.thresholds import read_threshold

    if sentences_column and not sentences:
        raise InputError("--sentences-column: is of no use without --sentences")
    encoder = _opened(model, [options["language"]], options)
    if isinstance(min_score, Path):
        min_score = read_threshold(min_score, encoder)
    with cli.bad_rows(skip_bad) as on_bad, cli.progress() as progress:
        columns = cli.of_each((queries, sentences or queries), column, sentences_column)
        asked = cli.source(queries, columns[0], on_bad, id)
        shown = cli.source(sentences, columns[1], on_bad) if sentences else None
        given: Any = {**options, "sentences": shown, "min_score": min_score}
        search_files(encoder, index, asked, **given, progress=progress, note=cli.note)


@cli.command(
    "leave out near duplicates by meaning",
    "Leave out the lines of a text file, or rows of a table, that are close to an earlier one in meaning.",
    """\
examples:
  paraphrastic dedup --model en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output kept.txt --threshold 0.6 --report dropped.tsv
  printf 'Vectors of words are added.\\n' |
      paraphrastic dedup --model en --input - --against kept.txt --output new.txt

A line is left out if its cosine with an earlier kept line reaches the threshold,
or if both have the same text. All others are written unchanged. A line of the
report has the cosine, the line that was left out, the kept one, and both texts;
with --against, also the file of the kept one.
""",
    cli.model(of_others=True, chosen=True),
    cli.rows(),
    cli.output("file for the lines or rows that are kept"),
    cli.file("--against", "text or table that counts as earlier kept lines, which are not written"),
    cli.COLUMN,
    cli.id_column("column that tells the rows apart in the report (default: their numbers)"),
    cli.SKIP_BAD,
    cli.argument(
        "--threshold",
        type=cli.number_or_file,
        default=0.9,
        metavar="T",
        help="lowest cosine of near duplicates, or a file of `evaluate --labels` (default: 0.9)",
    ),
    cli.file("--report", "TSV file for the lines or rows that are left out"),
    cli.LANGUAGE,
    cli.THREADS,
)
def dedup(
    model: str | None,
    threshold: float | Path,
    source: str,
    *,
    column: str | None,
    id: str | None,
    skip_bad: bool,
    **options: Any,
) -> None:
    """Write a file without its near duplicates in meaning."""
    from paraphrastic.neighbours.dedup_files import dedup_file
    from paraphrastic.quality.thresholds import read_threshold

    if id and not options["report"]:
        raise InputError("--id: is of no use without --report")
    encoder = _opened(model, [options["language"]], options)
    if isinstance(threshold, Path):
        threshold = read_threshold(threshold, encoder, of_all_pairs=True)
    with cli.bad_rows(skip_bad) as on_bad, cli.progress() as progress:
        paths = source, options["against"] or source
        columns, ids = (cli.of_each(paths, name, None) for name in (column, id))
        rows, old = map(cli.source, paths, columns, (on_bad, on_bad), ids)
        options["against"] = options["against"] and old
        kept, dropped = dedup_file(encoder, rows, threshold=threshold, **options, progress=progress)
    cli.note(f"{'rows' if rows.kind else 'lines'} kept: {kept}, left out: {dropped}")


@cli.command(
    "find translations among the sentences of two files",
    "Find translations or paraphrases among the sentences of two files, one per line.",
    """\
example:
  paraphrastic mine --languages de-en --source data/sample/tatoeba/tatoeba.deu-eng.deu \\
      --target data/sample/tatoeba/tatoeba.deu-eng.eng --output mined.tsv --min-score 1.05

A line of the output has the score, the source and the target; the best pair
comes first. Repeated sentences count once. The score is the pair's cosine
divided by the mean cosine with the k nearest neighbours of both sentences.
""",
    cli.model(of_others=True, chosen=True),
    cli.rows("--source", "source sentences, one per line"),
    cli.file("--target", "target sentences, likewise", required=True),
    cli.output("TSV file to write"),
    cli.COLUMN,
    cli.argument("--target-column", metavar="NAME", help="column of --target (default: --column)"),
    cli.flag("--ids", "add the line numbers of source and target, or what --id names", dest="with_ids"),
    cli.id_column("column that tells rows apart, for --ids"),
    cli.argument("--target-id", metavar="NAME", help="that of --target (default: --id)"),
    cli.SKIP_BAD,
    cli.choice(
        "--margin",
        ("ratio", "distance", "cosine"),
        "how to score a pair: ratio or distance of its cosine and the neighbours' mean, or the cosine alone",
    ),
    cli.counted("--k", "number of nearest neighbours (default: 4)"),
    cli.min_score("pairs"),
    cli.languages("files", default=(None, None)),
    cli.THREADS,
)
def mine(
    model: str | None,
    source: str,
    target: str,
    *,
    column: str | None,
    target_column: str | None,
    id: str | None,
    target_id: str | None,
    skip_bad: bool,
    **options: Any,
) -> None:
    """Write the translations among the sentences of two files."""
    from paraphrastic.neighbours.mine_files import mine_files

    if (id or target_id) and not options["with_ids"]:
        raise InputError("--id and --target-id: are of no use without --ids")
    encoder = _opened(model, options["languages"], options)
    with cli.bad_rows(skip_bad) as on_bad, cli.progress() as progress:
        columns = cli.of_each((source, target), column, target_column)
        ids = cli.of_each((source, target), id, target_id)
        first, second = map(cli.source, (source, target), columns, (on_bad, on_bad), ids)
        mine_files(encoder, first, second, **options, progress=progress)


def _opened(model: str | None, languages: Sequence[str | None], options: Mapping[str, Any]) -> Any:
    """The encoder of this name, or the packaged model for these languages."""
    from paraphrastic.model.folder import choose_folder
    from paraphrastic.systems.open import open_encoder

    return open_encoder(choose_folder(model, languages), threads=options["threads"])
