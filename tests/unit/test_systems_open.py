"""Test that one function opens systems of every kind."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, train_model

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.model.pieces import Pieces
from paraphrastic.systems.open import averages_on, open_system

WORDS = ["dog", "cat", "hund", "runs"]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("model")
    return train_model(write_training_data(base, sentence_pairs(400)), base / "model", SETTINGS).parent


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that sentence-transformers saved; its model averages word vectors, which are unit vectors."""
    package = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0} | {w: n + 1 for n, w in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    static = modules.StaticEmbedding(tokenizer, embedding_weights=np.eye(len(WORDS) + 1, dtype=np.float32))
    folder = tmp_path_factory.mktemp("transformer")
    package.SentenceTransformer(modules=[static]).save(str(folder))
    return folder


def test_a_model_folder_of_ours(own: Path) -> None:
    sentences = ["The small dog", "", "das kleine Haus"]
    encoder = open_system(own)
    assert encoder.label == "P-SP {}".format(load_model(own).config["model"])
    assert (encoder.dim, encoder.digest) == (load_model(own).dim, load_model(own).digest)
    np.testing.assert_array_equal(encoder.embed(sentences, None), load_model(own).embed_raw_text(sentences))


def test_ours_is_opened_as_ours_where_it_is_both(own: Path, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    for file in own.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "modules.json").write_text("[]")
    assert open_system(folder).embed(["The small dog"], "en").shape == (1, load_model(own).dim)


def test_a_folder_of_sentence_transformers(transformer: Path) -> None:
    vectors = open_system(transformer).embed(["dog", "dog cat", "hund runs runs"], None)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(
        vectors, [[0, 1, 0, 0, 0], [0, 0.5, 0.5, 0, 0], [0, 0, 0, 1 / 3, 2 / 3]], rtol=1e-6
    )


def test_an_entry_of_the_configuration_is_called_by_its_label(own: Path) -> None:
    encoder = open_system({"path": str(own), "label": "somebody's"})
    assert (encoder.label, encoder.digest) == ("somebody's", load_model(own).digest)


def test_two_stages_are_the_same_vectors(own: Path) -> None:
    sentences = ["The small dog", "", "☃☃☃", "das kleine Haus"]
    stages = open_system(own).stages
    np.testing.assert_array_equal(
        stages.embed(stages.prepare(sentences, "en")), load_model(own).embed_raw_text(sentences)
    )


def test_averages_by_torch_are_the_same(own: Path) -> None:
    """Torch's code for GPUs runs on the processor as well, since tests may have no GPU."""
    model = load_model(own)
    # Some sentences have only unknown pieces and some have none: at the beginning, in the middle and at the
    # end.
    has_text = np.array([True, True, False, True, True, False])
    tokens = Pieces(np.array([5, 9, 7], np.int32), np.array([0, 0, 2, 2, 3, 3, 3]), has_text)
    expected = model.embed_tokens(tokens)
    np.testing.assert_array_equal(expected[4], model.unknown)
    np.testing.assert_allclose(averages_on("cpu", model)([tokens]), expected, atol=1e-6)
    raw = model.tokenize(["The small dog", "", "das kleine Haus"])
    np.testing.assert_allclose(averages_on("cpu", model)([raw]), model.embed_tokens(raw), atol=1e-6)


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither a model folder nor .*: modules.json is missing"):
        open_system(tmp_path)
    (tmp_path / "config.json").write_text('{"encoder": "another"}')
    with pytest.raises(InputError, match=r"neither a model folder"):
        open_system(tmp_path)


def test_a_damaged_folder_of_sentence_transformers_is_one_line(transformer: Path, tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_bytes((transformer / "modules.json").read_bytes()[:-5])
    with pytest.raises(InputError, match=r"sentence-transformers cannot load this model: ") as caught:
        open_system(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_damaged_file_of_sentence_transformers_is_one_line(
    transformer: Path, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(transformer, folder)
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])
    with pytest.raises(
        InputError, match=r"damaged: sentence-transformers cannot load this model: \w"
    ) as caught:
        open_system(folder)
    assert "\n" not in str(caught.value)
