"""Test the methods that have the names of other libraries."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sentence_transformers import SentenceTransformer

import paraphrastic
from paraphrastic import InputError, SentenceEncoder, embed_file, load_model, near_duplicates, search
from paraphrastic.interop.formats import write_folder
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder

SENTENCES = ["a dog barks", "it rains in Paris", "the dog is barking", ""]


@pytest.fixture(scope="module")
def en() -> SentenceEncoder:
    return load_model("en")


@pytest.fixture
def complete(model: AverageEncoder, tmp_path: Path) -> Path:
    """A folder of the model with the files that other libraries need."""
    folder = tmp_path / "complete"
    folder.mkdir()
    write_folder(model, folder)
    (folder / "README.md").write_text("The card.")
    return folder


@pytest.mark.parametrize("normalize", [False, True])
def test_encode_takes_what_sentence_transformers_takes(
    normalize: bool, model: AverageEncoder, complete: Path
) -> None:
    theirs = SentenceTransformer(str(complete), device="cpu")
    options = {"batch_size": 2, "show_progress_bar": False, "normalize_embeddings": normalize}
    for sentences in (SENTENCES[:3], SENTENCES[0]):
        for form in ({}, {"convert_to_tensor": True}, {"convert_to_numpy": False}):
            ours, other = (library.encode(sentences, **options, **form) for library in (model, theirs))
            assert type(ours) is type(other)
            for vector, expected in zip(ours, other, strict=True):
                np.testing.assert_allclose(np.asarray(vector), np.asarray(expected), atol=1e-6)
    assert model.get_sentence_embedding_dimension() == model.dim == theirs.get_embedding_dimension()
    assert model.get_embedding_dimension() == model.dim
    a, b = model.encode(SENTENCES[:3]), model.encode(SENTENCES[0])
    np.testing.assert_allclose(model.similarity(a, b), theirs.similarity(a, b), atol=1e-6)


@pytest.mark.parametrize("size", [0, -1, 1.5, "query", None])
def test_a_batch_size_is_a_count(size: object, en: SentenceEncoder) -> None:
    with pytest.raises(ValueError, match=f"the batch size {size!r} is not a whole number"):
        en.encode(SENTENCES[:3], size)
    assert len(en.encode(SENTENCES[:3], np.int64(2))) == 3


def test_similarity_of_an_empty_sentence_is_zero(en: SentenceEncoder) -> None:
    vectors = en.encode(SENTENCES)
    assert isinstance(vectors, np.ndarray)
    similarities = en.similarity(vectors, vectors)
    np.testing.assert_allclose(similarities.diagonal(), [1, 1, 1, 0], atol=1e-6)
    assert not similarities[3].any()
    with pytest.raises(InputError, match="300 and of 2 dimensions"):
        en.similarity(vectors, [[1.0, 2.0]])


def test_langchain_gets_lists(en: SentenceEncoder) -> None:
    documents = en.embed_documents(SENTENCES)
    assert type(documents) is list
    assert type(documents[0][0]) is float
    assert documents == en.embed_raw_text(SENTENCES).tolist()
    assert en.embed_query(SENTENCES[0]) == documents[0]


def test_a_saved_model_is_complete(complete: Path, tmp_path: Path) -> None:
    model = load_model(complete)
    model.save_pretrained(tmp_path / "saved")
    names = {path.name for path in complete.iterdir()}
    assert {path.name for path in (tmp_path / "saved").iterdir()} == names
    assert {"README.md", "modules.json", "tokenizer.json"} < names
    again = SentenceEncoder.from_pretrained(tmp_path / "saved")
    np.testing.assert_array_equal(again.embed_raw_text(SENTENCES), model.embed_raw_text(SENTENCES))
    with pytest.raises(InputError, match="saved: already exists"):
        model.save_pretrained(tmp_path / "saved")
    with pytest.raises(InputError, match="of the class AverageEncoder"):
        CompositeEncoder.from_pretrained(tmp_path / "saved")


# They are read in parts.
MANY = [*SENTENCES, *(f"Sentence number {number}." for number in range(5000 - len(SENTENCES)))]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(MANY, index=range(len(MANY), 0, -1)),
        pd.Series(MANY, dtype="category"),
        pd.Series(MANY, dtype=pd.ArrowDtype(pa.string())),
        pl.Series(MANY),
        pa.array(MANY),
        pa.array(MANY).dictionary_encode(),
        pa.chunked_array([MANY[:1], MANY[1:]]).dictionary_encode(),
        pa.chunked_array([MANY[:1], MANY[1:]]),
        np.array(MANY),
        np.array(MANY, object),
        dict.fromkeys(MANY),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]}-{getattr(column, 'dtype', '')}",
)
def test_columns_and_arrays_are_lists_of_sentences(column: Any, en: SentenceEncoder) -> None:
    np.testing.assert_array_equal(en.embed_raw_text(column), en.embed_raw_text(MANY))
    assert search(column, "dog barking", 1, model=en).indices.tolist() == [[0]]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (pd.DataFrame({"text": SENTENCES}), r"not a table of the shape \(4, 1\)"),
        (pl.DataFrame({"text": SENTENCES}), r"not a table of the shape \(4, 1\)"),
        (np.array([SENTENCES]), r"not a table of the shape \(1, 4\)"),
        (pd.Series([*MANY, None]), r"a sentence is None \(number 5000\)"),
        (np.ma.array([*MANY, "x"], mask=[*[False] * len(MANY), True]), r"a sentence is None \(number 5000\)"),
        (pa.array([*MANY, None]), r"a sentence is None \(number 5000\)"),
        ([*MANY, b"a", None], r"a sentence is b'a' \(number 5000\)"),
        (None, "sentences are None, not strings"),
        (b"a dog", "sentences are b'a dog', not strings"),
    ],
)
def test_what_is_no_column_of_text_is_refused(given: Any, why: str, en: SentenceEncoder) -> None:
    with pytest.raises(TypeError, match=why):
        en.embed_raw_text(given)


def test_a_nul_character_far_into_the_text_is_named(en: SentenceEncoder) -> None:
    with pytest.raises(InputError, match=r"a sentence \(number 5000\) contains a NUL"):
        en.embed_raw_text([*MANY, "a\0b", "c\0d"], threads=3)


def test_text_is_searched_where_a_model_is_given(en: SentenceEncoder) -> None:
    by_text = search(SENTENCES, ["dog barking", "rain"], 2, model=en)
    by_vector = search(en.embed_raw_text(SENTENCES), en.embed_raw_text(["dog barking", "rain"]), 2)
    np.testing.assert_array_equal(by_text.indices, by_vector.indices)
    assert near_duplicates(SENTENCES, 0.8, model=en).kept.tolist() == [0, 1, 3]
    assert search([], "dog", model=en).indices.shape == (1, 0)
    for unknown in (lambda: search(SENTENCES, "dog"), lambda: near_duplicates(SENTENCES, 0.8)):
        with pytest.raises(InputError, match="vectors: are text; name the model"):
            unknown()


def test_a_name_is_no_text_and_no_model(en: SentenceEncoder, tmp_path: Path) -> None:
    for place in (lambda: search("a.npy", "dog", model=en), lambda: near_duplicates("a.npy", 0.9, model=en)):
        with pytest.raises(
            InputError, match=r"vectors: 'a\.npy' is one text; .* the place of a file as a Path"
        ):
            place()
    with pytest.raises(InputError, match="near_duplicates takes no file"):
        near_duplicates(tmp_path, 0.9)
    with pytest.raises(InputError, match=r"model: 'en' is a name; open the model with load_model\('en'\)"):
        search(SENTENCES, "dog", model="en")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["vectors.npy", "vectors.parquet"])
def test_a_file_of_another_model_is_not_searched(en: SentenceEncoder, tmp_path: Path, name: str) -> None:
    (tmp_path / "text.txt").write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    file = tmp_path / name
    embed_file(en, str(tmp_path / "text.txt"), str(file))
    assert search(file, "dog barking", 1, model=en).indices.tolist() == [[0]]
    other = load_model("en-de-es-fr")
    with pytest.raises(InputError, match=r"made by the model .*en, but .*en-de-es-fr embeds the sentences"):
        search(file, "dog barking", 1, model=other)
    # Of vectors, nothing says which model made them.
    assert search(file, other.embed_raw_text(["dog"]), 1).indices.shape == (1, 1)


def test_the_package_says_its_version_if_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert paraphrastic.__version__ == version("paraphrastic")

    def unknown(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", unknown)
    assert not hasattr(paraphrastic, "__version__")


def test_tensors_without_torch_are_one_line(en: SentenceEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(InputError, match="tensors need torch"):
        en.encode("a dog", convert_to_tensor=True)
    assert isinstance(torch.zeros(1), torch.Tensor)


def test_dir_shows_what_there_is() -> None:
    for name in dir(paraphrastic):
        assert getattr(paraphrastic, name).__name__ == name
    assert "SentenceVectors" in dir(paraphrastic)


def test_more_of_what_sentence_transformers_takes(en: SentenceEncoder) -> None:
    vectors = en.encode(SENTENCES, device="cpu", precision="float32", prompt_name=None)
    np.testing.assert_array_equal(vectors, en.embed_raw_text(SENTENCES))
    for others in ({"precision": "int8"}, {"prompt": "query: "}, {"truncate_dim": 8}, {"batchsize": 8}):
        with pytest.raises(TypeError, match="encode does not take"):
            en.encode(SENTENCES, **others)
    pairs = en.similarity_pairwise(vectors, vectors[::-1])
    np.testing.assert_allclose(pairs, np.diag(en.similarity(vectors, vectors[::-1])), rtol=1e-6)
    with pytest.raises(InputError, match="do not stand side by side"):
        en.similarity_pairwise(vectors, vectors[:1])
