"""Test LSTMs, mixed models and separate languages from training to a saved model and raw text."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_corpus import ARCHITECTURES, LSTM, SHORT, Data
from small_corpus import sentence_pairs

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.model.architecture import Architecture, Part, encoder_name
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.encoder import cosines
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.settings.check import complete_definition
from paraphrastic_pipeline.training.encoder_modules import initial_encoder
from paraphrastic_pipeline.training.pair_dataset import PairDataset

ENGLISH = [english for english, _ in sentence_pairs(40, seed=7)]
GERMAN = [german for _, german in sentence_pairs(40, seed=7)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_saved_model_gives_the_vectors_of_training(data: Data, tmp_path: Path, name: str) -> None:
    """Compare the parameters in training with the saved folder and with raw text, for every architecture."""
    architecture = ARCHITECTURES[name]
    dataset, _ = data(architecture)
    model = load_model(data.train(architecture, tmp_path, replace(SHORT, epochs=0)))
    with PairDataset(dataset) as pairs:
        sides = pairs.read(0, 40)
        encoder = initial_encoder(pairs.units, SHORT, architecture).eval()
    with torch.no_grad():
        expected = [encoder(side).numpy() for side in sides]
    texts = list(zip(*sentence_pairs(300)[:40], strict=True))
    for language, text, vectors in zip(("en", "de"), texts, expected, strict=True):
        embedded = model.embed_raw_text(list(text), language=language)
        assert embedded.dtype == np.float32
        assert embedded.shape == (40, model.dim)
        np.testing.assert_allclose(embedded, vectors, atol=2e-6)
    assert isinstance(model, AverageEncoder if name == "average" else CompositeEncoder)
    assert model.config["dimension"] == model.dim
    empty, unknown = model.embed_raw_text(["  ", "狗"], language="en")
    assert not empty.any()
    assert unknown.any()
    if name == "separate in everything":
        # The first part averages words, and this one is not known.
        own = model.tensors()["0.unknown.en"]
        np.testing.assert_array_equal(unknown[: len(own)], own)
    unit = model.embed_raw_text(["  ", "狗"], language="en", normalize=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), [0, 1], atol=1e-6)


@pytest.mark.parametrize("name", ["mixed", "separate in everything"])
def test_training_makes_translations_nearest(data: Data, tmp_path: Path, name: str) -> None:
    settings = replace(SHORT, epochs=10, init_std=0.3, learning_rate=0.03, dropout=0.0)
    model = load_model(data.train(ARCHITECTURES[name], tmp_path, settings))
    sides = zip((ENGLISH, GERMAN), ("en", "de"), strict=True)
    english, german = (model.embed_raw_text(texts, language=language) for texts, language in sides)
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (english, german)]
    nearest = (unit[0] @ unit[1].T).argmax(axis=1)
    assert np.mean(nearest == np.arange(40)) > 0.8


def test_only_a_transformer_is_moved_to_a_gpu(data: Data, tmp_path: Path) -> None:
    folder = data.train(ARCHITECTURES["lstm"], tmp_path, replace(SHORT, epochs=0))
    with pytest.raises(InputError, match=r"^Random LSTM .*cuda"):
        open_encoder(folder, device="cuda")


@pytest.mark.parametrize("name", ["mixed", "separate in everything"])
def test_a_pickle_is_the_same_model(data: Data, tmp_path: Path, name: str) -> None:
    opened = load_model(data.train(ARCHITECTURES[name], tmp_path, replace(SHORT, epochs=0)))
    whole = CompositeEncoder(opened.tensors(), opened.sentencepiece, opened.config)
    for model in (opened, whole):
        other = pickle.loads(pickle.dumps(model))
        assert other.digest == opened.digest
        vectors = other.embed_raw_text(ENGLISH, language="en")
        np.testing.assert_array_equal(vectors, opened.embed_raw_text(ENGLISH, language="en"))


def test_a_separate_model_asks_for_the_language(data: Data, tmp_path: Path) -> None:
    model = load_model(data.train(ARCHITECTURES["separate parameters"], tmp_path, replace(SHORT, epochs=0)))
    message = "language must be 'en' or 'de', not "
    with pytest.raises(InputError, match=message + "None"):
        model.embed_raw_text(["the dog"])
    with pytest.raises(InputError, match=message + "'fr'"):
        model.embed_raw_text(["the dog"], language="fr")
    pairs = [("the dog", "der hund")]
    with pytest.raises(InputError, match=message + "None"):
        model.score_raw_text(pairs)
    sides = (
        model.embed_raw_text(["the dog"], language="en"),
        model.embed_raw_text(["der hund"], language="de"),
    )
    assert model.score_raw_text(pairs, languages=("en", "de")) == cosines(*sides).tolist()
    assert model.score_raw_text([("the dog", "the dog")], languages=("en", "en")) == pytest.approx([1.0])


def rewritten(folder: Path, change) -> None:
    config = json.loads((folder / "config.json").read_text())
    change(config)
    write_json(folder / "config.json", config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config: config["architecture"]["parts"].append({"unit": "word"}), "2.embeddings"),
        (
            lambda config: config["architecture"]["parts"][1].update(kind="bilstm"),
            r"1\.lstm\.directions\.1\.w",
        ),
        (
            lambda config: config["architecture"]["parts"][1].update(peepholes=True),
            r"1\.lstm\.directions\.0\.peepholes",
        ),
        (lambda config: config["architecture"].update(languages="separate"), "known.trigram.en"),
        (lambda config: config["architecture"].update(combine="add"), "cannot be combined"),
        (
            lambda config: config["architecture"]["parts"][0].update(unit="word"),
            r"0\.embeddings has \d+ rows and known\.word \d+, but the vocabulary has \d+ pieces",
        ),
    ],
)
def test_a_folder_that_does_not_fit_together_is_one_line(
    data: Data, tmp_path: Path, change, message: str
) -> None:
    folder = data.train(ARCHITECTURES["concatenated"], tmp_path, replace(SHORT, epochs=0))
    rewritten(folder, change)
    with pytest.raises(InputError, match=message) as caught:
        load_model(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_with_a_row_too_few_is_refused(data: Data, tmp_path: Path) -> None:
    model = load_model(data.train(ARCHITECTURES["concatenated"], tmp_path, replace(SHORT, epochs=0)))
    tensors = model.tensors()
    size = len(tensors["0.embeddings"])
    tensors["0.embeddings"] = tensors["0.embeddings"][:-1]
    with pytest.raises(InputError, match=f"0.embeddings has {size - 1} rows .*vocabulary has {size}"):
        CompositeEncoder(tensors, model.sentencepiece, model.config)


def test_an_lstm_without_torch_is_one_line(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data.train(ARCHITECTURES["lstm"], tmp_path, replace(SHORT, epochs=0))
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(InputError, match="an LSTM needs torch, which is not installed"):
        load_model(folder)


@pytest.mark.parametrize(
    ("architecture", "name"),
    [
        (Architecture(), "P-SP"),
        (Architecture(parts=(LSTM,)), "LSTM"),
        (Architecture(parts=(replace(LSTM, peepholes=True, init_std=0.01),)), "LSTM"),
        (Architecture(parts=(Part(kind="bilstm", unit="word", peepholes=True),)), "BLSTM"),
        (Architecture(parts=(Part(unit="trigram", init_std=0.01),)), "TRIGRAM"),
        (Architecture(parts=(Part(kind="bilstm", pooling="max"),)), "BLSTM-SP max"),
        (Architecture(parts=(Part(unit="trigram"), Part(unit="word"))), "TRIGRAM-WORD"),
        (ARCHITECTURES["mixed"], "TRIGRAM-WORD-BLSTM (addition)"),
        (ARCHITECTURES["separate averages"], "P-SP (separate languages)"),
        (ARCHITECTURES["overlapping averages"], "P-SP (overlapping vocabularies)"),
        (Architecture(languages="separate", vocabularies="overlapping"), "P-SP (separate languages)"),
    ],
)
def test_names_in_the_tables(architecture: Architecture, name: str) -> None:
    assert encoder_name({"architecture": architecture.to_json(), "training": {"epochs": 5}}) == name
    assert (
        encoder_name({"architecture": architecture.to_json(), "training": {"epochs": 0}}) == f"Random {name}"
    )


def test_vocabularies_have_names_of_their_own() -> None:
    parts = [{"kind": "average", "unit": "trigram"}, {"kind": "lstm", "unit": "word"}]
    definition = complete_definition(
        {"languages": ["en", "de"], "corpora": ["a"], "encoder": {"parts": parts}}
    )
    assert definition.architecture.units == ("trigram", "word")
    both = ("source", "target")
    assert definition.vocabularies == {
        "sentencepiece": ("trigram", both),
        "sentencepiece-word": ("word", both),
    }
    definition = replace(definition, vocabulary=replace(definition.vocabulary, languages="separate"))
    assert definition.vocabularies == {
        "sentencepiece": ("trigram", ("source",)),
        "sentencepiece-trigram-de": ("trigram", ("target",)),
        "sentencepiece-word-en": ("word", ("source",)),
        "sentencepiece-word-de": ("word", ("target",)),
    }


def test_the_pieces_of_all_units_are_known(data: Data, tmp_path: Path) -> None:
    model = load_model(data.train(ARCHITECTURES["mixed"], tmp_path, replace(SHORT, epochs=0)))
    empty, one, both = model.tokenize(["", ENGLISH[0], f"{ENGLISH[0]} {ENGLISH[1]}"], language="en").lists()
    # Each unit's pieces end with a mark that is no piece.
    marks = [piece for piece in both if piece < 0]
    assert empty == marks
    assert len(marks) == len(model.architecture.units) > 1
    assert len(both) > len(one) > len(marks)
    assert model.tokenize([ENGLISH[0]], language="en").lists() == [one]


def test_embedding_leaves_the_threads_of_torch_as_they_were(data: Data, tmp_path: Path) -> None:
    model = load_model(data.train(ARCHITECTURES["lstm"], tmp_path, replace(SHORT, epochs=0)))
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        # One block is embedded in the thread that asks for it.
        model.embed_raw_text(ENGLISH, language="en", threads=1)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
