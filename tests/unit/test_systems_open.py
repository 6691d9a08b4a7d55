"""Test that one function opens systems of every kind."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.pieces import Pieces
from paraphrastic.systems.open import averages_on, open_system

WORDS = ["dog", "cat", "hund", "runs"]


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


def test_a_model_folder_of_ours(folder: Path, model: AverageEncoder) -> None:
    sentences = ["The small dog", "", "das kleine Haus"]
    encoder = open_system(folder)
    assert encoder.label == f"P-SP {model.config['model']}"
    assert (encoder.dim, encoder.digest) == (model.dim, model.digest)
    np.testing.assert_array_equal(encoder.embed(sentences, None), model.embed_raw_text(sentences))


def test_ours_is_opened_as_ours_where_it_is_both(folder: Path, tmp_path: Path) -> None:
    both = shutil.copytree(folder, tmp_path / "both")
    (both / "modules.json").write_text("[]")
    assert open_system(both).embed(["The small dog"], "en").shape == (1, load_model(folder).dim)


def test_a_folder_of_sentence_transformers(transformer: Path) -> None:
    vectors = open_system(transformer).embed(["dog", "dog cat", "hund runs runs"], None)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(
        vectors, [[0, 1, 0, 0, 0], [0, 0.5, 0.5, 0, 0], [0, 0, 0, 1 / 3, 2 / 3]], rtol=1e-6
    )


def test_an_entry_of_the_configuration_is_called_by_its_label(folder: Path) -> None:
    encoder = open_system({"path": str(folder), "label": "somebody's"})
    assert (encoder.label, encoder.digest) == ("somebody's", load_model(folder).digest)


def test_two_stages_are_the_same_vectors(folder: Path) -> None:
    sentences = ["The small dog", "", "☃☃☃", "das kleine Haus"]
    stages = open_system(folder).stages
    np.testing.assert_array_equal(
        stages.embed(stages.prepare(sentences, "en")), load_model(folder).embed_raw_text(sentences)
    )


def test_averages_by_torch_are_the_same(folder: Path) -> None:
    """Torch's code for GPUs runs on the processor as well, since tests may have no GPU."""
    model = load_model(folder)
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


@pytest.mark.parametrize("name", ["modules.json", "model.safetensors", "tokenizer.json"])
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
