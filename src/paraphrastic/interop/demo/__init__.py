"""A page in which people try a model: one file that opens from disk and needs no network."""

import base64
import hashlib
import html
import re
from collections.abc import Iterable
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.text_files import byte_output
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.javascript import MODULE, model_bytes
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder

_FOLDER = Path(__file__).parent
_NAMES = {"en": "English", "de": "German", "es": "Spanish", "fr": "French"}
# What a model of English is asked first. A model of other languages compares two of the sentences.
_PAIR = ("The children are playing in the park.", "Kids play outside.")
_QUERY = "my package is late"

# What a page says about licences.
_USES = {
    "allowed": "The licences of all that it has learned from allow commercial use.",
    "forbidden": "Some of what it has learned from may not be used commercially.",
}


def write_demo(model: SentenceEncoder, output: str | Path, *, sentences: Iterable[str] | None = None) -> int:
    """Write a page that compares sentences and searches among them with the model in it.

    Args:
        model: an average of one table, whose entries get 4 bits unless they have them.
        output: the HTML file; `-` is standard output.
        sentences: sentences to search in, or None for those that come with the package in the model's
            languages.

    Returns:
        Size of the page in bytes.

    Raises:
        InputError: the model is not one that JavaScript can run, or there are no sentences.
    """
    name, codes = model.config["model"], model.config["languages"]
    if not isinstance(model, AverageEncoder):
        raise InputError(f"{name}: is not a single average, and a page can hold no other model")
    try:
        model = with_dtype(model, "int4")
        content = model_bytes(model)
    except InputError as error:
        raise InputError(f"{name}: cannot run in a page: {error}") from None
    given = _shipped(codes) if sentences is None else sentences
    searched = [line for line in (" ".join(sentence.split()) for sentence in given) if line]
    if not searched:
        languages = ", ".join(_NAMES.values())
        raise InputError(
            f"there are no sentences to search in; those in the package are in {languages}, and --sentences "
            "gives others"
        )
    pair = _PAIR if "en" in codes else (searched[0], searched[min(1, len(searched) - 1)])
    known = [_NAMES.get(code, code) for code in codes] or ["any language"]
    learned = ", ".join([*model.config["corpora"], *model.config["teachers"]])
    texts = {
        "name": name,
        "languages": " or ".join([*filter(None, [", ".join(known[:-1])]), known[-1]]),
        "dim": str(model.dim),
        "pieces": f"{len(model.known):,}",
        "dtype": model.dtype,
        "megabytes": f"{len(content) / 1e6:.1f}",
        "learned": f"It has learned from {learned}." if learned else "",
        "use": _USES.get(model.config["commercial_use"], ""),
        "first": pair[0],
        "second": pair[1],
        "query": _QUERY if "en" in codes and sentences is None else searched[0],
        "sentences": "\n".join(searched),
    }
    script = MODULE.read_text(encoding="utf-8") + "\n" + (_FOLDER / "page.js").read_text(encoding="utf-8")
    # The only script that browsers run in the page, in case a text brings another one.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest())
    parts = {name: html.escape(text) for name, text in texts.items()} | {
        "style": (_FOLDER / "page.css").read_text(encoding="utf-8"),
        "script": script,
        "digest": digest.decode(),
        "model": base64.b64encode(content).decode(),
    }
    template = (_FOLDER / "page.html").read_text(encoding="utf-8")
    page = re.sub(r"{{ (\w+) }}", lambda place: parts[place[1]], template).encode()
    with byte_output(str(output)) as file:
        return file.write(page)


def _shipped(codes: Iterable[str]) -> list[str]:
    """The sentences that come with the package in these languages."""
    files = (_FOLDER / f"sentences.{code}.txt" for code in codes)
    return [line for file in files if file.is_file() for line in file.read_text("utf-8").splitlines()]
