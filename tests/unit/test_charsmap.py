"""Test maps of characters from strangers: an export reads them, or says in one line why it cannot."""

import random
import struct
from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor
from small_models import model_of
from test_export_tokenizer import trained

from paraphrastic.base.errors import InputError
from paraphrastic.interop import normalization
from paraphrastic.interop.export import export_model
from paraphrastic.interop.normalization import read_charsmap
from paraphrastic.interop.tokenizer import tokenizer_json
from paraphrastic.model.sentencepiece_models import read_model_proto

VALUE = 1 << 31
CONFIG = {"folding": {}, "lowercase": False, "unit": "subword"}


class Trie:
    """A double array of Darts-clone in the making; its first children are at `place(1)`."""

    def __init__(self, places: int) -> None:
        self.units = [0] * 256 * (places + 1)
        self.units[0] = self.place(1) << 10

    @staticmethod
    def place(number: int) -> int:
        return 256 * number

    def add(self, at: int, label: bytes, to: int, value: int | None = None) -> None:
        """Lead from a place to another one, where a key ends if it has a value."""
        unit = self.place(at) ^ label[0]
        self.units[unit] = label[0] | (unit ^ self.place(to)) << 10
        if value is not None:
            self.units[unit] |= 1 << 8
            self.units[self.place(to)] = VALUE | value

    def blob(self, values: bytes = b"x\0") -> bytes:
        return struct.pack(f"<I{len(self.units)}I", 4 * len(self.units), *self.units) + values


def shared(length: int, *, ends: bool) -> bytes:
    """Two labels lead from each place to the next one, so there are 2 ^ length keys or none."""
    trie = Trie(length + 1)
    for number in range(1, length + 1):
        value = 0 if ends and number == length else None
        for label in (b"q", b"r"):
            trie.add(number, label, number + 1, value)
    return trie.blob()


def cyclic(*, ends: bool) -> bytes:
    trie = Trie(2)
    trie.add(1, b"q", 2, 0 if ends else None)
    trie.add(2, b"r", 1)
    return trie.blob()


def random_keys() -> bytes:
    """Short keys without a pattern, whose expression is long although they are few."""
    generator, trie = random.Random(1), Trie(500)
    for number in range(1, 400):
        for label in generator.sample(range(97, 123), 12):
            to = generator.randrange(number + 1, 500)
            trie.add(number, bytes([label]), to, 0 if number > 380 else None)
    return trie.blob()


def test_a_map_of_keys_that_share_units_is_read() -> None:
    assert read_charsmap(shared(3, ends=True)) == dict.fromkeys(
        ["qqq", "qqr", "qrq", "qrr", "rqq", "rqr", "rrq", "rrr"], "x"
    )
    assert read_charsmap(b"") == {}


ENDLESS = {
    "a key in a circle": cyclic(ends=True),
    "a circle without keys": cyclic(ends=False),
    "shared units": shared(40, ends=True),
    "shared units without keys": shared(40, ends=False),
    "long keys": shared(60, ends=True),
    "random keys": random_keys(),
}


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller bounds, so that reading up to them takes milliseconds."""
    monkeypatch.setattr(normalization, "_MOST_UNITS", 1 << 12)


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("name", ENDLESS)
def test_a_map_without_end_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="map of characters is damaged: it is endless, or much larger than"):
        read_charsmap(ENDLESS[name])


def test_values_are_bounded_too() -> None:
    with pytest.raises(InputError, match="it is endless, or much larger"):
        read_charsmap(shared(12, ends=True)[:-2] + b"x" * 10_000 + b"\0")


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("name", ENDLESS)
def test_an_export_of_such_a_model_ends(name: str, tmp_path: Path) -> None:
    proto = read_model_proto(trained().serialized_model_proto())
    proto.normalizer_spec.precompiled_charsmap = ENDLESS[name]
    try:
        processor = SentencePieceProcessor(model_proto=proto.SerializeToString())
    except RuntimeError as error:
        pytest.skip(f"sentencepiece itself refuses it: {error}")
    model = model_of()
    model.processor = processor
    with pytest.raises(InputError, match=r"en: cannot be exported for .*: its sentencepiece model's map of"):
        export_model(model, "model2vec", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_map_that_needs_a_long_expression_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalization, "_LONGEST_EXPRESSION", 100)
    proto = read_model_proto(trained().serialized_model_proto())
    proto.normalizer_spec.precompiled_charsmap = shared(2, ends=True)
    with pytest.raises(InputError, match="map of characters is too large for a regular expression"):
        tokenizer_json(proto, CONFIG)


def test_a_damaged_map_is_one_line() -> None:
    whole = read_model_proto(trained().serialized_model_proto()).normalizer_spec.precompiled_charsmap
    small = shared(3, ends=True)
    generator = random.Random(2)
    for number in range(200):
        damaged = bytearray(small)
        for _ in range(1 + number % 3):
            damaged[generator.randrange(len(small))] ^= 1 << generator.randrange(8)
        cut = generator.randrange(len(small)) if number % 5 == 0 else len(small)
        try:
            read_charsmap(bytes(damaged[:cut]))
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - most of the changes are harmless
    (size,) = struct.unpack_from("<I", whole)
    with pytest.raises(InputError, match="map of characters is damaged: "):
        read_charsmap(whole[: 4 + size])
