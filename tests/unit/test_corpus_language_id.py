"""Test language identification."""

import gzip
import os
from types import SimpleNamespace

import numpy as np
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier, train_language_id

ENGLISH = ["the dog runs in the house", "she is with the children", "what are they doing there"]
GERMAN = ["der Hund läuft durch das Haus", "sie ist mit den Kindern da", "was machen sie dort"]
RUSSIAN = ["собака бежит по дому", "она здесь с детьми", "что они там делают"]


def labelled(path, times=30, **texts):
    lines = [f"__label__{code} {text}\n" for code, sentences in texts.items() for text in sentences * times]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lid")
    text = labelled(folder / "text", en=ENGLISH * 2, de=GERMAN, ru=RUSSIAN)
    counts = train_language_id(text, folder / "model.bin", max_bytes=10**6, seed=1)
    assert counts == {"de": 90, "en": 180, "ru": 90}
    return folder / "model.bin"


def test_languages_and_confidences(model):
    identifier = LanguageIdentifier(model)
    texts = ["the children are in the house", "Собака там", "das Haus der Kinder", "", " \n ", "the\ndog"]
    codes, confidences, probabilities = identifier.identify(texts, "en")
    assert codes == ["en", "ru", "de", "", "", "en"]
    assert confidences.dtype == np.float32
    assert confidences.shape == (6,)
    assert confidences.max() <= 1
    assert confidences[3] == confidences[4] == 0
    assert confidences[0] > 0.5
    assert probabilities[0] == confidences[0]
    assert probabilities[1] < 0.5
    assert np.isnan(identifier.identify(texts, "fr").probabilities).all()


def test_sums_of_probabilities_are_no_larger_than_one_and_a_text_is_one_line(model):
    seen = []

    class Stub:
        def predict(self, line, *_):
            seen.append(line)
            return [(0.7, "__label__zh"), (0.30001, "__label__wuu")]

    identifier = LanguageIdentifier(model)
    identifier.labels = frozenset(["zh", "wuu"])
    identifier._model = SimpleNamespace(f=Stub())
    _, confidences, probabilities = identifier.identify(["two\nlines\n"], "zh")
    assert (confidences.tolist(), probabilities.tolist()) == ([np.float32(0.7)], [1.0])
    assert seen == ["two lines \n"]


def test_no_texts(model):
    codes, confidences, _ = LanguageIdentifier(model).identify([], "en")
    assert codes == []
    assert confidences.shape == (0,)


def test_nothing_is_printed(model, capfd):
    LanguageIdentifier(model)
    assert capfd.readouterr() == ("", "")


def test_training_is_deterministic(tmp_path):
    text = labelled(tmp_path / "text", en=ENGLISH, de=GERMAN)
    models = []
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        train_language_id(text, tmp_path / name, max_bytes=10**6, epochs=3, seed=seed)
        models.append((tmp_path / name).read_bytes())
    assert models[0] == models[1]
    assert models[0] != models[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "one", "other", "text"]


def test_compressed_text_gives_the_same_model(tmp_path, model):
    text = labelled(tmp_path / "text", en=ENGLISH * 2, de=GERMAN, ru=RUSSIAN)
    packed = tmp_path / "text.gz"
    packed.write_bytes(gzip.compress(text.read_bytes(), mtime=0))
    train_language_id(packed, tmp_path / "model", max_bytes=10**6, seed=1)
    assert (tmp_path / "model").read_bytes() == model.read_bytes()


@pytest.mark.parametrize(
    "line", ["no label", "__label__en", "__label__EN! text", "__label__en a __label__de b", ""]
)
def test_a_line_of_another_form_is_named(tmp_path, line):
    text = tmp_path / "text"
    text.write_text(f"__label__en one\n__label__de eins\n{line}\n")
    with pytest.raises(InputError, match=r"text:3: expected a line `__label__CODE text`"):
        train_language_id(text, tmp_path / "model", max_bytes=10**6, seed=1)


def test_one_language_cannot_be_told_apart(tmp_path):
    text = labelled(tmp_path / "text", en=ENGLISH)
    with pytest.raises(InputError, match=r"text: language identification needs text in two languages"):
        train_language_id(text, tmp_path / "model", max_bytes=10**6, seed=1)
    assert not (tmp_path / "model").exists()


def damaged(content: bytes) -> dict[str, bytes]:
    unsupervised = bytearray(content)
    unsupervised[8 + 4 * 7 : 8 + 4 * 8] = (2).to_bytes(4, "little")
    return {
        "empty": b"",
        "other": b"garbage" * 1000,
        "no header": content[:20],
        "header only": content[:64],
        "cut in the words": content[:500],
        "cut in the middle": content[: len(content) // 2],
        "cut at the end": content[:-1],
        "too long": content + b"0",
        "no labels": content[:72] + bytes(4) + content[76:],
        "future": content[:4] + (99).to_bytes(4, "little") + content[8:],
        "not a classifier": bytes(unsupervised),
    }


@pytest.mark.parametrize("name", list(damaged(bytes(100))))
def test_damaged_model(tmp_path, model, name):
    path = tmp_path / "damaged.ftz"
    path.write_bytes(damaged(model.read_bytes())[name])
    with pytest.raises(InputError, match=r"damaged\.ftz: ") as caught:
        LanguageIdentifier(path)
    assert "\n" not in str(caught.value)


def test_missing_model(tmp_path):
    with pytest.raises(InputError, match=r"none\.bin: cannot be read"):
        LanguageIdentifier(tmp_path / "none.bin")


def test_given_model(mirror):
    path = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    texts = [
        "A dog runs through the woods.",
        "Ein Hund rennt durch den Wald.",
        "Un chien court dans la forêt.",
    ]
    codes, confidences, _ = LanguageIdentifier(path).identify(texts, "en")
    assert codes == ["en", "de", "fr"]
    assert ((confidences > 0.5) & (confidences <= 1)).all()


@pytest.mark.parametrize("length", [1, 20, 64, 500, 100_000, 600_000, -10, -1])
def test_given_model_cut_short(tmp_path, mirror, length):
    content = (mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz").read_bytes()
    path = tmp_path / "lid.176.ftz"
    path.write_bytes(content[:length])
    with pytest.raises(InputError, match=r"lid\.176\.ftz: "):
        LanguageIdentifier(path)


def test_a_disk_that_fills_while_the_model_is_saved(tmp_path, monkeypatch):
    from fasttext import FastText

    save = FastText._FastText.save_model

    def save_partly(self, path):
        save(self, path)
        os.truncate(path, 10_000)

    monkeypatch.setattr(FastText._FastText, "save_model", save_partly)
    text = labelled(tmp_path / "text", en=ENGLISH, de=GERMAN)
    with pytest.raises(InputError, match="cannot be written completely: is the disk full"):
        train_language_id(text, tmp_path / "model", max_bytes=10**6, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
