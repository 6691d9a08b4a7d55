"""Export of a model for another library, in which it must give the same cosines."""

from pathlib import Path
from typing import NamedTuple

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import new_folder, sha256
from paraphrastic.base.text_files import read_sentences
from paraphrastic.interop.compression import Original, cost_table, size_rows
from paraphrastic.interop.formats import FORMATS
from paraphrastic.interop.model_card import export_card
from paraphrastic.interop.parity import TEXT, Parity, compare
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.files import CARD


class Exported(NamedTuple):
    """What an export found: how well the exported model agrees with ours, and what a smaller model costs."""

    parity: Parity
    costs: list[tuple[str, str]]


def export_model(
    model: SentenceEncoder,
    form: str,
    output: Path,
    *,
    text: Path = TEXT,
    card: str | None = None,
    original: Original | None = None,
) -> Exported:
    """Write a model in a format of `FORMATS` into a new folder, and compare its vectors there with ours.

    Args:
        model: an average of one table.
        form: a key of `FORMATS`.
        output: the folder, which must be new or empty.
        text: sentences to compare the vectors on, one per line; may be compressed.
        card: card of the model before the export, which the folder's `README.md` quotes.
        original: the model before, if it was made smaller.

    Returns:
        What was found, which is also in the folder's `README.md`.

    Raises:
        InputError: the format cannot hold the model, the exported model does not agree with it, or the test
            sets cannot be read. Nothing is written then.
        ModuleNotFoundError: the library that the format is for is not installed.
    """
    target = FORMATS[form]
    if not isinstance(model, AverageEncoder):
        raise InputError(
            f"{model.config['model']}: is not a single average, and {target.name} cannot hold another model"
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
            smaller=[*size_rows(original.model, model), *costs] if original else (),
            card=card,
            form=form,
            format_name=target.name,
            folder=output.name,
            compared=text.name,
            comparison=parity.table(),
            files={path.name: sha256(path) for path in sorted(folder.iterdir())},
        )
        (folder / CARD).write_text(content, encoding="utf-8")
    return Exported(parity, costs)
