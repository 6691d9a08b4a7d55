"""Test what smaller models lose, and what stays the same."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from small_models import model_of, trained

from paraphrastic import InputError, load_model
from paraphrastic.interop.compression import (
    Dtype,
    Reduction,
    principal_directions,
    quantize,
    reduce_model,
    with_dtype,
)
from paraphrastic.model.average import AverageEncoder, pack, unpack

WORDS = [f"{a}{b}{c}" for a in "bdgkmnprst" for b in "aeiou" for c in ("ck", "ll", "m", "ng", "st")]


def sentences(count: int, *, seed: int = 0) -> list[str]:
    generator = np.random.default_rng(seed)
    # The words follow Zipf's law, as in any text.
    shares = 1 / np.arange(2, len(WORDS) + 2)
    rows = generator.choice(len(WORDS), size=(count, 9), p=shares / shares.sum())
    return [" ".join(WORDS[word] for word in row) for row in rows]


@pytest.fixture(scope="module")
def model() -> AverageEncoder:
    """A model whose table has the spectrum of a trained one: only a few directions matter."""
    plain = model_of(trained(sentences(3000), vocab_size=270))
    generator = np.random.default_rng(0)
    scales = 1 / (1 + np.arange(96)) ** 0.7
    rotation = np.linalg.qr(generator.normal(size=(96, 96)))[0]
    table = (generator.normal(size=(len(plain.known), 96)) * scales @ rotation).astype(np.float32)
    tensors = {
        "embeddings": table * plain.known[:, None], "known": plain.known, "unknown": table[7],
    }  # fmt: skip
    return AverageEncoder(tensors, plain.sentencepiece, plain.config)


def scores(model: AverageEncoder) -> Sequence[float]:
    return model.score_raw_text(zip(sentences(500, seed=1), sentences(500, seed=2), strict=True))


def agreement(model: AverageEncoder, other: AverageEncoder) -> float:
    return float(np.corrcoef(scores(model), scores(other))[0, 1])


def test_directions_are_those_of_the_singular_values(model: AverageEncoder) -> None:
    corpus = sentences(2000, seed=3)
    _, _, directions = np.linalg.svd(model.embed_raw_text(corpus, normalize=True), full_matrices=False)
    found = principal_directions(model, corpus, 5)
    np.testing.assert_allclose(np.abs((directions[:5] * found.T).sum(axis=1)), 1, atol=1e-3)


def test_few_directions_keep_the_scores(model: AverageEncoder) -> None:
    corpus = sentences(2000, seed=3)
    smaller = [reduce_model(model, Reduction(dimension=dim), corpus) for dim in (8, 24, 96)]
    assert [each.dim for each in smaller] == [8, 24, 96]
    kept = [agreement(model, each) for each in smaller]
    assert kept == sorted(kept)
    assert kept[1] > 0.9
    assert kept[2] == pytest.approx(1, abs=1e-6)
    truncated = reduce_model(model, Reduction(dimension=24, method="truncate"))
    np.testing.assert_array_equal(truncated.embeddings, model.embeddings[:, :24])
    np.testing.assert_array_equal(truncated.unknown, model.unknown[:24])
    assert agreement(model, truncated) < kept[1]


@pytest.mark.parametrize(("dtype", "least"), [("float16", 0.99999), ("int8", 0.9999), ("int4", 0.999)])
def test_fewer_bits_keep_the_scores(
    model: AverageEncoder, tmp_path: Path, dtype: Dtype, least: float
) -> None:
    narrow = reduce_model(model, Reduction(dtype=dtype))
    assert (narrow.dtype, narrow.config["reduction"]["dtype"]) == (dtype, dtype)
    assert model.config.get("reduction") is None
    assert 1 > agreement(model, narrow) > least
    bits = {"float16": 16, "int8": 8, "int4": 4}[dtype]
    assert narrow.tensors()["embeddings"].nbytes * 32 == model.embeddings.nbytes * bits
    narrow.write(tmp_path)
    loaded = load_model(tmp_path)
    assert (loaded.dtype, loaded.digest) == (dtype, narrow.digest)
    np.testing.assert_array_equal(scores(loaded), scores(narrow))
    # Converting back changes nothing, and a smaller model can be made smaller again.
    np.testing.assert_allclose(scores(with_dtype(narrow, "float32")), scores(narrow), atol=1e-6)
    again = reduce_model(narrow, Reduction(dimension=32), sentences(500, seed=3))
    assert (again.dim, again.dtype) == (32, dtype)
    assert agreement(model, again) > 0.9


def test_two_entries_share_a_byte() -> None:
    codes = (np.random.default_rng(1).integers(0, 16, (50, 6)) * 2 - 15).astype(np.int8)
    assert pack(codes).shape == (50, 3)
    np.testing.assert_array_equal(unpack(pack(codes)), codes)
    rows = np.random.default_rng(2).standard_normal((300, 1024)).astype(np.float32) * 7
    rows[3] = 0
    numbers, weights = quantize(rows)
    assert set(np.unique(np.abs(numbers))) <= set(range(1, 16, 2))
    assert weights[3] == 0
    # For a normal variable, evenly spaced steps lose about 0.0115 of the square (Max 1960).
    lost = np.square(numbers * weights[:, None] - rows).sum() / np.square(rows).sum()
    assert 0.011 < lost < 0.012


def test_reductions_that_cannot_be(model: AverageEncoder) -> None:
    for reduction, corpus, cause in (
        (Reduction(dimension=97), ["a"], "97 dimensions .* 96"),
        (Reduction(dimension=8), [], "8 directions .* 0 sentences"),
        (Reduction(dimension=8), ["bam", "", " ", "ball"], "8 directions .* 2 sentences"),
        (Reduction(dimension=31, method="truncate", dtype="int4"), (), "int4 .* 31"),
    ):
        with pytest.raises(InputError, match=cause):
            reduce_model(model, reduction, corpus)
    large = {**model.tensors(), "embeddings": model.embeddings * 1e9}
    with pytest.raises(InputError, match="too large for float16"):
        with_dtype(AverageEncoder(large, model.sentencepiece, model.config), "float16")
