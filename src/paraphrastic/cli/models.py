"""`paraphrastic models`, `demo`, `export` and `import-checkpoint`: models, pages and other formats."""

from operator import itemgetter
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments as cli

# What `--format` takes. The packages of those that are other libraries are in extras of the same names.
_FORMATS = ("paraphrastic", "sentence-transformers", "model2vec", "onnx", "javascript")
_WITH_4_BITS = ("paraphrastic", "javascript")
_SHOWN = itemgetter("languages", "dimension", "commercial_use")


@cli.command(
    "list the models that come with the package",
    "List the models that come with the package, by the name that --model and load_model take.",
    """\
example:
  paraphrastic models

Each line has a model's name, languages, dimension, size in MB and folder, and says whether the licences of
all that it has learned from allow commercial use (allowed, forbidden or unknown), with tabs in between. The
folder's README.md has the scores of the model, and these licences.
""",
)
def models() -> None:
    """Print the models that come with the package."""
    from paraphrastic.model.folder import read_config, shipped_models

    for name, folder in shipped_models().items():
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        languages, dimension, use = _SHOWN(read_config(folder))
        cli.say(name, "-".join(languages), dimension, f"{size:.1f}", folder, use)


@cli.command(
    "write a page in which people try a model",
    "Write a page that runs a model in any browser, without a network. It compares two sentences, shows how\n"
    "much each word counts, and searches among sentences by their meaning.",
    """\
example:
  paraphrastic demo --model en --output demo.html

The model becomes part of the page, with 4 bits for each number. What people type stays in their browser.
""",
    cli.model(chosen=True),
    cli.output("HTML file to write"),
    cli.file(
        "--sentences",
        "sentences to search in, one per line, plain or compressed (default: sentences in English, German, "
        "Spanish and French that come with the package, in the languages of the model)",
    ),
)
def demo(model: str | None, output: str, sentences: str | None) -> None:
    """Write a page that runs a model."""
    from paraphrastic.base.rows import kind_of
    from paraphrastic.base.text_files import read_sentences
    from paraphrastic.interop.demo import write_demo
    from paraphrastic.model.folder import choose_folder, open_folder

    if sentences and kind_of(sentences):
        raise InputError(f"{sentences}: is a table; the page searches in text with a sentence on each line")
    searched = read_sentences(sentences) if sentences else None
    size = write_demo(open_folder(choose_folder(model)), output, sentences=searched)
    # The page itself may go to standard output.
    cli.note(f"{output}: {size / 1e6:.1f} MB; open it in a browser")


@cli.command(
    "write a model for another library",
    "Write a model for another library, in which it gives the same cosines, or a smaller version of it.",
    """\
examples:
  paraphrastic export --model en --format onnx --output exported/en-onnx
  paraphrastic export --model en --format paraphrastic --output exported/en-small \\
      --dimension 64 --dtype int8 --corpus data/sample/tatoeba/tatoeba.deu-eng.eng

sentence-transformers and model2vec read the same folder, which load_model reads, too. The README.md of the
export is the model's own, with a line at its end about what was changed.
""",
    cli.model(),
    cli.argument("--format", required=True, choices=_FORMATS, help="format of the export"),
    cli.output("folder to create", "DIR"),
    cli.counted("--dimension", "dimension of the vectors (default: unchanged)"),
    cli.argument(
        "--reduce",
        choices=("pca", "truncate"),
        help="how to get fewer dimensions: pca keeps the directions in which the vectors of a corpus are "
        "longest, and truncate the first columns (default: pca)",
    ),
    cli.file("--corpus", "sentences for pca, one per line, plain or compressed"),
    cli.argument(
        "--dtype",
        choices=("float32", "float16", "int8", "int4"),
        help="number format of the embeddings (default: unchanged)",
    ),
)
def export(model: str, format: str, output: str, **options: Any) -> None:
    """Write a model for another library, or a smaller version of it."""
    from paraphrastic.interop.compression import smaller_model
    from paraphrastic.interop.formats import export_model
    from paraphrastic.model.files import CARD
    from paraphrastic.model.folder import open_folder

    dimension, reduce, corpus, dtype = map(options.get, ("dimension", "reduce", "corpus", "dtype"))
    if dtype == "int4" and format not in _WITH_4_BITS:
        raise InputError(f"--dtype int4: only the formats {' and '.join(_WITH_4_BITS)} have tables of 4 bits")
    if reduce and not dimension:
        raise InputError("--reduce needs --dimension, the number of dimensions to keep")
    if bool(corpus) != bool(dimension and reduce != "truncate"):
        raise InputError("--corpus and --dimension belong together, unless --reduce is truncate")
    opened = open_folder(model)
    exported, changes = smaller_model(opened, **options)
    card = opened.folder / CARD if opened.folder else None
    text = card.read_text(encoding="utf-8", errors="replace") if card and card.is_file() else None
    export_model(exported, format, Path(output), card=text, changes=changes)
    cli.say(f"{output}: {exported.dim} dimensions")


@cli.command(
    "turn a checkpoint of the authors' code into a model folder",
    "Turn a checkpoint of the authors' code (Wieting et al. 2021) into a model folder.",
    """\
example:
  paraphrastic import-checkpoint model.para.lc.100.pt --sp-model paranmt.model \\
      --languages en --name paranmt --output models/paranmt

A checkpoint is a torch pickle, which could run any code; the command reads it without running code, or
refuses it. The model gives the same vectors as the authors' code, except for empty text, whose vector is zero
here, and for pieces that the training text lacks, which have small random embeddings.
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
        type=cli.codes,
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
    """Write a model folder of a model that the authors' code trained."""
    from paraphrastic.interop.checkpoint import import_checkpoint

    model = import_checkpoint(output=output, **options)
    cli.say(f"{output}: {model.processor.get_piece_size():,} pieces, {model.dim} dimensions")
