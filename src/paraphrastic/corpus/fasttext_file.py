"""Check a fastText model's file before fastText reads it.

fastText trusts its files: of one that is cut short it makes a model with arbitrary values, or fills the
memory, or ends the process. The layout of a whole one says how long it has to be.
"""

import mmap
import struct
from pathlib import Path

from paraphrastic.base.errors import InputError

_MAGIC, _VERSIONS, _SUPERVISED = 793712314, (11, 12), 3
_HEADER = "<ii12id"  # magic number, version, twelve settings (the eighth is the model), sampling threshold
_DICTIONARY = "<iiiqq"  # entries, words, labels, tokens, pruned entries
_CENTROIDS = 256  # of each part of a quantised vector


def check_classifier(path: Path) -> None:
    """Raise an `InputError` unless the file is a whole fastText classifier."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            _check(path, content)
    except ValueError:  # an empty file cannot be mapped
        raise InputError(f"{path}: not a fastText model: the file is empty") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _check(path: Path, content: mmap.mmap) -> None:
    reader = _Reader(content)
    try:
        magic, version, *settings = reader.read(_HEADER)
        if magic != _MAGIC:
            raise InputError(f"{path}: not a fastText model")
        if version not in _VERSIONS or settings[7] != _SUPERVISED:
            raise InputError(f"{path}: not a fastText classifier of a known version")
        reader.skip_dictionary()
        quantised_input = bool(reader.read("<?")[0])
        reader.skip_matrix(quantised=quantised_input)
        quantised_output = bool(reader.read("<?")[0])
        reader.skip_matrix(quantised=quantised_input and quantised_output)
    except (struct.error, _DamageError):
        whole = False
    else:
        whole = reader.position == len(content)
    if not whole:
        raise InputError(f"{path}: a damaged fastText model: {len(content)} bytes do not match its contents")


class _DamageError(Exception):
    """A length that cannot be."""


class _Reader:
    """Walks over the parts of a model."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self.position = 0

    def read(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(layout, self._content, self.position)
        self.position += struct.calcsize(layout)
        return values

    def skip(self, size: int) -> None:
        self.position += size
        if size < 0 or self.position > len(self._content):
            raise _DamageError

    def skip_dictionary(self) -> None:
        entries, _, labels, _, pruned = self.read(_DICTIONARY)
        if not 0 < labels <= entries:
            raise _DamageError
        for _ in range(entries):
            end = self._content.find(b"\0", self.position)
            if end < 0:
                raise _DamageError
            self.position = end + 1
            self.skip(8 + 1)  # count and type
        self.skip(8 * max(pruned, 0))

    def skip_matrix(self, *, quantised: bool) -> None:
        if not quantised:
            rows, columns = self.read("<qq")
            self.skip(4 * rows * columns)
            return
        has_norms, rows, _, codes = self.read("<?qqi")
        self.skip(codes)
        self._skip_quantizer()
        if has_norms:
            self.skip(rows)
            self._skip_quantizer()

    def _skip_quantizer(self) -> None:
        dimension, *_ = self.read("<4i")
        self.skip(4 * dimension * _CENTROIDS)
