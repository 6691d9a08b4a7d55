"""`paraphrastic embed` and `score`: sentences into vectors and cosines."""

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
    """A vector for each line of a file."""
    from paraphrastic.model.embed_files import embed_file
    from paraphrastic.model.folder import open_folder

    with cli.Counter("sentences") as counter:
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
    """A cosine for each pair of a file."""
    from paraphrastic.model.embed_files import score_file
    from paraphrastic.model.folder import open_folder

    with cli.Counter("pairs") as counter:
        _, skipped = score_file(open_folder(model), **options, progress=counter)
    if skipped:
        print(f"paraphrastic: lines left out, which have not two columns: {skipped}", file=sys.stderr)
