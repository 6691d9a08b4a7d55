"""Test models as values: pickles by reference and whole, copies, and other processes."""

import copy
import multiprocessing
import pickle
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from test_hostile_models import composite
from tiny_transformer import write_bert
from training_runs import CONFIG

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.interop.compression import with_dtype
from paraphrastic.model.architecture import Architecture, Transformer
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.transformer import TransformerFiles, load_modules
from paraphrastic.model.values import reopened

SENTENCES = ["The dog is running.", "it's 10 o'clock", "", "Жук 日本語 …"]


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    """Each test opens models again, as another process does."""
    reopened.cache_clear()
    yield
    reopened.cache_clear()


@pytest.fixture(params=["average", "int4", "composite", "transformer"])
def each(request: pytest.FixtureRequest, folder: Path, tmp_path: Path) -> SentenceEncoder:
    """A model of each kind, opened from a folder."""
    made: SentenceEncoder = {
        "average": lambda: load_model(folder),
        "int4": lambda: with_dtype(load_model("en"), "int4"),
        "composite": composite,
        "transformer": lambda: transformer(tmp_path / "bert"),
    }[request.param]()
    made.write(tmp_path / "model")
    return load_model(tmp_path / "model")


def transformer(folder: Path) -> SentenceEncoder:
    described = Transformer(place=str(write_bert(folder, SENTENCES)), pooling="lstm_last", lstm_size=16)
    config = {**CONFIG, "unit": "tokens", "architecture": Architecture(transformer=described).to_json()}
    return TransformerFiles(load_modules(described, lowercase=True), config).open()


def vectors(model: SentenceEncoder) -> Any:
    return model.embed_raw_text(SENTENCES, language="en")


def assert_same(model: SentenceEncoder, other: SentenceEncoder) -> None:
    assert type(other) is type(model)
    for name in ("digest", "preparation", "label", "dim"):
        assert getattr(other, name) == getattr(model, name)
    np.testing.assert_array_equal(vectors(other), vectors(model))


def test_a_pickle_of_an_opened_model_refers_to_its_folder(each: SentenceEncoder) -> None:
    pickled = pickle.dumps(each)
    assert len(pickled) < 1000
    assert_same(each, pickle.loads(pickled))


def test_a_portable_model_needs_no_folder(each: SentenceEncoder) -> None:
    before, pickled = vectors(each), pickle.dumps(each.portable())
    assert each.origin
    shutil.rmtree(each.origin)
    other = pickle.loads(pickled)
    np.testing.assert_array_equal(vectors(other), before)
    # Its own pickles are whole, too.
    assert len(pickle.dumps(other)) > 1000


def test_a_model_that_was_made_in_memory_is_pickled_whole(tmp_path: Path) -> None:
    made = with_dtype(load_model("en"), "int4")
    joblib.dump(made, tmp_path / "model.joblib")
    assert_same(made, joblib.load(tmp_path / "model.joblib"))


def test_a_packaged_model_is_found_by_its_name_wherever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_model("en")
    pickled = pickle.dumps(model)
    assert str(Path(__file__).parents[2]).encode() not in pickled
    # A folder of this name in the working directory is another model's.
    composite().write(tmp_path / "en")
    monkeypatch.chdir(tmp_path)
    assert_same(model, pickle.loads(pickled))


def test_a_relative_folder_is_found_from_elsewhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    model = load_model(folder.name)
    pickled = pickle.dumps(model)
    monkeypatch.chdir(tmp_path)
    assert_same(model, pickle.loads(pickled))


def test_a_folder_that_is_gone_or_has_another_model_is_an_error(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "model"
    shutil.copytree(folder, place)
    pickled = pickle.dumps(load_model(place))
    shutil.rmtree(place)
    with pytest.raises(InputError, match=r"model: there is no folder.*pickled by reference: .*portable"):
        pickle.loads(pickled)
    composite().write(place)
    with pytest.raises(InputError, match=r"model: holds another model than when it was pickled"):
        pickle.loads(pickled)


def test_copies_give_the_same_vectors_and_deep_ones_share_nothing(each: SentenceEncoder) -> None:
    shallow, deep = copy.copy(each), copy.deepcopy(each)
    for other in (shallow, deep):
        assert_same(each, other)
        assert other.origin == each.origin
    arrays, theirs = (
        [value for value in vars(model).values() if isinstance(value, np.ndarray)] for model in (each, deep)
    )
    assert not any(np.shares_memory(a, b) for a, b in zip(arrays, theirs, strict=True))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_give_the_same_vectors(method: str, folder: Path) -> None:
    model = load_model(folder)
    expected = vectors(model)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for found in pool.map(model.embed_raw_text, [SENTENCES] * 4):
            np.testing.assert_array_equal(found, expected)


def test_a_process_opens_a_model_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(load_model(folder))
    first = pickle.loads(pickled)
    assert pickle.loads(pickled) is first


def test_a_model_says_what_it_is() -> None:
    assert repr(load_model("en")) == "<AverageEncoder en: languages en, 300 dimensions>"
