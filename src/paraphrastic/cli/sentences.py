"""`paraphrastic embed`, `score`, `search`, `dedup` and `mine`: sentences as vectors, and near sentences."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.cli import arguments as cli

if TYPE_CHECKING:
    from paraphrastic.neighbours.bitext import Margin


@cli.command(
    "turn sentences into vectors",
    "Turn the sentences of a text file, one per line, or of a column of a table into vectors.",
    """\
example:
  paraphrastic embed --model en --input data/sample/tatoeba/tatoeba.deu-eng.eng --output vectors.npy
  printf 'number,text\\n7,A dog runs.\\n' >texts.csv
  paraphrastic embed --model en --input texts.csv --column text --id number --output vectors.parquet

In Python, numpy.load("vectors.npy", mmap_mode="r") maps the file without reading it; row i is line i.
The file vectors.npy.json beside it says which model made it. A row that cannot be read is named; its vector
is zero, and tables leave it out.
""",
    cli.model(of_others=True, chosen=True),
    cli.rows(),
    cli.output(
        "file to write: .npy has one row per sentence, .parquet and .jsonl have the columns id and vector; - "
        "for standard output"
    ),
    cli.COLUMN,
    cli.identity(
        "column that tells the rows of .parquet and .jsonl files apart (default: their numbers, from 1)"
    ),
    cli.STRICT,
    cli.LANGUAGE,
    cli.choice("--dtype", ("float32", "float16"), "number format of the vectors (default: float32)"),
    cli.flag("--normalize", "scale vectors to length 1"),
    cli.THREADS,
    cli.counted("--batch", "sentences to embed at a time (default: 2048)", 2048),
)
def embed(
    model: str | None, source: str, *, language: str | None, dtype: str, normalize: bool, **options: Any
) -> None:
    """Write one vector per line of a file."""
    from paraphrastic.model.embed_files import Encoding, embed_file
    from paraphrastic.model.folder import choose_folder
    from paraphrastic.systems.open import open_encoder

    folder = choose_folder(model, [language])
    with cli.faults() as on_fault, cli.counter("sentences") as counter:
        (rows,) = cli.sources([source], options, on_fault)
        embed_file(
            open_encoder(folder, threads=options["threads"]),
            rows,
            encoding=Encoding(language, dtype, normalize),
            name=model or Path(folder).name,
            **options,
            progress=counter,
        )


@cli.command(
    "measure how similar two sentences are",
    "Measure how similar the two sentences of each line are: the score is the cosine of their vectors.",
    """\
example:
  printf 'A dog runs.\\tThe dog is running.\\n' |
      paraphrastic score --model en --input - --output -

A line of the input has two sentences with a tab between them, unless --columns or --second says otherwise. In
the output, the cosine comes before them. A row that cannot be read is named and left out.
""",
    cli.model(chosen=True),
    cli.rows(holds="text, one pair per line"),
    cli.output("TSV file to write, with the score and both sentences; - for standard output"),
    cli.languages("columns"),
    cli.argument(
        "--columns",
        nargs=2,
        metavar="NAME",
        default=(),
        help="columns of the table with the two sentences, or their numbers, from 1, if there is no header",
    ),
    cli.file("--second", "file of the second sentences, line by line beside those of --input"),
    cli.STRICT,
    cli.THREADS,
    cli.counted("--batch", "pairs to embed at a time (default: 2048)", 2048),
)
def score(
    model: str | None,
    source: str,
    *,
    languages: tuple[str, str] | None,
    **options: Any,
) -> None:
    """Write the cosine of each pair in a file."""
    from paraphrastic.model.embed_files import score_file
    from paraphrastic.model.folder import choose_folder, open_folder

    opened = open_folder(choose_folder(model, languages or ()))
    with cli.faults() as on_fault, cli.counter("pairs") as counter:
        rows = cli.pairs_of(source, options, on_fault)
        score_file(opened, rows, languages=languages, **options, progress=counter)


@cli.command(
    "find the nearest sentences in a saved matrix",
    "Find the rows nearest to given sentences in a matrix that `embed` wrote.",
    """\
example:
  paraphrastic embed --model en --input data/sample/tatoeba/tatoeba.deu-eng.eng --output vectors.npy
  printf 'I like music.\\n' |
      paraphrastic search --model en --index vectors.npy \\
          --sentences data/sample/tatoeba/tatoeba.deu-eng.eng --input - --output - --k 3

A line of the output has the score (cosine), the number of the query or what --id names, the rank, and the
number of the row, or its id if a Parquet file has one. With --sentences, the query and the sentence of the
row follow. All numbers start at 1. A matrix that another model made is refused.
""",
    cli.model(of_others=True, chosen=True),
    cli.file(
        "--index",
        "vectors that `embed` wrote with the same model, which may be larger than memory: a .npy or .parquet "
        "file, or a folder of .parquet files; or a FAISS index of them (.faiss)",
        required=True,
    ),
    cli.file("--sentences", "text or table to show in the output, whose row i has the sentence of row i"),
    cli.rows(holds="sentences to search for, one per line", dest="queries"),
    cli.output("TSV file to write; - for standard output"),
    cli.COLUMN,
    cli.other_column("--sentences-column", "--sentences"),
    cli.identity("column that tells the rows of --input apart (default: their numbers, from 1)"),
    cli.argument(
        "--sentences-id",
        dest="other_identity",
        metavar="NAME",
        help="the --id of `embed`, if rows of --sentences were left out for it",
    ),
    cli.STRICT,
    cli.counted("--k", "number of rows to find for each sentence (default: 10)", 10),
    cli.min_score("rows", of_files=True),
    cli.LANGUAGE,
    cli.THREADS,
)
def search(
    model: str | None,
    language: str | None,
    index: str,
    sentences: str | None,
    queries: str,
    *,
    threads: int,
    k: int,
    min_score: float | Path | None,
    **options: Any,
) -> None:
    """Write the rows of a saved matrix that are nearest to sentences."""
    from paraphrastic.model.folder import choose_folder
    from paraphrastic.neighbours.search_files import Index, SearchOptions, search_files
    from paraphrastic.quality.thresholds import read_threshold
    from paraphrastic.systems.open import open_system

    folder = choose_folder(model, [language])
    system = open_system(folder, threads=threads)
    if isinstance(min_score, Path):
        min_score = read_threshold(min_score, system)
    identity = options["other_identity"]
    with cli.faults() as on_fault, cli.progress() as progress:
        asked, *others = cli.sources([queries, *([sentences] if sentences else [])], options, on_fault)
        # What cannot be read there was told when it was embedded.
        quiet = {"identity": identity, "on_fault": asked.on_fault and (lambda *_: None)}
        search_files(
            system,
            Index(index, *(replace(other, **quiet) for other in others)),
            asked,
            **options,
            options=SearchOptions(k, min_score, threads),
            language=language,
            model=model or Path(folder).name,
            progress=progress,
            note=cli.note,
        )


@cli.command(
    "leave out near duplicates by meaning",
    "Leave out the lines of a text file, or rows of a table, that are close to an earlier one in meaning.",
    """\
example:
  paraphrastic dedup --model en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output kept.txt --threshold 0.6 --report dropped.tsv

A line is left out if its cosine with an earlier kept line reaches the threshold, or if both have the same
text apart from white space at the ends and characters that nobody sees. All other lines, blank ones included,
are written unchanged; so are the rows of a table, by the sentences of --column, and those that cannot be
read. A line of the report has the cosine, the number of the line that was left out, the number of the first
kept line that it is close to, and both sentences. An apostrophe stands before a sentence that a spreadsheet
would take for a formula.
""",
    cli.model(of_others=True, chosen=True),
    cli.rows(),
    cli.output("file for the lines or rows that are kept; - for standard output"),
    cli.COLUMN,
    cli.identity(
        "column that tells the rows of a table apart in the report (default: their numbers, from 1)"
    ),
    cli.STRICT,
    cli.argument(
        "--threshold",
        type=cli.number_or_file,
        default=0.9,
        metavar="T",
        help="lowest cosine of near duplicates, above 0 and at most 1; a file of `evaluate --labels` has one "
        "(default: 0.9)",
    ),
    cli.file("--report", "TSV file for the lines or rows that are left out"),
    cli.LANGUAGE,
    cli.THREADS,
)
def dedup(
    model: str | None,
    language: str | None,
    threshold: float | Path,
    threads: int,
    *,
    source: str,
    **options: Any,
) -> None:
    """Write a file without its near duplicates in meaning."""
    from paraphrastic.model.folder import choose_folder
    from paraphrastic.neighbours.dedup_files import dedup_file
    from paraphrastic.quality.thresholds import read_threshold
    from paraphrastic.systems.open import open_system

    system = open_system(choose_folder(model, [language]), threads=threads)
    if isinstance(threshold, Path):
        threshold = read_threshold(threshold, system, of_all_pairs=True)
    with cli.faults() as on_fault, cli.progress() as progress:
        (rows,) = cli.sources([source], options, on_fault)
        kept, dropped = dedup_file(
            system,
            rows,
            threshold=threshold,
            language=language,
            **options,
            threads=threads,
            progress=progress,
        )
    cli.note(f"{'rows' if rows.is_table else 'lines'} kept: {kept}, left out: {dropped}")


@cli.command(
    "find translations among the sentences of two files",
    "Find translations or paraphrases among the sentences of two files, one per line.",
    """\
example:
  paraphrastic mine --languages de-en --source data/sample/tatoeba/tatoeba.deu-eng.deu \\
      --target data/sample/tatoeba/tatoeba.deu-eng.eng --output mined.tsv --min-score 1.05

A line of the output has the score, the source and the target; the best pair comes first. Repeated sentences
count once. The score of a pair is its cosine divided by the mean cosine of both sentences with their 4
nearest neighbours (Artetxe and Schwenk 2019).
""",
    cli.model(of_others=True, chosen=True),
    cli.rows("--source", "source sentences, one per line"),
    cli.rows("--target", "target sentences, one per line", dest="target"),
    cli.output("TSV file to write; - for standard output"),
    cli.COLUMN,
    cli.other_column("--target-column", "--target"),
    cli.identity("column that tells the rows of a table apart, for --ids (default: their numbers, from 1)"),
    cli.argument(
        "--target-id", dest="other_identity", metavar="NAME", help="that of --target (default: that of --id)"
    ),
    cli.STRICT,
    cli.choice(
        "--margin",
        ("ratio", "distance", "cosine"),
        "how to score a pair: the ratio or the difference between its cosine and the mean cosine with the "
        "neighbours, or the cosine alone (default: ratio)",
    ),
    cli.counted("--k", "number of nearest neighbours (default: 4)", 4),
    cli.min_score("pairs"),
    cli.languages("files", default=(None, None)),
    cli.flag(
        "--ids", "add the line numbers of source and target, or what --id names", dest="with_identities"
    ),
    cli.THREADS,
)
def mine(
    model: str | None,
    languages: tuple[str | None, str | None],
    threads: int,
    *,
    k: int,
    margin: "Margin",
    min_score: float | None,
    source: str,
    target: str,
    **options: Any,
) -> None:
    """Write the translations among the sentences of two files."""
    from paraphrastic.model.folder import choose_folder
    from paraphrastic.neighbours.mine_files import MiningOptions, mine_files
    from paraphrastic.systems.open import open_system

    system = open_system(choose_folder(model, languages), threads=threads)
    with cli.faults() as on_fault, cli.progress() as progress:
        first, second = cli.sources([source, target], options, on_fault)
        mine_files(
            system,
            first,
            second,
            **options,
            options=MiningOptions(k, margin, min_score),
            languages=languages,
            threads=threads,
            progress=progress,
        )
