"""The map by which sentencepiece normalises characters, as it lies compiled in a model."""

import struct
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError
from paraphrastic.interop.export.characters import any_of, joining


@dataclass(frozen=True, slots=True)
class Charsmap:
    """A map of characters, and what is to be known of it to apply it to one character after the other.

    Attributes:
        values: what becomes of characters and sequences of them; the longest counts at each place of a text.
        pattern: a regular expression of the longest key of several characters; empty without any.
        joins: characters that may belong to what stands before them, by Unicode or by the map.
        exceptions: sequences that may not become their value when their characters are mapped and composed
            (NFC); with their value and what they become.
    """

    values: dict[str, str]
    pattern: str
    joins: frozenset[str]
    exceptions: dict[str, tuple[str, str]]


@lru_cache(maxsize=2)  # Nearly all models have the same or none; this takes a second.
def read_charsmap(blob: bytes) -> Charsmap:
    """Read and analyse a map.

    Args:
        blob: `NormalizerSpec.precompiled_charsmap`: the size of a trie, the trie, and all that its keys
            become, each ended by a zero byte. The trie is a double array of the library Darts-clone.

    Raises:
        InputError: the map is damaged.
    """
    try:
        values = {key.decode(): value.decode() for key, value in _entries(blob)}
    except (ValueError, IndexError, struct.error) as error:
        raise InputError(f"its sentencepiece model's map of characters is damaged: {error}") from None
    sequences = [key for key in values if len(key) > 1]
    joins = joining() | {character for key in sequences for character in key[1:]}
    joins |= {key for key, value in values.items() if len(key) == 1 and value[:1] in joins}
    pattern = any_of(sequences) if sequences else ""
    return Charsmap(values, pattern, joins, _exceptions(values, sequences))


def _entries(blob: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not blob:
        return
    (size,) = struct.unpack_from("<I", blob)
    units: npt.NDArray[np.int64] = np.frombuffer(blob, "<u4", size // 4, offset=4).astype(np.int64)
    values = blob[4 + size :]
    # A unit has the label by which it is reached, where its children are, and whether a key ends in it.
    labels = (units & 0x800000FF).tolist()
    children = (np.arange(len(units)) ^ ((units >> 10) << ((units & 0x200) >> 6))).tolist()
    ends = ((units & 0x100) != 0).tolist()
    by_parent: dict[int, list[int]] = {}
    for unit, label in enumerate(labels):
        if 0 < label < 256:
            by_parent.setdefault(unit ^ label, []).append(unit)

    @cache  # Keys that go on in the same way share units.
    def below(place: int) -> list[tuple[bytes, bytes]]:
        found = []
        for unit in by_parent.get(place, ()):
            label, child = bytes([labels[unit]]), children[unit]
            if ends[unit]:
                start = int(units[child]) & 0x7FFFFFFF
                found.append((label, values[start : values.index(b"\0", start)]))
            found += [(label + key, value) for key, value in below(child)]
        return found

    yield from below(children[0])


def _exceptions(values: dict[str, str], sequences: Collection[str]) -> dict[str, tuple[str, str]]:
    """`exceptions` of a map."""
    table = {ord(key): value for key, value in values.items() if len(key) == 1}
    found = {}
    for key in sequences:
        value, reached = values[key], unicodedata.normalize("NFC", key.translate(table))
        # Compositions beyond the first plane are newer than some libraries' Unicode.
        newer = any(character > "\uffff" and unicodedata.decomposition(character) for character in value)
        if newer or reached != value:
            found[key] = (value, reached)
    return found
