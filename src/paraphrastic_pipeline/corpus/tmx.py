"""Translation memories (TMX 1.4), read as a stream."""

import html.entities
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic_pipeline.corpus.lines import MAX_BYTES, MAX_LINE_BYTES, TOO_LONG, Unreadable
from paraphrastic_pipeline.corpus.tables import is_language
from paraphrastic_pipeline.registry.archive import open_stream

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# Bytes at the beginning of a file in which its entities would be declared.
_HEAD_BYTES = 1 << 16


def tmx_rows(
    path: Path, languages: tuple[str, str], unreadable: Unreadable
) -> Iterator[tuple[str, str, int]]:
    """Source, target and number of every unit (`tu`) that has both languages.

    Only the primary subtag of a variant's language counts (`en-US` is `en`). If a unit has several variants
    in one language, the first is used; if both languages are the same, the first two are.

    Raises:
        InputError: the XML is not well-formed, is not TMX, or declares entities, since a few lines of them
            can expand to gigabytes.
    """
    with open_stream(path, max_bytes=MAX_BYTES) as stream:
        # In UTF-16, every second byte of ASCII is zero.
        if b"<!ENTITY" in stream.peek(_HEAD_BYTES).replace(b"\0", b""):  # type: ignore[attr-defined]
            raise InputError(f"{path}: declares entities, which is refused")
        try:
            for number, variants in enumerate(_units(stream, path), start=1):
                unreadable.rows += 1
                source, target = (
                    [text for tag, text in variants if is_language(tag, code)] for code in languages
                )
                # A paraphrase consists of two variants in one language.
                sides = [*source[:1], *(target[1:2] if languages[0] == languages[1] else target[:1])]
                if len(sides) < 2:
                    unreadable.add(str(path), number, "not in both languages")
                elif max(len(side.encode()) for side in sides) > MAX_LINE_BYTES:
                    unreadable.add(str(path), number, TOO_LONG)
                else:
                    yield sides[0], sides[1], number
        # An unknown encoding has no position.
        except (ElementTree.ParseError, LookupError, ValueError) as error:
            line, _ = getattr(error, "position", (1, 0))
            raise InputError(f"{path}:{line}: damaged: {error}") from None


def _units(stream: Any, path: Path) -> Iterator[list[tuple[str, str]]]:
    """The variants of each unit, as language and text."""
    parser = ElementTree.XMLParser()  # noqa: S314
    body: Any = None
    # Files that refer to TMX's document type, which is not fetched, may have the entities of HTML.
    parser.entity.update(html.entities.entitydefs)
    for event, element in ElementTree.iterparse(stream, ("start", "end"), parser):  # noqa: S314
        if body is None and element.tag != "tmx":
            raise InputError(f"{path}: not TMX: its first element is {element.tag[:40]!r}")
        if event == "start":
            body = element if element.tag in ("tmx", "body") else body
        elif element.tag == "tu":
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
