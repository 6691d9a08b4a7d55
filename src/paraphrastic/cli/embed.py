"""`paraphrastic embed`: a vector for each line of a file."""

import argparse

from paraphrastic.cli.arguments import (
    Commands,
    Counter,
    add_command,
    add_input,
    add_language,
    add_model,
    add_threads,
    count,
)

_EXAMPLE = """\
example:
  paraphrastic embed --model results/models/en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output vectors.npy

In Python, numpy.load("vectors.npy", mmap_mode="r") opens the file, row i of line i, without reading it.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        _run,
        help="turn sentences into vectors",
        description="Turn the sentences of a text file, one a line, into vectors.",
        example=_EXAMPLE,
    )
    add_model(parser)
    add_input(parser)
    parser.add_argument(
        "--output", required=True, metavar="FILE", help=".npy file, a row for each line; - is standard output"
    )
    add_language(parser)
    parser.add_argument(
        "--dtype", choices=("float32", "float16"), default="float32", help="of the vectors (float32)"
    )
    parser.add_argument("--normalize", action="store_true", help="make vectors as long as 1")
    add_threads(parser)
    parser.add_argument("--batch", type=count, default=2048, metavar="N", help="sentences at a time (2048)")


def _run(options: argparse.Namespace) -> None:
    from paraphrastic.model.embed_files import embed_file
    from paraphrastic.model.folder import open_folder

    with Counter("sentences") as counter:
        embed_file(
            open_folder(options.model),
            options.input,
            options.output,
            language=options.language,
            threads=options.threads,
            batch=options.batch,
            dtype=options.dtype,
            normalize=options.normalize,
            progress=counter,
        )
