"""Test maps of characters from strangers: an export reads them, or says in one line why it cannot."""

import random
import struct
from pathlib import Path

import pytest
from small_models import LOWER, model_of, trained

from paraphrastic import InputError
from paraphrastic.interop import normalization
from paraphrastic.interop.formats import export_model
from paraphrastic.interop.model_proto import read_model_proto
from paraphrastic.interop.normalization import read_charsmap
from paraphrastic.interop.tokenizer import tokenizer_json
from paraphrastic.model.average import AverageEncoder

# Marks the unit that has the place of a key's value.
VALUE = 1 << 31


def charsmap(edges: list[tuple[int, bytes, int, bool]], values: bytes = b"x\0") -> bytes:
    """A map whose trie has these edges: from, label, to, and whether a key ends there; it begins at 1.

    The trie is a double array of Darts-clone, in which node n has the units from 256 · n.
    """
    units = [0] * 256 * (2 + max(to for *_, to, _ in edges))
    units[0] = 256 << 10
    for at, label, to, ends in edges:
        unit = 256 * at ^ label[0]
        units[unit] |= label[0] | (unit ^ 256 * to) << 10 | ends << 8
        if ends:
            units[256 * to] = VALUE
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + values


def shared(length: int, *, ends: bool) -> bytes:
    """Two labels lead from each node to the next one, so there are 2 ^ length keys or none."""
    return charsmap(
        [(n, label, n + 1, ends and n == length) for n in range(1, length + 1) for label in (b"q", b"r")]
    )


ENDLESS = {
    "a key in a circle": charsmap([(1, b"q", 2, True), (2, b"r", 1, False)]),
    "a circle without keys": charsmap([(1, b"q", 2, False), (2, b"r", 1, False)]),
    "shared units": shared(40, ends=True),
    "shared units without keys": shared(40, ends=False),
    "long keys": shared(60, ends=True),
    "a long value": shared(12, ends=True)[:-2] + b"x" * 10_000 + b"\0",
}


def test_a_map_of_keys_that_share_units_is_read() -> None:
    keys = ["qqq", "qqr", "qrq", "qrr", "rqq", "rqr", "rrq", "rrr"]
    assert read_charsmap(shared(3, ends=True)) == dict.fromkeys(keys, "x")
    assert read_charsmap(b"") == {}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_map_without_end_is_refused(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A smaller bound is reached in milliseconds.
    monkeypatch.setattr(normalization, "_MOST_BYTES", 1 << 16)
    with pytest.raises(InputError, match="map of characters"):
        read_charsmap(ENDLESS[name])
    model = model_of()
    proto = read_model_proto(model.sentencepiece)
    proto.normalizer_spec.precompiled_charsmap = ENDLESS[name]
    try:
        model = AverageEncoder(model.tensors(), proto.SerializeToString(), model.config)
    except InputError:
        # sentencepiece itself refuses some of them.
        return
    with pytest.raises(InputError, match=r"^en: "):
        export_model(model, "model2vec", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_map_that_needs_a_long_expression_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalization, "_LONGEST_EXPRESSION", 100)
    proto = read_model_proto(trained().serialized_model_proto())
    proto.normalizer_spec.precompiled_charsmap = shared(2, ends=True)
    with pytest.raises(InputError, match="map of characters is too large"):
        tokenizer_json(proto, LOWER)


def test_a_damaged_map_is_one_line() -> None:
    whole = read_model_proto(trained().serialized_model_proto()).normalizer_spec.precompiled_charsmap
    small = shared(3, ends=True)
    generator = random.Random(2)
    for number in range(200):
        damaged = bytearray(small)
        for _ in range(1 + number % 3):
            damaged[generator.randrange(len(small))] ^= 1 << generator.randrange(8)
        end = generator.randrange(len(small)) if number % 5 == 0 else len(small)
        try:
            read_charsmap(bytes(damaged[:end]))
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - most of the changes are harmless
    (size,) = struct.unpack_from("<I", whole)
    with pytest.raises(InputError, match="map of characters is damaged"):
        read_charsmap(whole[: 4 + size])
