"""Translation memories (TMX 1.4), read as a stream.

Expat is used directly, because it knows the line of every unit and builds no tree. The usual document type
is allowed but never fetched. A file that declares its own entities is refused, since a few lines of them can
expand to gigabytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO
from xml.parsers import expat

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic_pipeline.base.lines import MAX_LINE_BYTES, UnreadableRows
from paraphrastic_pipeline.base.row_values import RowError, parse_rows
from paraphrastic_pipeline.registry.language_labels import labels_of

_CHUNK_BYTES = 1 << 16
# Elements in a segment that contain markup of another format instead of text.
_CODE_ELEMENTS = frozenset(("bpt", "ept", "it", "ph", "ut"))


def tmx_rows(
    stream: BinaryIO, label: str, languages: tuple[str, str], unreadable: UnreadableRows
) -> Iterator[tuple[str, str, int]]:
    """Source, target and line of every unit (`tu`) that has both languages.

    Only the primary subtag of a variant's language counts (`en-US` is `en`). If a unit has several variants
    in one language, the first is used; if both languages are the same, the first two are.

    Raises:
        InputError: the XML is not well-formed, is not TMX, declares entities, or has an overlong unit.
    """
    units = _Units(label)
    finished = False
    while not finished:
        chunk = stream.read(_CHUNK_BYTES)
        finished = not chunk
        numbered = ((unit.line, unit) for unit in units.feed(chunk))
        yield from parse_rows(numbered, partial(_row, languages), label, unreadable)


@dataclass(slots=True)
class _Unit:
    """A translation unit: its variants as (language, text), and its first fault, if any."""

    line: int
    number: int
    variants: list[tuple[str, str]] = field(default_factory=list)
    fault: str = ""


def _row(languages: tuple[str, str], line: int, unit: _Unit) -> tuple[str, str, int]:
    if unit.fault:
        raise RowError(f"unit {unit.number}: {unit.fault}")
    source, target = languages
    texts: dict[str, list[str]] = {}
    for language, text in unit.variants:
        texts.setdefault(language, []).append(text)
    # A paraphrase consists of two variants in one language.
    second = 1 if source == target else 0
    try:
        return _texts_in(source, texts)[0], _texts_in(target, texts)[second], line
    except LookupError:
        wanted = f"two variants in {source}" if source == target else f"{source} and {target}"
        have = ", ".join(list(texts)[:10]) or "no variant"
        raise RowError(f"unit {unit.number} needs {wanted}, but it has {have}") from None


def _texts_in(language: str, texts: Mapping[str, list[str]]) -> list[str]:
    """The variants in a language or, if there are none, under another code of it, such as `no` for `nb`."""
    if language in texts:
        return texts[language]
    labels = set(labels_of(language))
    return next((variants for code, variants in texts.items() if labels & set(labels_of(code))), [])


class _Units:
    """Collects units from XML that is fed in chunks."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._finished: list[_Unit] = []
        self._unit: _Unit | None = None
        self._count = 0
        self._language = ""
        self._text: list[str] = []
        self._characters = 0
        # The names of the elements that are open.
        self._open: list[str] = []
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add_text
        parser.EntityDeclHandler = self._refuse_entity
        parser.SkippedEntityHandler = self._skip_entity

    def feed(self, chunk: bytes) -> list[_Unit]:
        """Return the units that end in the next bytes of the file; an empty chunk ends the file."""
        self._finished = []
        try:
            self._parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            raise InputError(
                f"{self._label}:{error.lineno}: damaged: {expat.ErrorString(error.code)}"
            ) from None
        except (LookupError, ValueError) as error:
            raise InputError(f"{self._label}: its encoding cannot be read: {error}") from None
        return self._finished

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._open and name != "tmx":
            raise InputError(f"{self._label}: not TMX: its first element is {name[:40]!r}")
        self._open.append(name)
        if name == "tu":
            self._count += 1
            self._unit = _Unit(self._parser.CurrentLineNumber, self._count)
            self._characters = 0
        elif name == "tuv":
            tag = attributes.get("xml:lang") or attributes.get("lang") or ""
            self._language = clean(tag).replace("_", "-").split("-")[0].strip().lower()
        elif name == "seg":
            self._text = []

    def _end(self, name: str) -> None:
        self._open.pop()
        if name == "tu" and self._unit is not None:
            self._finished.append(self._unit)
            self._unit = None
        elif name == "seg" and self._unit is not None:
            self._unit.variants.append((self._language, clean("".join(self._text))))

    def _add_text(self, text: str) -> None:
        if self._unit is not None and "seg" in self._open and _CODE_ELEMENTS.isdisjoint(self._open):
            self._text.append(text)
            self._characters += len(text)
            if self._characters > MAX_LINE_BYTES:
                raise InputError(
                    f"{self._label}:{self._unit.line}: a unit longer than {MAX_LINE_BYTES} characters"
                )

    def _refuse_entity(self, name: str, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise InputError(f"{self._label}:{line}: declares the entity {name[:40]!r}, which is refused")

    def _skip_entity(self, name: str, is_parameter: bool) -> None:
        if self._unit is not None and not is_parameter:
            self._unit.fault = self._unit.fault or f"the entity &{name[:40]}; is not defined"
