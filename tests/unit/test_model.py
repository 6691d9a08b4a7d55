"""Test models as users load them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save
from small_corpus import PAIRS, sentence_pairs
from small_models import STRANGE, model_of
from test_hostile_models import replaced
from training_runs import CONFIG, SETTINGS

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.unseen import UNSEEN


def test_empty_sentences_are_zero_and_unknown_ones_are_not(model: AverageEncoder) -> None:
    empty, blank, text = model.embed_raw_text(["", "  ", "the dog"])
    assert not empty.any()
    assert not blank.any()
    assert text.any()
    assert model.score_raw_text([("", "the dog"), ("", "")]) == [0.0, 0.0]
    assert model.embed_raw_text([]).shape == (0, model.dim)
    assert model.score_raw_text([]) == []


def test_a_sentence_of_unknown_pieces_only_has_the_unknown_vector() -> None:
    model = model_of(add_dummy_prefix=False)
    np.testing.assert_array_equal(model.embed_raw_text([STRANGE])[0], model.unknown)


@pytest.mark.parametrize("bits", [None, 2, 4])
def test_pieces_without_a_row_get_one(bits: int | None) -> None:
    whole = model_of()
    codes, weights = whole.embeddings, None
    if bits:
        top = (1 << bits) - 1
        codes = np.where(whole.embeddings > 0, top, -top).astype(np.int8)
        weights = np.full(len(codes), 0.5 / top, np.float32)
    known = whole.known.copy()
    lacking = whole.processor.piece_to_id(["▁the", "q", "▁"])
    known[lacking] = False
    model = AverageEncoder(codes, known, whole.unknown, whole.processor, whole.config, weights)
    again = AverageEncoder(codes, known, whole.unknown, whole.processor, whole.config, weights)
    assert model.digest == again.digest != whole.digest
    assert not known[lacking].any()
    rows = model.embeddings[lacking] * (1 if weights is None else model.weights[lacking, None])
    others = model.embeddings[10:400] * (1 if weights is None else model.weights[10:400, None])
    size = np.sqrt(np.mean(np.square(others.astype(np.float64))))
    np.testing.assert_allclose(np.abs(rows), UNSEEN * size, rtol=0.1)
    assert len(np.unique(np.sign(rows), axis=0)) == len(lacking)
    assert not np.allclose(*model.embed_raw_text(["free q", "free"]))


def test_scores_are_cosines(model: AverageEncoder) -> None:
    pairs = [("the dog sees the cat", "das haus"), ("the red car", "the red car")]
    scores = model.score_raw_text(pairs)
    first, second = (model.embed_raw_text(list(side)).astype(float) for side in zip(*pairs, strict=True))
    expected = (first * second).sum(1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)
    assert scores[1] == pytest.approx(1.0)
    assert all(isinstance(score, float) for score in scores)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("a", None), r"a sentence is None \(the second of pair 39999\), not a string"),
        ((b"a", "b"), r"a sentence is b'a' \(the first of pair 39999\), not a string"),
        (("a", "b", "c"), r"pair 39999 is \('a', 'b', 'c'\), not two sentences"),
        (("a",), r"pair 39999 is \('a',\), not two sentences"),
        ("ab", "pair 39999 is 'ab', not two sentences"),
    ],
)
def test_what_is_no_pair_is_named(model: AverageEncoder, pair: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        model.score_raw_text([("the dog", "the cat")] * 39_999 + [pair])


def test_one_string_is_refused(model: AverageEncoder) -> None:
    with pytest.raises(TypeError, match="a list of sentences, not one string"):
        model.embed_raw_text("the dog")


def test_training_makes_translations_nearest(model: AverageEncoder) -> None:
    english, german = (
        model.embed_raw_text(list(side)) for side in zip(*sentence_pairs(50, seed=11), strict=True)
    )
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (english, german)]
    nearest = (unit[0] @ unit[1].T).argmax(axis=1)
    assert np.mean(nearest == np.arange(50)) > 0.9


def test_chinese_is_segmented_as_in_training(folder: Path) -> None:
    model = load_model(folder)
    model.config["segmentation"] = {"zh": "accurate"}
    prepared = model._prepare(["我来到北京清华大学", "It's a dog"], None)
    assert prepared == ["我 来到 北京 清华大学", "it's a dog"]


def test_characters_are_folded_as_in_training(folder: Path) -> None:
    model = load_model(folder)
    model.config["folding"] = {"tr": "dotted"}
    assert model._prepare(["İSTANBUL"], None) == ["istanbul"]


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "sentencepiece.model"])
def test_a_missing_file_is_named(folder: Path, tmp_path: Path, name: str) -> None:
    place = shutil.copytree(folder, tmp_path / "model", ignore=lambda *_: [name])
    with pytest.raises(InputError, match=f"not a model folder: {name} is missing"):
        load_model(place)


@pytest.mark.parametrize("name", ["model.safetensors", "sentencepiece.model"])
def test_damage_is_named(folder: Path, tmp_path: Path, name: str) -> None:
    place = shutil.copytree(folder, tmp_path / "model")
    damaged = bytearray((place / name).read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (place / name).write_bytes(damaged)
    with pytest.raises(InputError, match=f"{name}: damaged"):
        load_model(place)


def test_a_configuration_with_another_dimension(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "model/config.json").write_text(json.dumps({**config, "dimension": 7}))
    with pytest.raises(InputError, match=r"config.json says 7 dimensions, model.safetensors has \d+"):
        load_model(tmp_path / "model")


def test_a_configuration_of_an_earlier_version(folder: Path, tmp_path: Path, model: AverageEncoder) -> None:
    shutil.copytree(folder, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    for key in ("unit", "segmentation", "folding"):
        del config[key]
    (tmp_path / "model/config.json").write_text(json.dumps(config))
    earlier = load_model(tmp_path / "model")
    np.testing.assert_array_equal(earlier.embed_raw_text(["the dog"]), model.embed_raw_text(["the dog"]))


def test_weights_that_are_none(folder: Path, tmp_path: Path) -> None:
    for name in ("model.safetensors", "sentencepiece.model"):
        place = shutil.copytree(folder, tmp_path / name / "model")
        replaced(place, name, b"nothing of the kind")
        with pytest.raises(
            InputError, match=rf"model: {name}:? (cannot be read|is not a sentencepiece model): "
        ):
            load_model(place)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {**t, "embeddings": t["embeddings"].ravel()}, r"holds embeddings \(\d+,\)"),
        (lambda t: {**t, "known": t["known"].astype(np.int64)}, "known is of I64; F32 or F16 or I8 or U8 or"),
        (lambda t: {**t, "known": t["known"].astype(np.uint8)}, "`known` of uint8"),
        (lambda t: {**t, "embeddings": t["embeddings"][:, :0], "unknown": t["unknown"][:0]}, r"\(\d+, 0\)"),
        (lambda t: {**t, "weight": t["unknown"]}, "holds 'weight', which no average has"),
        (lambda t: {**t, "unknown": t["unknown"].astype(np.float16)}, "`unknown` of float16"),
        (
            lambda t: {**t, "unknown": np.full_like(t["unknown"], np.nan)},
            "unknown has numbers that are not finite",
        ),
        (
            lambda t: {**t, "embeddings": np.where(t["embeddings"] > 1e-3, np.inf, t["embeddings"])},
            "embeddings has numbers that are not finite",
        ),
        (lambda t: {**t, "unknown": np.full_like(t["unknown"], -2e15)}, r"not finite or above 1e\+15"),
        (
            lambda t: {**t, "embeddings": t["embeddings"].astype(np.int8), "weights": np.ones(1, np.float32)},
            r"holds weights \(1,\) of float32",
        ),
        (lambda t: {"known": t["known"], "unknown": t["unknown"]}, "do not agree: 'embeddings' is missing"),
    ],
)  # fmt: skip
def test_tensors_that_are_no_model(
    folder: Path, model: AverageEncoder, tmp_path: Path, change: Callable, message: str
) -> None:
    shutil.copytree(folder, tmp_path / "model")
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in change(model.tensors()).items()}
    replaced(tmp_path / "model", "model.safetensors", save(tensors))
    with pytest.raises(InputError, match=message):
        load_model(tmp_path / "model")


def test_config_says_what_the_model_is(model: AverageEncoder) -> None:
    assert model.config["languages"] == CONFIG["languages"]
    assert model.config["training"]["margin"] == SETTINGS.margin
    assert model.config["pairs"] == len(PAIRS)
    assert model.config["dimension"] == model.dim == SETTINGS.dimension
