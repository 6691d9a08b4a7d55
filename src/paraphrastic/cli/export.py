"""`paraphrastic export`: a model for another library."""

import argparse
from pathlib import Path

from paraphrastic.cli.arguments import Commands, extra

_EXAMPLE = """\
example:
  paraphrastic export --model results/models/en --format onnx --output exported/en-onnx \\
      --text data/sample/tatoeba/tatoeba.deu-eng.eng

The text is embedded here and there. If the cosines of its sentences differ, nothing is exported, and their
lines are named; what was found is in the README.md of the export. A model's folder loads in
sentence-transformers and model2vec as it is; the first two formats copy it, and compare.
"""
# What has the packages of a format.
_EXTRAS = {
    "sentence-transformers": "sentence-transformers",
    "model2vec": "model2vec",
    "onnx": "export",
    "glove": "",
}


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "export",
        help="write a model for another library",
        description="Write a model for another library, and compare it there with what it is here.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", required=True, metavar="DIR", help="a model's folder")
    parser.add_argument("--format", required=True, choices=list(_EXTRAS), help="what it is for")
    parser.add_argument("--output", required=True, metavar="DIR", help="a new folder")
    parser.add_argument(
        "--text",
        metavar="FILE",
        help="sentences to compare with, one a line, also compressed (some of many languages)",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from paraphrastic.export.export import CARD, TEXT, export_model
    from paraphrastic.model import load_model

    card = Path(options.model) / CARD
    with extra(_EXTRAS[options.format]):
        parity = export_model(
            load_model(options.model),
            options.format,
            Path(options.output),
            text=Path(options.text) if options.text else TEXT,
            card=card.read_text(encoding="utf-8") if card.is_file() else None,
        )
    for what, found in parity.table():
        print(f"{what}: {found}")
