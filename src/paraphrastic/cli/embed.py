"""`paraphrastic embed`: a vector for each line of a file."""

import argparse

from paraphrastic.cli import arguments

HELP = "turn sentences into vectors"
DESCRIPTION = "Turn the sentences of a text file, one a line, into vectors."
EXAMPLE = """\
example:
  paraphrastic embed --model results/models/en --input data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --output vectors.npy

In Python, numpy.load("vectors.npy", mmap_mode="r") opens the file, row i of line i, without reading it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser)
    arguments.add_input(parser)
    parser.add_argument(
        "--output", required=True, metavar="FILE", help=".npy file, a row for each line; - is standard output"
    )
    arguments.add_language(parser)
    parser.add_argument(
        "--dtype", choices=("float32", "float16"), default="float32", help="of the vectors (float32)"
    )
    parser.add_argument("--normalize", action="store_true", help="make vectors as long as 1")
    arguments.add_threads(parser)
    parser.add_argument(
        "--batch", type=arguments.count, default=2048, metavar="N", help="sentences at a time (2048)"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.model.embed_files import embed_file
    from paraphrastic.model.folder import open_folder

    with arguments.Counter("sentences") as counter:
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
