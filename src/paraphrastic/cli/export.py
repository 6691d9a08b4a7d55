"""`paraphrastic export`: a model for another library."""

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments

if TYPE_CHECKING:
    from paraphrastic.model.encoder import SentenceEncoder

HELP = "write a model for another library"
DESCRIPTION = "Write a model for another library, and compare it there with what it is here."
EXAMPLE = """\
examples:
  paraphrastic export --model results/models/en --format onnx --output exported/en-onnx \\
      --text data/sample/tatoeba/tatoeba.deu-eng.eng
  paraphrastic export --model results/models/en --format paraphrastic --output exported/en-small \\
      --dimension 64 --dtype int8 --corpus data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --sts results/testsets/sts.parquet

The text is embedded here and there. If the cosines of its sentences differ, nothing is exported, and their
lines are named; what was found is in the README.md of the export. A model's folder loads in
sentence-transformers and model2vec as it is; the formats of these names copy it, and compare.
"""
# What has the packages of a format.
_EXTRAS = {
    "paraphrastic": "",
    "sentence-transformers": "sentence-transformers",
    "model2vec": "model2vec",
    "onnx": "export",
    "glove": "",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser)
    parser.add_argument("--format", required=True, choices=list(_EXTRAS), help="what it is for")
    parser.add_argument("--output", required=True, metavar="DIR", help="a new folder")
    parser.add_argument(
        "--text",
        metavar="FILE",
        help="sentences to compare with, one a line, also compressed (some of many languages)",
    )
    smaller = parser.add_argument_group(
        "smaller models", "What is lost is printed: size, speed, points on STS."
    )
    smaller.add_argument("--dimension", type=arguments.count, metavar="N", help="of the vectors (as it is)")
    smaller.add_argument(
        "--reduce",
        choices=("pca", "truncate"),
        default="pca",
        help="to the directions in which a corpus's vectors are longest, or the first columns (pca)",
    )
    smaller.add_argument(
        "--prune", action="store_true", help="leave out pieces that the corpus does not need"
    )
    smaller.add_argument(
        "--dtype", choices=("float32", "float16", "int8", "int4", "int2"), help="of the table (as it is)"
    )
    smaller.add_argument(
        "--corpus", metavar="FILE", help="sentences for pca and --prune, one a line, also compressed"
    )
    smaller.add_argument("--sts", metavar="FILE", help="test sets: results/testsets/sts.parquet, or STS.zip")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from paraphrastic.interop.export.costs import Original, opened_testsets
    from paraphrastic.interop.export.export import export_model
    from paraphrastic.interop.export.folder import CARD
    from paraphrastic.interop.export.parity import TEXT
    from paraphrastic.model.average import AverageEncoder
    from paraphrastic.model.folder import open_folder

    card = Path(options.model) / CARD
    model = open_folder(options.model)
    smaller = _smaller(model, options)
    with ExitStack() as stack:
        original = None
        if smaller is not model and isinstance(model, AverageEncoder):
            with arguments.needing("pipeline"):
                testsets = stack.enter_context(opened_testsets(options.sts))
            original = Original(model, Path(options.model), testsets)
        stack.enter_context(arguments.needing(_EXTRAS[options.format]))
        found = export_model(
            smaller,
            options.format,
            Path(options.output),
            text=Path(options.text) if options.text else TEXT,
            card=card.read_text(encoding="utf-8") if card.is_file() else None,
            original=original,
        )
    for what, result in [*found.parity.table(), *found.costs]:
        print(f"{what}: {result}")


def _smaller(model: "SentenceEncoder", options: argparse.Namespace) -> "SentenceEncoder":
    """The model, or a smaller version where one is asked for."""
    if not (options.dimension or options.prune or options.dtype):
        return model
    from paraphrastic.interop.compression import Reduction, reduce_model
    from paraphrastic.model.average import AverageEncoder
    from paraphrastic.model.embed_files import read_sentences

    if not isinstance(model, AverageEncoder):
        raise InputError(f"{options.model}: is more than one average, of which there is no smaller version")
    reduction = Reduction(
        prune=options.prune,
        dimension=options.dimension,
        method=options.reduce,
        dtype=options.dtype,
    )
    if reduction.needs_corpus and not options.corpus:
        raise InputError("--corpus is needed: sentences such as the smaller model is for")
    return reduce_model(model, reduction, read_sentences(options.corpus) if reduction.needs_corpus else ())
