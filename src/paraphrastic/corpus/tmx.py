"""Translation memories (TMX 1.4), read as a stream.

The parser is Expat itself, which knows the line of every unit and holds no tree. The usual document type is
allowed but never fetched; a file that declares entities of its own is refused, since a few lines of them can
expand to gigabytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO
from xml.parsers import expat

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import MAX_LINE_BYTES, UnreadableRows, clean
from paraphrastic.corpus.tables import RowError, parse_rows

_CHUNK_BYTES = 1 << 16
# Elements in a segment whose content is the code of another format, no text.
_CODE_ELEMENTS = frozenset(("bpt", "ept", "it", "ph", "ut"))


def tmx_rows(
    stream: BinaryIO, label: str, languages: tuple[str, str], unreadable: UnreadableRows
) -> Iterator[tuple[str, str, int]]:
    """Source, target and line of every unit (`tu`) that has both languages.

    A variant's language is told by its primary subtag (`en-US` is `en`); of several variants in one language,
    the first is taken, and the first two where both languages are the same.

    Raises:
        InputError: XML that is not well-formed, no TMX, declared entities, a unit without end.
    """
    units = _Units(label)
    finished = False
    while not finished:
        chunk = stream.read(_CHUNK_BYTES)
        finished = not chunk
        units.feed(chunk)
        found = ((unit.line, unit) for unit in units.take())
        yield from parse_rows(found, partial(_row, languages), label, unreadable)


@dataclass(slots=True)
class _Unit:
    """A translation unit: its variants as (language, text), and the first thing wrong with it."""

    line: int
    variants: list[tuple[str, str]] = field(default_factory=list)
    fault: str = ""


def _row(languages: tuple[str, str], line: int, unit: _Unit) -> tuple[str, str, int]:
    if unit.fault:
        raise RowError(unit.fault)
    source, target = languages
    texts: dict[str, list[str]] = {}
    for language, text in unit.variants:
        texts.setdefault(language, []).append(text)
    if source == target and len(texts.get(source, ())) >= 2:
        return texts[source][0], texts[source][1], line
    if source != target and source in texts and target in texts:
        return texts[source][0], texts[target][0], line
    wanted = f"two variants in {source}" if source == target else f"{source} and {target}"
    have = ", ".join(list(texts)[:10]) or "no variant"
    raise RowError(f"the unit needs {wanted}, it has {have}")


class _Units:
    """Units of the XML that is fed, a chunk at a time."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._finished: list[_Unit] = []
        self._unit: _Unit | None = None
        self._language = ""
        self._text: list[str] | None = None
        self._characters = 0
        self._code_depth = 0
        self._depth = 0
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add_text
        parser.EntityDeclHandler = self._refuse_entity
        parser.SkippedEntityHandler = self._skip_entity

    def feed(self, chunk: bytes) -> None:
        """Parse more bytes; none at all are the end of the file."""
        try:
            self._parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            raise InputError(
                f"{self._label}:{error.lineno}: damaged: {expat.ErrorString(error.code)}"
            ) from None
        except (LookupError, ValueError) as error:
            raise InputError(f"{self._label}: its encoding cannot be read: {error}") from None

    def take(self) -> list[_Unit]:
        """Units that have ended since the last call."""
        units, self._finished = self._finished, []
        return units

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._depth == 0 and name != "tmx":
            raise InputError(f"{self._label}: not TMX: its first element is {name[:40]!r}")
        self._depth += 1
        if name == "tu":
            self._unit = _Unit(self._parser.CurrentLineNumber)
            self._characters = 0
        elif name == "tuv":
            tag = attributes.get("xml:lang") or attributes.get("lang") or ""
            self._language = clean(tag).replace("_", "-").split("-")[0].strip().lower()
        elif name == "seg" and self._unit is not None:
            self._text = []
            self._code_depth = 0
        elif self._text is not None and (self._code_depth or name in _CODE_ELEMENTS):
            self._code_depth += 1

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "tu" and self._unit is not None:
            self._finished.append(self._unit)
            self._unit = None
        elif name == "seg" and self._text is not None and self._unit is not None:
            self._unit.variants.append((self._language, clean("".join(self._text))))
            self._text = None
        elif self._text is not None and self._code_depth:
            self._code_depth -= 1

    def _add_text(self, text: str) -> None:
        if self._text is not None and not self._code_depth:
            self._text.append(text)
            self._characters += len(text)
            if self._unit is not None and self._characters > MAX_LINE_BYTES:
                raise InputError(
                    f"{self._label}:{self._unit.line}: a unit longer than {MAX_LINE_BYTES} characters"
                )

    def _refuse_entity(self, name: str, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise InputError(f"{self._label}:{line}: declares the entity {name[:40]!r}, which is refused")

    def _skip_entity(self, name: str, is_parameter: bool) -> None:
        if self._unit is not None and not is_parameter:
            self._unit.fault = self._unit.fault or f"the entity &{name[:40]}; is not defined"
