"""`paraphrastic embed`, `score`, `search`, `dedup` and `mine`: sentences as vectors, and near sentences."""

import sys
from typing import Any

from paraphrastic.cli import arguments as cli


@cli.command(
    "turn sentences into vectors",
    "Turn the sentences of a text file, one a line, into vectors.",
    """\
example:
  paraphrastic embed --model results/models/en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output vectors.npy

In Python, numpy.load("vectors.npy", mmap_mode="r") opens the file, row i of line i, without reading it.
""",
    cli.model(),
    cli.lines(),
    cli.output(".npy file, a row for each line; - is standard output"),
    cli.LANGUAGE,
    cli.choice("--dtype", ("float32", "float16"), "of the vectors (float32)"),
    cli.flag("--normalize", "make vectors as long as 1"),
    cli.THREADS,
    cli.counted("--batch", "sentences at a time (2048)", 2048),
)
def embed(model: str, **options: Any) -> None:
    """Write one vector per line of a file."""
    from paraphrastic.model.embed_files import embed_file
    from paraphrastic.model.folder import open_folder

    with cli.counter("sentences") as counter:
        embed_file(open_folder(model), **options, progress=counter)


@cli.command(
    "say how alike two sentences are",
    "Say how alike the two sentences of each line are, by the cosine of their vectors.",
    """\
example:
  printf 'A dog runs.\\tThe dog is running.\\n' |
      paraphrastic score --model results/models/en --input - --output -

Lines of the input are two sentences with a tab between them; lines of the output begin with their cosine.
""",
    cli.model(),
    cli.lines(holds="TSV of two columns"),
    cli.output("TSV: score, both sentences; - is standard output"),
    cli.languages("columns"),
    cli.choice("--on-error", ("stop", "skip"), "at a line that has not two columns (stop)"),
    cli.THREADS,
    cli.counted("--batch", "pairs at a time (2048)", 2048),
)
def score(model: str, **options: Any) -> None:
    """Write the cosine of each pair in a file."""
    from paraphrastic.model.embed_files import score_file
    from paraphrastic.model.folder import open_folder

    with cli.counter("pairs") as counter:
        _, skipped = score_file(open_folder(model), **options, progress=counter)
    if skipped:
        print(f"paraphrastic: lines left out, which have not two columns: {skipped}", file=sys.stderr)


@cli.command(
    "find the nearest sentences of a saved matrix",
    "Find the rows of a matrix that `embed` wrote that are nearest to sentences.",
    """\
example:
  paraphrastic embed --model results/models/en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output vectors.npy
  printf 'I like music.\\n' |
      paraphrastic search --model results/models/en --index vectors.npy \\
          --sentences data/sample/tatoeba/tatoeba.deu-eng.eng --input - --output - --k 3

Lines are score (cosine), number of the query's line, rank, number of the row and, with --sentences, the query
and the row's sentence. All numbers are from 1.
""",
    cli.model(of_others=True),
    cli.file(
        "--index",
        ".npy file of vectors, which may be larger than memory, or an index of FAISS (.faiss)",
        required=True,
    ),
    cli.file("--sentences", "text whose line i is the sentence of row i, to be shown"),
    cli.lines(holds="sentences, one a line", dest="queries"),
    cli.output("TSV; - is standard output"),
    cli.counted("--k", "rows for each sentence (10)", 10),
    cli.min_score("rows"),
    cli.LANGUAGE,
    cli.flag("--faiss", "search with FAISS; it finds the same", dest="with_faiss"),
    cli.THREADS,
)
def search(model: str, threads: int, **options: Any) -> None:
    """Write the rows of a saved matrix that are nearest to sentences."""
    from paraphrastic.neighbours.search_files import search_files
    from paraphrastic.systems.open import open_system

    with cli.progress() as progress:
        search_files(open_system(model, threads=threads), **options, threads=threads, progress=progress)


@cli.command(
    "leave out near duplicates by meaning",
    "Leave out the sentences of a text file, one a line, that are near to an earlier one.",
    """\
example:
  paraphrastic dedup --model results/models/en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output kept.txt --threshold 0.6 --report dropped.tsv

A line is left out if an earlier one that is kept has the same text, but for white space around it, or a
cosine with it of the threshold or more; the others go out as they came, blank lines too. Lines of the report
are cosine, number of the line that is left out, number of the first kept line that it is near to, and both
sentences.
""",
    cli.model(of_others=True),
    cli.lines(),
    cli.output("the lines that are kept; - is standard output"),
    cli.argument(
        "--threshold",
        type=cli.number,
        default=0.9,
        metavar="T",
        help="cosine of near duplicates, above 0 and at most 1 (0.9)",
    ),
    cli.file("--report", "TSV of the lines that are left out"),
    cli.LANGUAGE,
    cli.THREADS,
)
def dedup(model: str, threads: int, **options: Any) -> None:
    """Write a file without its near duplicates in meaning."""
    from paraphrastic.neighbours.dedup_files import dedup_file
    from paraphrastic.systems.open import open_system

    with cli.progress() as progress:
        kept, dropped = dedup_file(
            open_system(model, threads=threads), **options, threads=threads, progress=progress
        )
    print(f"paraphrastic: lines kept: {kept}, left out: {dropped}", file=sys.stderr)


@cli.command(
    "find translations among the sentences of two files",
    "Find translations, or paraphrases, among the sentences of two files, one a line.",
    """\
example:
  paraphrastic mine --model results/models/de --source data/sample/tatoeba/tatoeba.deu-eng.deu \\
      --target data/sample/tatoeba/tatoeba.deu-eng.eng --output mined.tsv --min-score 1.05

Lines are score, source and target, the best first; sentences that recur count once. A pair's score is its
cosine over the mean cosine of both sentences with their 4 nearest neighbours (Artetxe and Schwenk 2019).
""",
    cli.model(of_others=True),
    cli.lines("--source"),
    cli.lines("--target", dest="target"),
    cli.output("TSV; - is standard output"),
    cli.choice(
        "--margin",
        ("ratio", "distance", "cosine"),
        "score by the cosine's ratio to its neighbours', its distance, or the cosine alone (ratio)",
    ),
    cli.counted("--k", "nearest neighbours (4)", 4),
    cli.min_score("pairs"),
    cli.languages("files", default=(None, None)),
    cli.flag("--ids", "add the numbers of the lines, source and target", dest="line_numbers"),
    cli.THREADS,
)
def mine(model: str, threads: int, **options: Any) -> None:
    """Write the translations among the sentences of two files."""
    from paraphrastic.neighbours.mine_files import mine_files
    from paraphrastic.systems.open import open_system

    with cli.progress() as progress:
        mine_files(open_system(model, threads=threads), **options, threads=threads, progress=progress)
