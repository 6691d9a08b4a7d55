"""Test the methods of a model, whose vectors do not depend on how they are asked for, and pickles."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from small_corpus import PAIRS

from paraphrastic import SentenceEncoder, load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.text import prepare_text
from paraphrastic.model.average import PART, AverageEncoder, pack, unpack
from paraphrastic.model.encoder import BLOCK_SENTENCES, cosines
from paraphrastic.model.folder import shipped_models

SENTENCES = [sentence for pair in PAIRS[:150] for sentence in pair]
TEXTS = [*SENTENCES, "", "  ", "THE DOG\u200b", "狗 ☃", "x" * 300, "the dog " * 50, "\u0130I", "e\u0301 ﬁ ½"]


def expected(model: AverageEncoder, texts: list[str]) -> np.ndarray:
    """A plain average of the rows of a text's known pieces, in double precision."""
    table = model.embeddings.astype(np.float64)
    if model.weights is not None:
        table = table * model.weights[:, None]
    vectors = np.zeros((len(texts), model.dim))
    for row, text in enumerate(prepare_text(texts, lowercase=True)):
        pieces = model.processor.encode(text)
        known = [piece for piece in pieces if model.known[piece]]
        if pieces:
            vectors[row] = table[known].mean(axis=0) if known else model.unknown
    return vectors


def variants(model: AverageEncoder) -> dict[str, AverageEncoder]:
    """The model with a table of each type."""
    tensors = model.tensors()
    table = tensors["embeddings"]
    scales = np.abs(table).max(axis=1)
    factors = np.where(scales > 0, scales / 127, 1).astype(np.float32)
    odd = (2 * np.floor(table / np.maximum(scales, 1e-9)[:, None] * 7.99) + 1).astype(np.int8)
    changes: dict[str, dict[str, Any]] = {
        "float32": {},
        "float16": {"embeddings": table.astype(np.float16)},
        "int8": {"embeddings": np.rint(table / factors[:, None]).astype(np.int8), "weights": factors},
        "int4": {"embeddings": pack(odd), "weights": (scales / 15).astype(np.float32)},
    }
    return {
        name: AverageEncoder({**tensors, **change}, model.sentencepiece, model.config)
        for name, change in changes.items()
    }


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int4"])
def test_a_vector_is_the_average_of_its_pieces(dtype: str, model: AverageEncoder) -> None:
    made = variants(model)[dtype]
    assert made.dtype == dtype
    vectors = expected(made, TEXTS)
    np.testing.assert_allclose(made.embed_raw_text(TEXTS), vectors, atol=2e-6, rtol=2e-6)
    half = made.embed_raw_text(TEXTS, dtype=np.float16)
    np.testing.assert_array_equal(half, made.embed_raw_text(TEXTS).astype(np.float16))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    np.testing.assert_allclose(made.embed_raw_text(TEXTS, normalize=True), unit, atol=2e-6)
    assert not vectors[TEXTS.index("")].any()
    again = AverageEncoder(made.tensors(), made.sentencepiece, made.config)
    np.testing.assert_array_equal(again.embed_raw_text(TEXTS), made.embed_raw_text(TEXTS))


def test_odd_numbers_are_packed_into_halves_of_bytes() -> None:
    codes = np.arange(-15, 17, 2, np.int8).reshape(2, 8)
    assert pack(codes).shape == (2, 4)
    np.testing.assert_array_equal(unpack(pack(codes)), codes)


def test_vectors_depend_neither_on_threads_nor_on_company(model: AverageEncoder) -> None:
    texts = TEXTS * (2 * BLOCK_SENTENCES // len(TEXTS) + 1)
    together = model.embed_raw_text(texts, threads=1)
    for threads in (2, 3, None):
        np.testing.assert_array_equal(model.embed_raw_text(texts, threads=threads), together)
    alone = [model.encode(text) for text in TEXTS]
    np.testing.assert_array_equal(np.array(alone), together[: len(TEXTS)])
    # Long texts are summed in parts, which keeps their digits.
    many = "the dog sees " * (10 * PART)
    np.testing.assert_allclose(model.encode(many), expected(model, [many])[0], rtol=1e-6, atol=1e-7)


COLUMNS: dict[str, Callable[[list[str]], Any]] = {
    "tuple": tuple, "generator": iter, "dict keys": lambda texts: dict.fromkeys(texts).keys(),
    "numpy": lambda texts: np.array(texts), "objects": lambda texts: np.array(texts, object),
    "StringDType": lambda texts: np.array(texts, np.dtypes.StringDType()), "pandas": pd.Series,
    "pandas rows": lambda texts: pd.Series(texts, index=range(len(texts), 0, -1)),
    "pandas arrow": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "category": lambda texts: pd.Series(texts, dtype="category"),
    "polars": lambda texts: pytest.importorskip("polars").Series(texts),
    "arrow": pa.array, "large": lambda texts: pa.array(texts, pa.large_string()),
    "chunks": lambda texts: pa.chunked_array([texts[:3], texts[3:]]), "index": pd.Index,
    "view": lambda texts: pa.array(texts).cast(pa.string_view()),
    "words": lambda texts: pa.array(texts).dictionary_encode(),
}  # fmt: skip


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_column_gives_the_vectors_of_a_list(kind: str, model: AverageEncoder) -> None:
    texts = list(dict.fromkeys(TEXTS))
    vectors = model.embed_raw_text(texts)
    np.testing.assert_array_equal(model.embed_raw_text(COLUMNS[kind](texts)), vectors)
    assert model.embed_raw_text(COLUMNS[kind]([])).shape == (0, model.dim)


@pytest.mark.parametrize(
    "given",
    ["one", b"bytes", None, [1], ["a", None], [b"a"], pd.DataFrame({"a": ["b"]}), np.array([["a"]]),
     pd.Series(["a", None]), np.ma.array(["a", "b"], mask=[False, True]), 5],
)  # fmt: skip
def test_what_is_no_column_of_strings_is_a_type_error(given: Any, model: AverageEncoder) -> None:
    with pytest.raises(TypeError, match=r"."):
        model.embed_raw_text(given)


def test_a_wrong_sentence_is_named(model: AverageEncoder) -> None:
    texts: list[Any] = ["a"] * 5000
    texts[4321] = 7
    with pytest.raises(TypeError, match=r"7 \(number 4321\)"):
        model.embed_raw_text(texts)
    texts[4321] = "a\0b"
    with pytest.raises(InputError, match="4321"):
        model.embed_raw_text(texts)
    for pairs in ([("a", 7)], ["ab"], [("a", "b", "c")]):
        with pytest.raises(TypeError, match="pair 0"):
            model.score_raw_text(pairs)  # type: ignore[list-item, arg-type]
    with pytest.raises(InputError, match="second of pair 1"):
        model.score_raw_text([("a", "b"), ("a", "\0")])


def test_half_of_a_surrogate_pair_is_a_replacement_character(model: AverageEncoder) -> None:
    given, same = ["a \ud83d b", "\ud83d\ude00"], ["a \ufffd b", "😀"]
    np.testing.assert_array_equal(model.embed_raw_text(given), model.embed_raw_text(same))


def test_encode_is_that_of_sentence_transformers(model: AverageEncoder) -> None:
    vectors = model.embed_raw_text(TEXTS)
    np.testing.assert_array_equal(model.encode(TEXTS, 8, True, device="cpu", prompt=None), vectors)
    np.testing.assert_array_equal(model.encode(TEXTS[0]), vectors[0])
    tensors = model.encode(TEXTS, convert_to_tensor=True)
    assert isinstance(tensors, torch.Tensor)
    np.testing.assert_array_equal(tensors.numpy(), vectors)
    several = model.encode(TEXTS[:2], convert_to_numpy=False)
    assert [type(each) for each in several] == [torch.Tensor] * 2
    assert model.encode(TEXTS[0], convert_to_tensor=True).shape == (model.dim,)
    unit = model.encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_array_equal(unit, model.embed_raw_text(TEXTS, normalize=True))
    for options in ({"precision": "int8"}, {"prompt": "query: "}, {"truncate_dim": 5}, {"nonsense": None}):
        with pytest.raises(TypeError, match=next(iter(options))):
            model.encode(TEXTS, **options)
    for size in (0, "query", 2.5):
        with pytest.raises(ValueError, match="batch size"):
            model.encode(TEXTS, size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="float64"):
        model.embed_raw_text(TEXTS, dtype=np.float64)
    for encode in (model.encode_query, model.encode_document):
        np.testing.assert_array_equal(encode(TEXTS, normalize_embeddings=True, prompt_name=None), unit)
    assert model.get_sentence_embedding_dimension() == model.get_embedding_dimension() == model.dim
    assert model.embed_query(TEXTS[0]) == vectors[0].tolist()
    assert model.embed_documents(TEXTS[:2]) == vectors[:2].tolist()


def test_scores_are_cosines(model: AverageEncoder) -> None:
    pairs = [(a, b) for a, b in zip(TEXTS, reversed(TEXTS), strict=True)]
    first, second = (model.embed_raw_text(list(side)).astype(np.float64) for side in zip(*pairs, strict=True))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    plain = np.divide((first * second).sum(axis=1), lengths, out=np.zeros(len(pairs)), where=lengths > 0)
    np.testing.assert_allclose(model.score_raw_text(pairs), plain, atol=1e-12)
    assert model.score_raw_text([]) == []
    assert max(model.score_raw_text([(text, text) for text in TEXTS])) <= 1.0
    np.testing.assert_allclose(model.similarity(first, second).diagonal(), plain, atol=1e-6)
    np.testing.assert_allclose(model.similarity_pairwise(first, second), plain, atol=1e-6)
    assert model.similarity(first[0], second).shape == (1, len(pairs))
    for wrong in (first[:, 1:], first[1:]):
        with pytest.raises(InputError, match=str(wrong.shape[1])):
            model.similarity_pairwise(wrong, first)
    with pytest.raises(InputError, match="dimensions"):
        model.similarity(first[:, 1:], first)
    assert np.isnan(cosines(np.array([[np.nan]], np.float32), np.ones((1, 1), np.float32)))


@pytest.mark.parametrize("kind", ["opened", "packaged", "in memory", "saved"])
def test_pickles_and_copies_are_the_same_model(
    kind: str, model: AverageEncoder, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = AverageEncoder(model.tensors(), model.sentencepiece, model.config)
    if kind == "saved":
        whole.save_pretrained(tmp_path / "saved")
    made: SentenceEncoder = {
        "opened": lambda: load_model(folder), "packaged": lambda: load_model("en"),
        "in memory": lambda: whole, "saved": lambda: load_model(tmp_path / "saved"),
    }[kind]()  # fmt: skip
    content = pickle.dumps(made)
    monkeypatch.chdir(tmp_path)
    for other in (pickle.loads(content), copy.copy(made), copy.deepcopy(made)):
        assert other.digest == made.digest
        np.testing.assert_array_equal(other.encode(TEXTS), made.encode(TEXTS))
    # A model of a folder is pickled by the folder's name.
    assert (len(content) < 1000) == (kind != "in memory")


def test_another_process_embeds_the_same(model: AverageEncoder) -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        vectors = pool.submit(model.encode, TEXTS).result()
    np.testing.assert_array_equal(vectors, model.encode(TEXTS))


def test_the_digest_is_that_of_what_determines_vectors(
    model: AverageEncoder, changed: Callable[..., Path]
) -> None:
    def digest(name: str, **config: Any) -> str:
        return load_model(changed(name, **config)).digest

    assert digest("same", corpora={"other": "v1"}, folding={"tr": "none"}) == model.digest
    others = [digest("a", model="turned"), digest("b", lowercase=False), digest("c", folding={"ru": "yo"})]
    assert len({model.digest, *others}) == 4


def test_a_saved_model_has_the_files_that_other_libraries_read(tmp_path: Path) -> None:
    source = shipped_models()["en"]
    load_model("en").save_pretrained(tmp_path / "saved")
    names = {path.name for path in source.iterdir()}
    assert {path.name for path in (tmp_path / "saved").iterdir()} == names
    assert (tmp_path / "saved" / "README.md").read_bytes() == (source / "README.md").read_bytes()
    with pytest.raises(InputError, match="saved"):
        load_model("en").save_pretrained(tmp_path / "saved")


def test_repr_says_what_the_model_is(model: AverageEncoder) -> None:
    assert repr(model) == "<AverageEncoder de: languages en-de, 16 dimensions>"
    assert model.label == "P-SP de"
