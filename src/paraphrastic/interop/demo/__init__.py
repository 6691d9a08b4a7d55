"""A page in which people try a model: one file that opens from disk and needs no network."""

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from markupsafe import Markup

from paraphrastic.base.errors import InputError
from paraphrastic.base.pages import write_page
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.javascript import MODULE, model_bytes
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder

_FOLDER = Path(__file__).parent
_NAMES = {"en": "English", "de": "German", "es": "Spanish", "fr": "French"}
# What a model of English is asked first. A model with several languages compares two of them.
_PAIR = ("The children are playing in the park.", "Kids play outside.")
_QUERY = "my package is late"

# What a page says about licences.
_USES = {
    "allowed": "The licences of all that it has learned from allow commercial use.",
    "forbidden": "Some of what it has learned from may not be used commercially.",
    "unknown": "",
}


def write_demo(
    model: SentenceEncoder,
    output: Path,
    *,
    sentences: Iterable[str] | None = None,
    dtype: Literal["int4", "int2"] = "int4",
) -> int:
    """Write a page that compares sentences and searches among them with the model in it.

    Args:
        model: an average of one table, which becomes smaller unless it is small already.
        output: the HTML file.
        sentences: sentences to search in, or None for those that come with the package in the model's
            languages.
        dtype: type of the table's entries, unless they have few bits already.

    Returns:
        Size of the page in bytes.

    Raises:
        InputError: the model is not one that JavaScript can run, or there are no sentences.
    """
    name = model.config["model"]
    if not isinstance(model, AverageEncoder):
        raise InputError(f"{name}: is not a single average, and a page can hold no other model")
    if model.bits is None:
        model = with_dtype(model, dtype)
    try:
        content = model_bytes(model)
    except InputError as error:
        raise InputError(f"{name}: cannot run in a page: {error}") from None
    codes = list(model.config.get("languages", ()))
    searched = (
        [" ".join(sentence.split()) for sentence in sentences] if sentences is not None else _shipped(codes)
    )
    searched = [sentence for sentence in searched if sentence]
    if not searched:
        raise InputError(
            f"there are no sentences to search in; the package has some for {', '.join(_NAMES)}, and "
            "--sentences gives others"
        )
    pair = _PAIR if "en" in codes else (searched[0], searched[min(1, len(searched) - 1)])
    known = [_NAMES.get(code, code) for code in codes]
    corpora = list(model.config.get("corpora", ()))
    content_of_page = {
        "name": name,
        "languages": " or ".join([", ".join(known[:-1]), known[-1]] if known[1:] else known)
        or "any language",
        "dim": model.dim,
        "pieces": f"{len(model.known):,}",
        "dtype": model.dtype,
        "megabytes": f"{len(content) / 1e6:.1f}",
        "learned": f"It has learned from {', '.join([*corpora, *model.config['teachers']])}."
        if corpora
        else "",
        "use": _USES[model.config["commercial_use"]],
        "pair": pair,
        "query": _QUERY if "en" in codes and sentences is None else searched[0],
        "sentences": "\n".join(searched),
        "model": Markup(base64.b64encode(content).decode()),  # noqa: S704 - letters and digits
    }
    return write_page(output, _FOLDER, content_of_page, modules=MODULE.read_text(encoding="utf-8") + "\n")


def _shipped(codes: Iterable[str]) -> list[str]:
    """The sentences that come with the package in these languages."""
    files = (_FOLDER / f"sentences.{code}.txt" for code in codes)
    return [line for file in files if file.is_file() for line in file.read_text("utf-8").splitlines()]
