"""Test what smaller models lose, and what stays the same."""

import io
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from scipy import stats

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.interop.compression import (
    Reduction,
    principal_directions,
    quantize,
    reduce_model,
    with_dtype,
)
from paraphrastic.model.average import AverageEncoder, pack, unpack

WORDS = [f"{a}{b}{c}" for a in "bdgkmnprst" for b in "aeiou" for c in ("ck", "ll", "m", "ng", "st")]
CONFIG = {"model": "en", "lowercase": True, "segmentation": {}, "folding": {}, "unit": "subword"}


def sentences(count: int, *, seed: int = 0, words: list[str] = WORDS) -> list[str]:
    generator = np.random.default_rng(seed)
    # The words follow Zipf's law, as in any text.
    shares = 1 / np.arange(2, len(words) + 2)
    rows = generator.choice(len(words), size=(count, 9), p=shares / shares.sum())
    return [" ".join(words[word] for word in row) for row in rows]


@pytest.fixture(scope="module")
def model() -> AverageEncoder:
    """A model whose table has the spectrum of a trained one: only a few directions matter."""
    proto = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(3000)), model_writer=proto, vocab_size=270, minloglevel=2
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.getvalue())
    generator = np.random.default_rng(0)
    scales = 1 / (1 + np.arange(96)) ** 0.7
    rotation = np.linalg.qr(generator.normal(size=(96, 96)))[0]
    table = (generator.normal(size=(processor.get_piece_size(), 96)) * scales @ rotation).astype(np.float32)
    known = np.ones(len(table), np.bool_)
    known[:3] = False
    table[~known] = 0
    return AverageEncoder(table, known, generator.normal(size=96).astype(np.float32), processor, CONFIG)


def scores(model: AverageEncoder) -> list[float]:
    return model.score_raw_text(zip(sentences(500, seed=1), sentences(500, seed=2), strict=True))


def agreement(model: AverageEncoder, other: AverageEncoder) -> float:
    return float(stats.pearsonr(scores(model), scores(other)).statistic)


def test_directions_are_those_of_the_singular_values(model: AverageEncoder) -> None:
    corpus = sentences(2000, seed=3)
    vectors = model.embed_raw_text(corpus, normalize=True).astype(float)
    _, _, directions = np.linalg.svd(vectors, full_matrices=False)
    found = principal_directions(model, corpus, 5)
    products = np.abs((directions[:5] * found.T).sum(axis=1))
    np.testing.assert_allclose(products, 1, atol=1e-4)


def test_few_directions_keep_the_scores(model: AverageEncoder) -> None:
    corpus = sentences(2000, seed=3)
    kept = [
        agreement(model, reduce_model(model, Reduction(dimension=dimension), corpus))
        for dimension in (8, 24, 96)
    ]
    assert kept == sorted(kept)
    assert kept[1] > 0.9
    assert kept[2] == pytest.approx(1, abs=1e-6)
    truncated = reduce_model(model, Reduction(dimension=24, method="truncate"))
    np.testing.assert_array_equal(truncated.embeddings, model.embeddings[:, :24])
    assert agreement(model, truncated) < kept[1]


@pytest.mark.parametrize(("dtype", "dim", "bits", "error"), [("int4", 6, 4, 0.02), ("int2", 8, 2, 0.13)])
def test_entries_share_bytes(dtype: str, dim: int, bits: int, error: float) -> None:
    codes = np.random.default_rng(1).integers(0, 1 << bits, (50, dim)).astype(np.int8) * 2 - ((1 << bits) - 1)
    packed = pack(codes.astype(np.int8), bits)
    assert packed.shape == (50, dim * bits // 8)
    restored, found = unpack(packed, dim)
    assert found == bits
    np.testing.assert_array_equal(restored, codes)
    # For a normal variable, evenly spaced steps lose at least 0.119 and 0.0115 of the square (Max 1960).
    rows = np.random.default_rng(2).standard_normal((300, 1024)).astype(np.float32) * 7
    rows[3] = 0
    numbers, weights = quantize(rows, bits)
    assert set(np.unique(np.abs(numbers))) <= set(range(1, 1 << bits, 2))
    assert weights[3] == 0
    lost = np.square(numbers * weights[:, None] - rows).sum() / np.square(rows).sum()
    assert 0.5 * error < lost < error


@pytest.mark.parametrize(
    ("bytes_of_a_row", "dim"), [(3, 8), (3, 10), (3, 3), (3, 24), (3, 7), (0, 0), (1, 0)]
)
def test_bytes_that_are_no_entries_of_2_or_4_bits(bytes_of_a_row: int, dim: int) -> None:
    with pytest.raises(InputError, match=f"rows of {bytes_of_a_row} bytes are not {dim} entries"):
        unpack(np.zeros((2, bytes_of_a_row), np.uint8), dim)


@pytest.mark.parametrize(("dtype", "least"), [("int4", 0.999), ("int2", 0.95)])
def test_very_few_bits(model: AverageEncoder, tmp_path: Path, dtype: str, least: float) -> None:
    narrow = reduce_model(model, Reduction(dtype=dtype))
    assert agreement(model, narrow) > least
    assert narrow.dtype == dtype
    narrow.write(tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.dtype == dtype
    assert loaded.digest == narrow.digest
    np.testing.assert_array_equal(
        loaded.embed_raw_text(["bamall", ""]), narrow.embed_raw_text(["bamall", ""])
    )
    own, table = narrow.tensors()["embeddings"], model.embeddings
    assert own.nbytes * 32 == table.nbytes * int(dtype[3])
    # The model can be reduced further and converted back.
    pruned = reduce_model(narrow, Reduction(prune=True), sentences(300, seed=4, words=WORDS[:60]))
    assert pruned.dtype == dtype
    np.testing.assert_allclose(scores(with_dtype(narrow, "float32")), scores(narrow), atol=1e-6)
    with pytest.raises(InputError, match=rf"{dtype} needs a multiple of \d dimensions; the model has 31"):
        reduce_model(model, Reduction(dimension=31, method="truncate", dtype=dtype))


@pytest.mark.parametrize(("dtype", "error"), [("float16", 1e-3), ("int8", 1e-2)])
def test_fewer_bits(model: AverageEncoder, dtype: str, error: float) -> None:
    narrow = with_dtype(model, dtype)
    assert narrow.embeddings.dtype == dtype
    assert np.abs(np.subtract(scores(narrow), scores(model))).max() < error
    # Empty rows stay empty, and converting back changes nothing.
    assert not narrow.embeddings[:3].any()
    wide = with_dtype(narrow, "float32")
    np.testing.assert_allclose(scores(wide), scores(narrow), atol=1e-6)


def test_a_pruned_model_cuts_its_corpus_as_before(model: AverageEncoder, tmp_path: Path) -> None:
    corpus = sentences(300, seed=4, words=WORDS[:60])
    pruned = reduce_model(model, Reduction(prune=True), corpus)
    assert len(pruned.embeddings) < 0.7 * len(model.embeddings)
    np.testing.assert_array_equal(pruned.embed_raw_text(corpus), model.embed_raw_text(corpus))
    other = "zzz " + sentences(1, seed=5, words=WORDS[200:])[0]
    assert pruned.processor.unk_id() == model.processor.unk_id()
    assert pruned.processor.decode(pruned.processor.encode(other)).split()[1:] == other.split()[1:]
    pruned.write(tmp_path)
    np.testing.assert_array_equal(load_model(tmp_path).embed_raw_text(corpus), pruned.embed_raw_text(corpus))
    processor = pruned.processor
    ids = range(processor.get_piece_size())
    sizes = [sum(map(each, ids)) for each in (processor.is_unknown, processor.is_control)]
    assert sizes == [1, 2]


def test_all_at_once(model: AverageEncoder) -> None:
    corpus = sentences(2000, seed=3)
    small = reduce_model(model, Reduction(prune=True, dimension=32, dtype="int8"), corpus)
    assert small.embeddings.nbytes <= model.embeddings.nbytes / 12
    assert agreement(model, small) > 0.93


def test_reductions_that_cannot_be(model: AverageEncoder) -> None:
    for reduction, corpus, message in (
        (Reduction(dimension=97), ["a"], "97 dimensions are asked for; the model has 96"),
        (Reduction(dimension=8), [], "the corpus contains no sentence"),
        (Reduction(prune=True), [], "the corpus contains no sentence"),
        (Reduction(dimension=8), ["bam", "", " ", "ball"], "8 directions cannot be fitted on 2 sentences"),
    ):
        with pytest.raises(InputError, match=message):
            reduce_model(model, reduction, corpus)
    large = AverageEncoder(model.embeddings * 1e9, model.known, model.unknown, model.processor, model.config)
    with pytest.raises(InputError, match="too large for float16"):
        with_dtype(large, "float16")
    words = AverageEncoder(
        model.embeddings, model.known, model.unknown, model.processor, {**CONFIG, "unit": "word"}
    )
    with pytest.raises(InputError, match="only a model of subwords"):
        reduce_model(words, Reduction(prune=True), ["a"])
