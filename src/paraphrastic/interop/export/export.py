"""A model for another library: a new folder that gives the same cosines there, or none."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.interop.export import glove, onnx_graph, static, usage
from paraphrastic.interop.export.costs import Original, cost_table
from paraphrastic.interop.export.folder import CARD, new_folder
from paraphrastic.interop.export.parity import TEXT, Other, Parity, compare
from paraphrastic.interop.model_card import export_card, size_rows
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.embed_files import read_sentences
from paraphrastic.model.encoder import SentenceEncoder


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
    write: Callable[[AverageEncoder, Path], None]
    open: Callable[[AverageEncoder, Path], Other]
    usage: str


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export found.

    Attributes:
        parity: of the model there and here.
        costs: of a smaller model, for a person to read; empty for any other.
    """

    parity: Parity
    costs: list[tuple[str, str]]


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
    model: SentenceEncoder,
    form: str,
    output: Path,
    *,
    text: Path = TEXT,
    card: str | None = None,
    original: Original | None = None,
) -> Exported:
    """Write a model in a format of `FORMATS` into a new folder, and compare it there with what it is here.

    Args:
        model: an average of one table.
        form: of `FORMATS`.
        output: the folder, which is not to be there yet, or to be empty.
        text: sentences to compare with, one a line, also compressed.
        card: of the model before, for what the folder's `README.md` says of it.
        original: the model before, if it was made smaller.

    Returns:
        What was found; it stands in the folder's `README.md`, too.

    Raises:
        InputError: the model is none that the format can hold, or is another one there; or the test sets
            cannot be read. Then nothing is left.
        ModuleNotFoundError: the library that the format is for is not installed.
    """
    target = FORMATS[form]
    if not isinstance(model, AverageEncoder):
        raise InputError(
            f"{model.config['model']}: is more than one average, which {target.name} cannot hold"
        )
    with new_folder(output) as folder:
        try:
            target.write(model, folder)
        except InputError as error:
            raise InputError(
                f"{model.config['model']}: cannot be exported for {target.name}: {error}"
            ) from None
        parity = compare(model, target.open(model, folder), read_sentences(str(text)))
        parity.check(str(text), target.name)
        costs = cost_table(original, model, folder, list(read_sentences(str(text)))) if original else []
        content = export_card(
            model,
            target.name,
            usage=target.usage.format(folder=output.name, **usage.preparation(model.config)),
            smaller=[*size_rows(original.model, model), *costs] if original else (),
            compared=text.name,
            comparison=parity.table(),
            digests={path.name: sha256(path) for path in sorted(folder.iterdir())},
            card=card,
        )
        (folder / CARD).write_text(content, encoding="utf-8")
    return Exported(parity, costs)
