"""Test other people's encoders beside their own libraries."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.tokenizer import complete_folder
from paraphrastic.model.encoder import Encoder, SentenceEncoder, finite_vectors
from paraphrastic.model.hub import load_from_hub
from paraphrastic.systems.open import open_encoder

TEXTS = ["A dog runs.", "Two dogs play outside.", "", "Ünï cödé 狗"]


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A packaged model with the files that other libraries need."""
    folder = tmp_path_factory.mktemp("static") / "en"
    with_dtype(load_model("en"), "float32").write(folder)
    complete_folder(folder)
    return folder


@pytest.fixture(scope="module")
def transformer(static: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of sentence-transformers that is none of ours: a table of vectors with normalization."""
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize

    folder = tmp_path_factory.mktemp("transformer") / "other"
    SentenceTransformer(modules=[SentenceTransformer(str(static), device="cpu")[0], Normalize()]).save(
        str(folder)
    )
    return folder


def opened(kind: str, static: Path, transformer: Path) -> tuple[Encoder, Any]:
    """An encoder, and the vectors of its own library."""
    if kind == "model2vec":
        pytest.importorskip("model2vec")
        from model2vec import StaticModel

        expected = StaticModel.from_pretrained(static).encode(TEXTS)
        return open_encoder({"label": "x", "model2vec": str(static)}), expected
    if kind == "path":
        return open_encoder({"label": "x", "path": str(static)}), load_model(static).encode(TEXTS)
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(transformer), device="cpu").encode(TEXTS)
    key = "sentence_transformers" if kind == "entry" else "path"
    return open_encoder({"label": "x", key: str(transformer)}), expected


def test_encoders_give_the_vectors_of_their_libraries(static: Path, transformer: Path) -> None:
    digests = {}
    for kind in ("path", "entry", "folder", "model2vec"):
        encoder, expected = opened(kind, static, transformer)
        assert encoder.label == "x"
        assert encoder.dim == expected.shape[1]
        np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-6)
        assert encoder.encode([]).shape == (0, encoder.dim)
        assert finite_vectors(encoder, TEXTS[:2], "en", name="x").shape == (2, encoder.dim)
        digests[kind] = encoder.digest
    assert digests["entry"] == digests["folder"]
    assert len({*digests.values()}) == 3
    assert opened("folder", static, transformer)[0].digest == digests["folder"]


def test_a_model_of_ours_is_opened_as_such() -> None:
    encoder = open_encoder("en", threads=2)
    assert isinstance(encoder, SentenceEncoder)
    assert encoder.threads == 2
    with pytest.raises(InputError, match="cuda"):
        open_encoder("en", device="cuda")


@pytest.mark.parametrize("place", ["results/models/none", "a/b/c", "file"])
def test_what_is_neither_a_folder_nor_a_name_lists_the_models(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"^{place}: .*en-de-es-fr"):
        open_encoder(place)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"^empty: .*en-de-es-fr"):
        open_encoder("empty")


def test_a_name_that_the_hub_does_not_have_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError) as caught:
        open_encoder("hf://nobody/nothing")
    assert str(caught.value).startswith("hf://nobody/nothing: ")
    assert "\n" not in str(caught.value)
    # The prefix is no part of the name.
    assert load_from_hub("hf://a/b", "x", lambda place: place) == "a/b"


def test_the_commands_take_another_librarys_model(
    static: Path,
    transformer: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("A dog runs.\nIt rains.\nA dog runs.\n")
    words = ["--model", str(transformer), "--input", "in.txt", "--output"]
    assert main(["embed", *words, "v.npy", "--normalize"]) == 0
    expected = open_encoder(transformer).encode(["A dog runs.", "It rains.", "A dog runs."])
    np.testing.assert_allclose(np.load("v.npy"), expected, atol=1e-6)
    assert main(["search", *words, "found.tsv", "--index", "v.npy", "--k", "1"]) == 0
    assert Path("found.tsv").read_text().splitlines()[1].split("\t")[1:] == ["2", "1", "2"]
    assert main(["dedup", *words, "kept.txt"]) == 0
    assert Path("kept.txt").read_text() == "A dog runs.\nIt rains.\n"
    Path("pairs.tsv").write_text("A dog runs.\tA dog runs fast.\nIt rains.\tIt is raining.\nSnow\tSnowing\n")
    assert main(["evaluate", "--model", str(transformer), f"model2vec={static}", "--pairs", "pairs.tsv"]) == 0
    assert capsys.readouterr().out.count("find their partner") == 2


def test_a_vector_that_is_not_finite_is_named(
    model: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encode(sentences: list[str], **_: Any) -> Any:
        vectors = np.zeros((len(sentences), model.dim))
        vectors[1, 1] = np.inf
        return vectors

    monkeypatch.setattr(model, "encode", encode)
    with pytest.raises(InputError, match=r"the data: .*'Two dogs play outside.'"):
        finite_vectors(model, TEXTS, None, name="the data")
