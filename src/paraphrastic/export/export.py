"""A model for another library: a new folder that gives the same cosines there, or none."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraphrastic.embedding.files import read_sentences
from paraphrastic.errors import InputError
from paraphrastic.export import glove, onnx_graph, static, usage
from paraphrastic.export.parity import Other, Parity, compare
from paraphrastic.files import OWNER, remove_leftovers, sha256, umask, unwritable_named
from paraphrastic.markdown import table
from paraphrastic.model import RawTextEncoder, SentenceEncoder

# Sentences of many languages and scripts, and such as are hard to cut alike.
TEXT = Path(__file__).with_name("sentences.txt")

CARD = "README.md"
_HEADING = "## As exported"


@dataclass(frozen=True, slots=True)
class Format:
    """A format of models.

    Attributes:
        name: as a person knows it.
        write: the model into a new folder.
        open: the folder by the library that it is for.
        usage: how to do that, for the card.
    """

    name: str
    write: Callable[[SentenceEncoder, Path], None]
    open: Callable[[SentenceEncoder, Path], Other]
    usage: str


FORMATS = {
    "paraphrastic": Format("paraphrastic", static.write_own, static.in_this_library, usage.PARAPHRASTIC),
    "sentence-transformers": Format(
        "sentence-transformers",
        static.write_folder,
        static.in_sentence_transformers,
        usage.SENTENCE_TRANSFORMERS,
    ),
    "model2vec": Format("model2vec", static.write_folder, static.in_model2vec, usage.MODEL2VEC),
    "onnx": Format("ONNX Runtime", onnx_graph.write_onnx, onnx_graph.in_onnx, usage.ONNX),
    "glove": Format("text like GloVe's", glove.write_glove, glove.in_glove, usage.GLOVE),
}


def export_model(
    model: RawTextEncoder, form: str, output: Path, *, text: Path = TEXT, card: str | None = None
) -> Parity:
    """Write a model in a format of `FORMATS` into a new folder, and compare it there with what it is here.

    Args:
        model: an average of one table.
        form: of `FORMATS`.
        output: the folder, which is not to be there yet, or to be empty.
        text: sentences to compare with, one a line, also compressed.
        card: of the model, to which the comparison is added.

    Returns:
        What the comparison found; it stands in the folder's `README.md`, too.

    Raises:
        InputError: the model is none that the format can hold, or is another one there; then nothing is left.
        ModuleNotFoundError: the library that the format is for is not installed.
    """
    target = FORMATS[form]
    if not isinstance(model, SentenceEncoder):
        raise InputError(
            f"{model.config['model']}: is more than one average, which {target.name} cannot hold"
        )
    with _new_folder(output) as folder:
        try:
            target.write(model, folder)
        except InputError as error:
            raise InputError(
                f"{model.config['model']}: cannot be exported for {target.name}: {error}"
            ) from None
        parity = compare(model, target.open(model, folder), read_sentences(str(text)))
        parity.check(str(text), target.name)
        files = {path.name: sha256(path) for path in sorted(folder.iterdir())}
        sections = [
            (card or _card(model.config)).partition(f"\n{_HEADING}")[0].rstrip() + "\n",
            f"{_HEADING} for {target.name}\n",
            target.usage.format(folder=output.name, **usage.preparation(model.config)),
            f"Compared with the model that was exported, on `{text.name}`:\n",
            table(("comparison", "result"), parity.table()),
            table(("file", "SHA-256"), [(name, f"`{digest}`") for name, digest in files.items()]),
        ]
        (folder / CARD).write_text("\n".join(sections), encoding="utf-8")
    return parity


@contextmanager
def _new_folder(output: Path) -> Iterator[Path]:
    """A folder that takes its name when it is whole; if anything fails, nothing is left."""
    if output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise InputError(f"{output}: is there already, and no empty folder")
    with unwritable_named(output):
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(output.parent, f".{output.name}.")
            prefix = f".{output.name}.{OWNER}."
            temporary = Path(tempfile.mkdtemp(dir=output.parent, prefix=prefix, suffix=".tmp"))
        except OSError as error:
            raise InputError(f"{output}: cannot be written: {error.strerror}") from None
        try:
            yield temporary
            temporary.chmod(0o777 & ~umask())
            temporary.replace(output)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _card(config: Mapping[str, Any]) -> str:
    """A card of a model that has none."""
    languages = "".join(f"- {language}\n" for language in config.get("languages", ()))
    matter = f"language:\n{languages}" if languages else ""
    return f"---\n{matter}pipeline_tag: sentence-similarity\n---\n# {config['model']}\n"
