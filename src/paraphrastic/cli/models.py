"""`paraphrastic export` and `import-checkpoint`: models for and from other libraries."""

import argparse
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments as cli

if TYPE_CHECKING:
    from paraphrastic.model.encoder import SentenceEncoder

# The extra that installs the packages for a format.
_EXTRAS = {
    "paraphrastic": "",
    "sentence-transformers": "sentence-transformers",
    "model2vec": "model2vec",
    "onnx": "export",
    "glove": "",
}


@cli.command(
    "write a model for another library",
    "Write a model for another library, and compare it there with what it is here.",
    """\
examples:
  paraphrastic export --model results/models/en --format onnx --output exported/en-onnx \\
      --text data/sample/tatoeba/tatoeba.deu-eng.eng
  paraphrastic export --model results/models/en --format paraphrastic --output exported/en-small \\
      --dimension 64 --dtype int8 --corpus data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --sts results/testsets/sts.parquet

The text is embedded here and there. If the cosines of its sentences differ, nothing is exported, and their
lines are named; what was found is in the README.md of the export. A model's folder loads in
sentence-transformers and model2vec as it is; the formats of these names copy it, and compare.
""",
    cli.model(),
    cli.argument("--format", required=True, choices=list(_EXTRAS), help="what it is for"),
    cli.output("a new folder", "DIR"),
    cli.file("--text", "sentences to compare with, one a line, also compressed (some of many languages)"),
    cli.group(
        "smaller models",
        "What is lost is printed: size, speed, points on STS.",
        cli.counted("--dimension", "of the vectors (as it is)"),
        cli.choice(
            "--reduce",
            ("pca", "truncate"),
            "to the directions in which a corpus's vectors are longest, or the first columns (pca)",
            dest="method",
        ),
        cli.flag("--prune", "leave out pieces that the corpus does not need"),
        cli.argument(
            "--dtype", choices=("float32", "float16", "int8", "int4", "int2"), help="of the table (as it is)"
        ),
        cli.file("--corpus", "sentences for pca and --prune, one a line, also compressed"),
        cli.file("--sts", "test sets: results/testsets/sts.parquet, or STS.zip"),
    ),
)
def export(model: str, format: str, output: str, text: str | None, sts: str | None, **options: Any) -> None:
    """Write a model for another library, and print how well it agrees there."""
    from paraphrastic.interop.compression import Original, opened_testsets
    from paraphrastic.interop.export import export_model
    from paraphrastic.interop.parity import TEXT
    from paraphrastic.model.average import AverageEncoder
    from paraphrastic.model.files import CARD
    from paraphrastic.model.folder import open_folder

    card = Path(model, CARD)
    opened = open_folder(model)
    smaller = _smaller(opened, model, **options)
    with ExitStack() as stack:
        original = None
        if smaller is not opened and isinstance(opened, AverageEncoder):
            with cli.needing("pipeline"):
                testsets = stack.enter_context(opened_testsets(sts))
            original = Original(opened, Path(model), testsets)
        stack.enter_context(cli.needing(_EXTRAS[format]))
        found = export_model(
            smaller,
            format,
            Path(output),
            text=Path(text) if text else TEXT,
            card=card.read_text(encoding="utf-8") if card.is_file() else None,
            original=original,
        )
    for what, result in [*found.parity.table(), *found.costs]:
        print(f"{what}: {result}")


def _smaller(
    model: "SentenceEncoder", folder: str, *, corpus: str | None, **options: Any
) -> "SentenceEncoder":
    """Return the model, or a smaller version if one is asked for."""
    from paraphrastic.interop.compression import Reduction, reduce_model
    from paraphrastic.model.average import AverageEncoder
    from paraphrastic.model.embed_files import read_sentences

    reduction = Reduction(**options)
    if not (reduction.dimension or reduction.prune or reduction.dtype):
        return model
    if not isinstance(model, AverageEncoder):
        raise InputError(f"{folder}: is more than one average, of which there is no smaller version")
    if not reduction.needs_corpus:
        return reduce_model(model, reduction)
    if not corpus:
        raise InputError("--corpus is needed: sentences such as the smaller model is for")
    return reduce_model(model, reduction, read_sentences(corpus))


def _languages(text: str) -> tuple[str, ...]:
    """One language code or several, such as fr-en."""
    codes = tuple(text.split("-"))
    if len(set(codes)) < len(codes) or not all(re.fullmatch("[a-z]{2,3}", code) for code in codes):
        raise argparse.ArgumentTypeError(f"{text!r} is not a language such as en, or a pair such as fr-en")
    return codes


@cli.command(
    "make a model folder of a checkpoint of the original code",
    "Make a model folder of a checkpoint of the original code.",
    """\
example:
  paraphrastic import-checkpoint model.para.lc.100.pt --sp-model paranmt.model \\
      --languages en --name paranmt --output models/paranmt

The file is a torch pickle, which could run any code; it is read without running any, or refused. The folder's
vectors are the original code's (Wieting et al. 2021), but for text without any piece, which is zero here.
""",
    cli.file("checkpoint", "what its training saved, such as model.para.lc.100.pt"),
    cli.file(
        "--sp-model",
        "its sentencepiece model, such as paranmt.model",
        required=True,
        dest="sentencepiece_model",
    ),
    cli.output("the model's folder", "DIR"),
    cli.argument("--name", help="of the model (that of the file)"),
    cli.argument(
        "--languages",
        type=_languages,
        default=(),
        metavar="CODES",
        help="of the model, such as en or fr-en; of a model that is separate for its sides, in the order of "
        "the columns of its training data",
    ),
    cli.flag(
        "--tokenized", "sentences will be given as the Moses tokenizer cuts them, which some models need"
    ),
)
def import_checkpoint(output: str, **options: Any) -> None:
    """Write a model folder of a model that the original code trained."""
    with cli.needing("pipeline"):
        from paraphrastic.interop.checkpoint_import import import_checkpoint
    model = import_checkpoint(output=output, **options)
    print(f"{Path(output)}: {model.processor.get_piece_size():,} pieces, {model.dim} dimensions")
