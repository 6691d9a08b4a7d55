"""`paraphrastic models`, `demo`, `export` and `import-checkpoint`: models, pages and other formats."""

import argparse
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments as cli
from paraphrastic.cli.plugins import plugins

if TYPE_CHECKING:
    from paraphrastic.model.encoder import SentenceEncoder

# What `--format` takes. The packages of those that are other libraries are in extras of the same names.
_FORMATS = ("paraphrastic", "sentence-transformers", "model2vec", "onnx", "glove", "javascript")


@cli.command(
    "list the models that come with the package",
    "List the models that come with the package, by the name that --model and load_model take.",
    """\
example:
  paraphrastic models

Lines are name, languages, dimension, size in MB, folder, and whether the licences of all that the model has
learned from allow commercial use (allowed, forbidden or unknown), separated by tabs. The folder's README.md
has the scores of the model, and these licences.
""",
)
def models() -> None:
    """Print the models that come with the package."""
    from paraphrastic.model.config_file import read_config
    from paraphrastic.model.files import CONFIG
    from paraphrastic.model.shipped import shipped_models

    for name, folder in shipped_models().items():
        config = read_config(folder / CONFIG)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        about = (name, "-".join(config["languages"]), config["dimension"], f"{size:.1f}", folder)
        cli.say(*about, config["commercial_use"])


@cli.command(
    "write a page in which people try a model",
    "Write a page that runs a model in any browser, without a network. It compares two sentences, shows how\n"
    "much each word counts, and searches among sentences by their meaning.",
    """\
example:
  paraphrastic demo --model en --output demo.html

The model becomes part of the page, with 4 bits for each number unless it has 2 or 4 already. What people type
stays in their browser.
""",
    cli.model(chosen=True),
    cli.output("HTML file to write"),
    cli.file(
        "--sentences",
        "sentences to search in, one per line, plain or compressed (default: sentences in English, German, "
        "Spanish and French that come with the package, in the languages of the model)",
    ),
    cli.choice("--dtype", ("int4", "int2"), "number format of the embeddings in the page (default: int4)"),
)
def demo(model: str | None, output: str, sentences: str | None, dtype: Any) -> None:
    """Write a page that runs a model."""
    from paraphrastic.base.rows import Source
    from paraphrastic.base.text_files import read_sentences
    from paraphrastic.interop.demo import write_demo
    from paraphrastic.model.folder import choose_folder, open_folder

    if sentences and Source(sentences).is_table:
        raise InputError(f"{sentences}: is a table; the page searches in text with a sentence on each line")
    searched = read_sentences(sentences) if sentences else None
    size = write_demo(open_folder(choose_folder(model)), Path(output), sentences=searched, dtype=dtype)
    # The page itself may go to standard output.
    cli.note(f"{output}: {size / 1e6:.1f} MB; open it in a browser")


@cli.command(
    "write a model for another library",
    "Write a model for another library, and check that it gives the same results there.",
    """\
examples:
  paraphrastic export --model en --format onnx --output exported/en-onnx \\
      --text data/sample/tatoeba/tatoeba.deu-eng.eng
  paraphrastic export --model results/models/en --format paraphrastic --output exported/en-small \\
      --dimension 64 --dtype int8 --corpus data/sample/tatoeba/tatoeba.deu-eng.eng \\
      --sts results/testsets/sts.parquet

The sentences of the text are embedded with the model and with the export. If their cosines differ, nothing
is exported and the message names the lines. The README.md of the export has the results of the comparison. A
model's folder loads in sentence-transformers and model2vec as it is; the formats with these names copy the
folder and compare.
""",
    cli.model(),
    cli.argument("--format", required=True, choices=_FORMATS, help="format of the export"),
    cli.output("folder to create", "DIR"),
    cli.file(
        "--text",
        "sentences to compare, one per line, plain or compressed (default: sentences in many languages "
        "that come with the package)",
    ),
    cli.group(
        "smaller models",
        "The command prints how the size, the speed and the score on STS change.",
        cli.counted("--dimension", "dimension of the vectors (default: unchanged)"),
        cli.choice(
            "--reduce",
            ("pca", "truncate"),
            "how to get fewer dimensions: pca keeps the directions in which a corpus's vectors are longest, "
            "and truncate the first columns (default: pca)",
            dest="method",
        ),
        cli.flag("--prune", "leave out pieces that the corpus does not need"),
        cli.argument(
            "--dtype",
            choices=("float32", "float16", "int8", "int4", "int2"),
            help="number format of the embeddings (default: unchanged)",
        ),
        cli.file("--corpus", "sentences for pca and --prune, one per line, plain or compressed"),
        cli.file("--sts", "test sets for the score on STS: results/testsets/sts.parquet, or STS.zip"),
    ),
)
def export(model: str, format: str, output: str, text: str | None, sts: str | None, **options: Any) -> None:
    """Write a model for another library, and print how well it agrees there."""
    from paraphrastic.interop.compression import Original
    from paraphrastic.interop.export import export_model
    from paraphrastic.interop.model_card import read_card
    from paraphrastic.interop.parity import TEXT
    from paraphrastic.model.average import AverageEncoder
    from paraphrastic.model.folder import find_folder, open_folder

    folder = find_folder(model)
    opened = open_folder(model)
    card = read_card(folder)
    smaller = _smaller(opened, model, **options)
    with ExitStack() as stack:
        original = None
        if smaller is not opened and isinstance(opened, AverageEncoder):
            score = stack.enter_context(_scorer(sts)) if sts else None
            original = Original(opened, folder, score)
        stack.enter_context(cli.needing(format))
        exported = export_model(
            smaller, format, Path(output), text=Path(text) if text else TEXT, card=card, original=original
        )
    for what, result in [*exported.parity.table(), *exported.costs]:
        cli.say(f"{what}: {result}")


def _scorer(testsets: str) -> "AbstractContextManager[Callable[[SentenceEncoder], float]]":
    """What scores a model on test sets of STS, which only the pipeline can."""
    for plugin in plugins():
        if scorer := getattr(plugin, "sts_scorer", None):
            return scorer(testsets)
    raise InputError("--sts: scores need the pipeline; run `make install` in the project's folder")


def _smaller(
    model: "SentenceEncoder", folder: str, *, corpus: str | None, **options: Any
) -> "SentenceEncoder":
    """Return the model, or a smaller version if one is asked for."""
    from paraphrastic.base.text_files import read_sentences
    from paraphrastic.interop.compression import Reduction, reduce_model
    from paraphrastic.model.average import AverageEncoder

    reduction = Reduction(**options)
    if not (reduction.dimension or reduction.prune or reduction.dtype):
        return model
    if not isinstance(model, AverageEncoder):
        raise InputError(f"{folder}: is not a single average, so there is no smaller version of it")
    if not reduction.needs_corpus:
        return reduce_model(model, reduction)
    if not corpus:
        raise InputError("--corpus is needed: give sentences like those that the smaller model is for")
    return reduce_model(model, reduction, read_sentences(corpus))


def _languages(text: str) -> tuple[str, ...]:
    """One language code or several, such as fr-en."""
    codes = tuple(text.split("-"))
    if len(set(codes)) < len(codes) or not all(re.fullmatch("[a-z]{2,3}", code) for code in codes):
        raise argparse.ArgumentTypeError(f"{text!r} is not a language such as en, or a pair such as fr-en")
    return codes


@cli.command(
    "turn a checkpoint of the original code into a model folder",
    "Turn a checkpoint of the original code into a model folder.",
    """\
example:
  paraphrastic import-checkpoint model.para.lc.100.pt --sp-model paranmt.model \\
      --languages en --name paranmt --output models/paranmt

A checkpoint is a torch pickle, which could run any code; the command reads it without running code, or
refuses it. The model gives the same vectors as the original code (Wieting et al. 2021), except for text
without any known piece, whose vector is zero here.
""",
    cli.file("checkpoint", "file that the training saved, such as model.para.lc.100.pt"),
    cli.file(
        "--sp-model",
        "sentencepiece model of the checkpoint, such as paranmt.model",
        required=True,
        dest="sentencepiece_model",
    ),
    cli.output("folder of the model to create", "DIR"),
    cli.argument("--name", help="name of the model (default: name of the checkpoint)"),
    cli.argument(
        "--languages",
        type=_languages,
        default=(),
        metavar="CODES",
        help="languages of the model, such as en or fr-en; in the order of the columns of the training data "
        "if the model has separate parameters for its two sides",
    ),
    cli.flag(
        "--tokenized", "sentences will be given as the Moses tokenizer cuts them, which some models need"
    ),
)
def import_checkpoint(output: str, **options: Any) -> None:
    """Write a model folder of a model that the original code trained."""
    from paraphrastic.interop.checkpoint_import import import_checkpoint

    model = import_checkpoint(output=output, **options)
    cli.say(f"{Path(output)}: {model.processor.get_piece_size():,} pieces, {model.dim} dimensions")
