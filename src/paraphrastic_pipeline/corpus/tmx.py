"""Translation memories (TMX 1.4), read as a stream."""

import html.entities
from collections.abc import Iterator
from typing import BinaryIO
from xml.etree import ElementTree

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic_pipeline.corpus.lines import Text, Unreadable
from paraphrastic_pipeline.corpus.tables import is_language

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def tmx_rows(
    text: Text, languages: tuple[str, str], unreadable: Unreadable
) -> Iterator[tuple[str, str, int]]:
    """Source, target and number of every unit (`tu`) that has both languages.

    Only the primary subtag of a variant's language counts (`en-US` is `en`). If a unit has several variants
    in one language, the first is used; if both languages are the same, the first two are.

    Raises:
        InputError: the XML is not well-formed, or its entities expand to far more text than it has.
    """
    with text.open() as stream:
        try:
            for number, variants in enumerate(_units(stream), start=1):
                unreadable.rows += 1
                source, target = (
                    [segment for tag, segment in variants if is_language(tag, code)] for code in languages
                )
                # A paraphrase consists of two variants in one language.
                sides = [*source[:1], *(target[1:2] if languages[0] == languages[1] else target[:1])]
                if len(sides) == 2:
                    yield sides[0], sides[1], number
                else:
                    unreadable.add(text, number, "not in both languages")
        # An unknown encoding has no position.
        except (ElementTree.ParseError, LookupError, ValueError) as error:
            line, _ = getattr(error, "position", (1, 0))
            raise InputError(f"{text}:{line}: damaged: {error}") from None


def _units(stream: BinaryIO) -> Iterator[list[tuple[str, str]]]:
    """The variants of each unit, as language and text."""
    parser, body = ElementTree.XMLParser(), ElementTree.Element("body")  # noqa: S314
    # Files that refer to TMX's document type, which is not fetched, may have the entities of HTML.
    parser.entity.update(html.entities.entitydefs)
    for event, element in ElementTree.iterparse(stream, ("start", "end"), parser):  # noqa: S314
        if event == "start" and element.tag in ("tmx", "body"):
            body = element
        elif event == "end" and element.tag == "tu":
            yield [
                (clean(variant.get(_LANGUAGE) or variant.get("lang") or ""), clean(_text(segment)))
                for variant in element.iter("tuv")
                for segment in variant.iter("seg")
            ]
            # Otherwise, the tree would grow with the file.
            body.clear()


def _text(element: ElementTree.Element) -> str:
    """The text of a segment: a code that stands alone leaves a space, and one of a pair nothing."""
    parts = [element.text or ""]
    for child in element:
        if child.tag in ("ph", "it", "ut"):
            parts.append(" ")
        elif child.tag not in ("bpt", "ept"):
            parts.append(_text(child))
        parts.append(child.tail or "")
    return "".join(parts)
