"""`paraphrastic import-checkpoint`: a model that the original code trained, as a model folder."""

import argparse
import re
from pathlib import Path

from paraphrastic.cli import arguments

HELP = "make a model folder of a checkpoint of the original code"
DESCRIPTION = "Make a model folder of a checkpoint of the original code."
EXAMPLE = """\
example:
  paraphrastic import-checkpoint model.para.lc.100.pt --sp-model paranmt.model \\
      --languages en --name paranmt --output models/paranmt

The file is a torch pickle, which could run any code; it is read without running any, or refused. The folder's
vectors are the original code's (Wieting et al. 2021), but for text without any piece, which is zero here.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "checkpoint", metavar="FILE", help="what its training saved, such as model.para.lc.100.pt"
    )
    parser.add_argument(
        "--sp-model", required=True, metavar="FILE", help="its sentencepiece model, such as paranmt.model"
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="the model's folder")
    parser.add_argument("--name", help="of the model (that of the file)")
    parser.add_argument(
        "--languages",
        type=_languages,
        default=(),
        metavar="CODES",
        help="of the model, such as en or fr-en; of a model that is separate for its sides, in the order of "
        "the columns of its training data",
    )
    parser.add_argument(
        "--tokenized",
        action="store_true",
        help="sentences will be given as the Moses tokenizer cuts them, which some models need",
    )


def _languages(text: str) -> tuple[str, ...]:
    """One code of a language, or several, such as fr-en."""
    codes = tuple(text.split("-"))
    if len(set(codes)) < len(codes) or not all(re.fullmatch("[a-z]{2,3}", code) for code in codes):
        raise argparse.ArgumentTypeError(f"{text!r} is not a language such as en, or a pair such as fr-en")
    return codes


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    with arguments.needing("pipeline"):
        from paraphrastic.interop.checkpoint_import import import_checkpoint
    model = import_checkpoint(
        options.checkpoint,
        options.sp_model,
        options.output,
        name=options.name,
        languages=options.languages,
        tokenized=options.tokenized,
    )
    print(f"{Path(options.output)}: {model.processor.get_piece_size():,} pieces, {model.dim} dimensions")
