"""Test averages over tables of every kind, and vectors of every kind."""

import itertools
import time
from pathlib import Path

import numpy as np
import pytest
from small_corpus import sentence_pairs

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import in_blocks, in_order
from paraphrastic.model import encoder, kernels
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import cosines
from paraphrastic.model.pieces import MAX_WORD_BYTES


def texts(count: int) -> list[str]:
    pairs = sentence_pairs(count, seed=3)
    some = ["", " ", "狗", "the", "the dog", "x" * (2 * MAX_WORD_BYTES), *itertools.chain(*pairs)]
    return some[:count]


def variant(model: AverageEncoder, kind: type, dim: int | None = None) -> AverageEncoder:
    """Return the model with a table of another kind; random numbers make rounding visible."""
    generator = np.random.default_rng(1)
    table = generator.normal(size=(len(model.embeddings), dim or model.dim)).astype(np.float32)
    unknown = generator.normal(size=dim or model.dim).astype(np.float32)
    weights = None
    if kind is np.int8:
        weights = (np.abs(table).max(axis=1) / 127).astype(np.float32)
        table = np.rint(table / weights[:, None]).astype(np.int8)
    return AverageEncoder(table.astype(kind), model.known, unknown, model.processor, model.config, weights)


def plain_average(model: AverageEncoder, text: str) -> np.ndarray:
    ids = model.processor.encode(text.lower())
    rows = [piece for piece in ids if model.known[piece]]
    if not rows:
        return model.unknown.astype(float) if ids else np.zeros(model.dim)
    table = model.embeddings.astype(float)
    if model.weights is not None:
        table = table * model.weights[:, None].astype(float)
    return table[rows].mean(axis=0)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8])
@pytest.mark.parametrize("dim", [1, 7, 16, 100])
def test_vectors_are_averages(model: AverageEncoder, kind: type, dim: int) -> None:
    own = variant(model, kind, dim)
    expected = np.array([plain_average(own, text) for text in texts(100)])
    vectors = own.embed_raw_text(texts(100))
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, rtol=1e-5, atol=1e-6)
    halves = own.embed_raw_text(texts(100), dtype=np.float16)
    np.testing.assert_array_equal(halves, vectors.astype(np.float16))
    lengths = np.linalg.norm(vectors, axis=1)
    unit = own.embed_raw_text(texts(100), normalize=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), (lengths > 0).astype(float), atol=1e-6)
    np.testing.assert_allclose(unit * lengths[:, None], vectors, atol=1e-5)


def test_vectors_do_not_depend_on_threads_and_neighbours(model: AverageEncoder) -> None:
    own = variant(model, np.float32)
    sentences = texts(5000)
    vectors = own.embed_raw_text(sentences, threads=1)
    for threads in (2, 3, 7, None):
        np.testing.assert_array_equal(own.embed_raw_text(sentences, threads=threads), vectors)
    for index in (0, 5, 63, 64, 2047, 2048, 4999):
        np.testing.assert_array_equal(own.embed_raw_text([sentences[index]])[0], vectors[index])
    np.testing.assert_array_equal(own.embed_raw_text(text for text in sentences), vectors)


def test_tables_that_do_not_fit(model: AverageEncoder) -> None:
    good = variant(model, np.int8)
    parts = (good.known, good.unknown, good.processor, good.config)
    for table, weights, message in (
        (good.embeddings, None, "embeddings of int8; only int8 has weights"),
        (model.embeddings, good.weights, "embeddings of float32; only int8 has weights"),
        (
            good.embeddings,
            good.weights[1:],
            rf"weights \({len(good.weights) - 1},\) of float32 for {len(good.weights)} pieces",
        ),
        (model.embeddings.astype(np.float64), None, "embeddings of float64"),
    ):
        with pytest.raises(InputError, match=message):
            AverageEncoder(table, *parts, weights)
    for known, unknown in ((good.known[1:], good.unknown), (good.known, good.unknown[1:])):
        with pytest.raises(InputError, match=f"embeddings of {good.dim} dimensions, but sentencepiece"):
            AverageEncoder(good.embeddings, known, unknown, *parts[2:], good.weights)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8])
def test_tables_of_all_kinds_are_kept(model: AverageEncoder, tmp_path: Path, kind: type) -> None:
    own = variant(model, kind)
    own.write(tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.embeddings.dtype == kind
    assert loaded.digest == own.digest
    np.testing.assert_array_equal(loaded.embed_raw_text(texts(50)), own.embed_raw_text(texts(50)))


def test_sentences_that_are_none(model: AverageEncoder) -> None:
    for bad in (None, b"the dog", 3):
        with pytest.raises(TypeError, match=r"a sentence is .* \(number 1\), not a string"):
            model.embed_raw_text(["the dog", bad])
    with pytest.raises(ValueError, match="dtype is float64"):
        model.embed_raw_text(["the dog"], dtype=np.float64)
    # A string from numpy counts as a string.
    np.testing.assert_array_equal(
        model.embed_raw_text(np.array(["the dog"])), model.embed_raw_text(["the dog"])
    )


def test_surrogates_and_very_long_sentences(model: AverageEncoder) -> None:
    alone, pair = model.embed_raw_text(["the\ud800dog", "the \ud83d\ude00 dog"])
    # sentencepiece makes a space of U+FFFD, so that two words stay two.
    np.testing.assert_array_equal(alone, model.embed_raw_text(["the\ufffddog"])[0])
    assert (alone != model.embed_raw_text(["thedog"])[0]).any()
    np.testing.assert_array_equal(pair, model.embed_raw_text(["the \U0001f600 dog"])[0])
    assert model.score_raw_text([("\udfff", "\ud800")]) == model.score_raw_text([("\ufffd", "\ufffd")])
    for long in ("the dog " * 125_000, "x" * 1_000_000):
        vector = model.embed_raw_text([long])[0]
        assert np.isfinite(vector).all()
        assert vector.any()
    np.testing.assert_allclose(
        model.embed_raw_text(["the dog " * 1000]), model.embed_raw_text(["the dog"]), rtol=1e-4
    )


@pytest.mark.parametrize("block", [1, 3, 8])
def test_scores_do_not_depend_on_blocks(
    model: AverageEncoder, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    pairs = sentence_pairs(8, seed=3)
    expected = [model.score_raw_text([pair])[0] for pair in pairs]
    monkeypatch.setattr(encoder, "BLOCK_PAIRS", block)
    assert model.score_raw_text(pairs) == expected


def test_cosines() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.normal(size=(2, 200, 33)).astype(np.float32)
    first[3] = second[5] = 0
    second[7], second[8] = first[7], -first[8]
    found = cosines(first, second)
    wide = first.astype(float), second.astype(float)
    lengths = np.linalg.norm(wide[0], axis=1) * np.linalg.norm(wide[1], axis=1)
    expected = np.divide((wide[0] * wide[1]).sum(1), lengths, out=np.zeros(200), where=lengths > 0)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found[3] == found[5] == 0
    assert (found[7], found[8]) == (pytest.approx(1), pytest.approx(-1))
    assert np.abs(found).max() <= 1
    first[0, 0] = np.nan
    assert np.isnan(cosines(first, second)[0])


def test_entries_in_half_precision_are_rounded_to_the_nearest() -> None:
    numbers = np.random.default_rng(0).normal(size=(1, 4096)).astype(np.float32) * 100
    halves = np.empty((1, 4096), np.float16)
    one = np.array([0, 1]), np.array([True]), np.zeros(4096, np.float32)
    kernels.average(
        numbers, np.ones(1, np.float32), np.zeros(1, np.int32), *one, False, kernels.as_entries(halves)
    )
    np.testing.assert_array_equal(halves, numbers.astype(np.float16))


@pytest.mark.parametrize("size", [1, 3, 31, 32, 33, 63, 64, 65, 100])
def test_long_sentences_add_the_sums_of_parts_in_double_precision(size: int) -> None:
    generator = np.random.default_rng(size)
    table, weights = generator.normal(size=(50, 6)).astype(np.float32), generator.random(50, np.float32)
    pieces = generator.integers(50, size=size).astype(np.int32)
    vectors = np.empty((1, 6), np.float32)
    arguments = pieces, np.array([0, size]), np.array([True]), np.zeros(6, np.float32)
    kernels.average(table, weights, *arguments, False, vectors)
    rows = weights[pieces, None] * table[pieces]
    parts = [np.add.accumulate(rows[start : start + 32])[-1] for start in range(0, size, 32)]
    total = parts[0] / np.float32(size) if len(parts) == 1 else np.sum(parts, 0, np.float64) / size
    np.testing.assert_array_equal(vectors[0], total.astype(np.float32))
    # The sum of a single part gets its length without being divided first, after which nothing would be left
    # of the smallest number that there is.
    if size <= 32:
        smallest, first = np.full((2, 4), 2.0**-149, np.float32), np.arange(size, dtype=np.int32).clip(max=1)
        unit = np.empty((1, 4), np.float32)
        kernels.average(
            smallest, np.array([1, 0], np.float32), first, *arguments[1:3], smallest[0], True, unit
        )
        assert unit.tolist() == [[0.5] * 4]


def test_order_is_kept_and_errors_are_told() -> None:
    def slow_first(number: int) -> int:
        time.sleep(0.02 if number == 0 else 0)
        if number == 30:
            raise InputError("thirty")
        return number

    assert list(in_order(slow_first, range(20), 4)) == list(range(20))
    done: list[int] = []
    with pytest.raises(InputError, match="thirty"):
        done.extend(in_order(slow_first, iter(range(10**9)), 4))
    assert done == list(range(30))
    assert in_blocks(lambda rows: (rows.start, rows.stop), 300, 128, 2) == [(0, 128), (128, 256), (256, 300)]
    assert in_blocks(lambda rows: (rows.start, rows.stop), 2000, 4096, 2) == [(0, 1000), (1000, 2000)]
    # So few rows are not worth a second thread.
    assert in_blocks(lambda rows: (rows.start, rows.stop), 300, 4096, 2) == [(0, 300)]
    assert in_blocks(lambda rows: rows, 0, 10, 2) == []
