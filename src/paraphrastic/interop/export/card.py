"""The card of an export: what is in its folder, and, apart from that, what is known of the model before."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

from paraphrastic.interop.markdown import table
from paraphrastic.model.average import AverageEncoder

Rows = Sequence[tuple[str, str]]

_ORIGIN = "The model that it was made from"
# What a card says of the files beside it: nothing of another folder's.
_OF_FILES = ("Comparison", "Digests")
# The Hub's own list of scores.
_SCORES = re.compile(r"^model-index:.*\n(?:[- ].*\n)*", re.MULTILINE)


def export_card(
    model: AverageEncoder,
    name: str,
    *,
    usage: str,
    smaller: Rows,
    compared: str,
    comparison: Rows,
    digests: Mapping[str, str],
    card: str | None,
) -> str:
    """The card.

    Args:
        model: that was written.
        name: of the format.
        usage: how the folder is used.
        smaller: what was reduced and what it cost; empty for a copy.
        compared: the text that it was compared on.
        comparison: what that found.
        digests: SHA-256 of the folder's files.
        card: of the model before, whose scores, training data and settings are quoted as such.
    """
    matter, sections = parts(card or "")
    if not matter:
        matter = _front_matter(model.config)
    if smaller:
        matter = _SCORES.sub("", matter)
    quoted = [text for title, text in sections if title not in _OF_FILES]
    return "\n".join(
        [
            f"---\n{matter}---\n",
            f"# Paraphrastic sentence embeddings: {model.config['model']}, for {name}\n",
            _description(model),
            usage,
            *(["## What was made smaller\n", table(("what", "result"), smaller)] if smaller else []),
            "## Comparison\n",
            f"Of this folder ({name}) with the model that was written to it, on `{compared}`:\n",
            table(("comparison", "result"), comparison),
            "## Digests\n",
            table(("file", "SHA-256"), [(file, f"`{digest}`") for file, digest in digests.items()]),
            *([f"## {_ORIGIN}\n", *quoted] if quoted else []),
        ]
    )


def size_rows(before: AverageEncoder, after: AverageEncoder) -> list[tuple[str, str]]:
    """What was reduced in a model, for a person to read."""
    way = {"pca": "the directions in which a corpus's vectors are longest", "truncate": "the first"}
    rows = [
        ("dimensions", f"{after.dim:,}, of {before.dim:,}: {way[after.config['reduction']['method']]}"),
        ("pieces", f"{len(after.embeddings):,}, of {len(before.embeddings):,}: those that a corpus needs"),
        ("numbers", f"{after.dtype}, of {before.dtype}"),
    ]
    changed = (
        after.dim < before.dim,
        len(after.known) < len(before.known),
        after.dtype != before.dtype,
    )
    return list(compress(rows, changed))


def _description(model: AverageEncoder) -> str:
    codes = model.config.get("languages", ())
    languages = f"Languages: {' and '.join(codes)}. " if codes else ""
    return (
        f"{languages}A sentence is the average of its {model.config.get('unit', 'subword')}s' embeddings: "
        f"{len(model.embeddings):,} pieces,\n{model.dim} dimensions, {model.dtype}.\n"
    )


def _front_matter(config: Mapping[str, Any]) -> str:
    """Of a model without a card."""
    languages = "".join(f"- {language}\n" for language in config.get("languages", ()))
    return (f"language:\n{languages}" if languages else "") + "pipeline_tag: sentence-similarity\n"


def parts(card: str) -> tuple[str, list[tuple[str, str]]]:
    """A card's front matter, and the titles and texts of its sections, whose headings are one level lower."""
    found = re.match(r"---\n(.*?)^---\n", card, re.DOTALL | re.MULTILINE)
    sections: list[tuple[str, list[str]]] = []
    for line, is_heading in _lines(card[found.end() :] if found else card):
        if is_heading and line.startswith("## "):
            sections.append((line.removeprefix("## ").strip(), []))
        if sections:
            sections[-1][1].append(f"#{line}" if is_heading else line)
    return found[1] if found else "", [(title, "\n".join(lines).rstrip() + "\n") for title, lines in sections]


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines, and whether they are headings; in code, none are."""
    in_code = False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        yield line, not in_code and re.match("#+ ", line) is not None
