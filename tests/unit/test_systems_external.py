"""Test systems of other people: sentence-transformers, model2vec and precomputed vectors."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.systems.open import open_system

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = ["the dog runs", "cat", "", "the the cat runs the dog", "a bird"]


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transformer with random weights, an average over tokens and a default prompt."""
    package = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    from tiny_transformer import write_bert

    base = write_bert(tmp_path_factory.mktemp("bert"), ["the dog cat runs query :"], width=16)
    folder = tmp_path_factory.mktemp("transformer")
    package.SentenceTransformer(
        modules=[modules.Transformer(str(base)), modules.Pooling(16)],
        prompts={"query": "query : "},
        default_prompt_name="query",
    ).save_pretrained(str(folder), create_model_card=False)
    return folder


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A folder of model2vec in which row i of the table is (i, i²)."""
    package = pytest.importorskip("model2vec", reason="model2vec is not installed")
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: row for row, word in enumerate(["[UNK]", "dog", "cat", "runs"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    rows = np.arange(len(vocabulary), dtype=np.float32)
    model = package.StaticModel(np.stack([rows, rows**2], axis=1), tokenizer, max_length=4)
    model.save_pretrained(tmp_path / "static")
    return tmp_path / "static"


def write_vectors(folder: Path, lines: bytes, vectors: np.ndarray) -> dict[str, object]:
    (folder / "sentences.txt").write_bytes(lines)
    np.save(folder / "vectors.npy", vectors)
    places = {"sentences": str(folder / "sentences.txt"), "vectors": str(folder / "vectors.npy")}
    return {"vectors": places, "label": "elsewhere"}


def test_a_transformer_and_its_prompt(transformer: Path) -> None:
    from sentence_transformers import SentenceTransformer

    encoder = open_system({"sentence_transformers": str(transformer), "label": "theirs"})
    assert (encoder.label, encoder.dim) == ("theirs", 16)
    model = SentenceTransformer(str(transformer), device="cpu")
    vectors = encoder.embed(SENTENCES, "en")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, model.encode(SENTENCES, prompt="query : "), atol=1e-6)
    assert np.abs(vectors - model.encode(SENTENCES, prompt="")).max() > 0.1
    assert encoder.embed([], None).shape == (0, 16)


def test_the_stages_of_a_transformer(transformer: Path) -> None:
    encoder = open_system(transformer)
    prepared = encoder.stages.prepare(SENTENCES, None)
    # It runs twice, because a model could change what was prepared.
    for _ in range(2):
        np.testing.assert_allclose(encoder.stages.embed(prepared), encoder.embed(SENTENCES, None), atol=1e-6)


def test_a_static_model(static: Path) -> None:
    encoder = open_system({"model2vec": str(static), "label": "potion"})
    assert (encoder.label, encoder.dim) == ("potion", 2)
    vectors = encoder.embed(["dog cat", "runs", "bird", "", "dog dog dog dog cat"], "en")
    assert vectors.dtype == np.float32
    # The fifth token of the last text is beyond the model's longest text, so it does not count.
    np.testing.assert_allclose(vectors, [[1.5, 2.5], [3, 9], [0, 0], [0, 0], [1, 1]])
    assert encoder.embed([], None).shape == (0, 2)


@pytest.mark.parametrize("changes", [{}, {"normalize": True}, {"max_length": None}])
def test_the_stages_of_a_static_model(static: Path, changes: dict[str, object]) -> None:
    config = json.loads((static / "config.json").read_text())
    (static / "config.json").write_text(json.dumps({**config, **changes}))
    encoder = open_system({"model2vec": str(static), "label": "potion"})
    sentences = ["dog cat", "runs", "", "dog dog dog dog cat", "runs " * 40]
    expected = encoder.embed(sentences, None)
    np.testing.assert_array_equal(encoder.stages.embed(encoder.stages.prepare(sentences, None)), expected)
    lengths = np.linalg.norm(expected, axis=1)
    assert (np.abs(lengths[lengths > 0] - 1) < 1e-6).all() == bool(changes.get("normalize"))


@pytest.mark.parametrize("kind", ["sentence_transformers", "model2vec"])
def test_digests_are_of_what_decides_vectors(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    made = request.getfixturevalue("transformer" if kind == "sentence_transformers" else "static")
    folder = Path(shutil.copytree(made, tmp_path / "copy"))

    def digest() -> str:
        return open_system({kind: str(folder), "label": "x"}).digest

    first = digest()
    (folder / "README.md").write_text("Another text")
    assert digest() == first
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["normalizer"] = {"type": "Lowercase"}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert digest() != first


@pytest.mark.parametrize("kind", ["sentence_transformers", "model2vec"])
def test_a_package_is_not_installed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    package = kind.replace("_", "-")
    with pytest.raises(InputError) as caught:
        open_system({kind: "some/model", "label": "x"})
    assert str(caught.value) == (
        f"some/model: is not a folder, and a model of the Hugging Face Hub needs {package}, which is not "
        "installed; "
        f"run pip install '.[{package}]' in the project's folder"
    )


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_damaged_static_model_is_one_line(static: Path, name: str) -> None:
    (static / name).write_bytes((static / name).read_bytes()[:-9])
    with pytest.raises(InputError, match=r"static: model2vec cannot load this model: \S") as caught:
        open_system({"model2vec": str(static), "label": "x"})
    assert "\n" not in str(caught.value)


# This runs in a separate process because the library reads the place of its cache when it is imported.
OPEN = """
import json, sys, time
from paraphrastic.systems.open import open_system
from paraphrastic.base.errors import InputError
for name in ("cached/model", "other/model"):
    start = time.perf_counter()
    try:
        encoder = open_system({sys.argv[1]: name, "label": "x"})
        said = [encoder.dim, len(encoder.digest)]
    except InputError as error:
        said = str(error)
    print(json.dumps([said, time.perf_counter() - start]))
"""


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            "sentence_transformers", marks=pytest.mark.slow("imports torch in a process of its own")
        ),
        "model2vec",
    ],
)
def test_names_without_a_network(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A model in the cache is opened; any other name fails without asking the hub for minutes."""
    made = request.getfixturevalue("transformer" if kind == "sentence_transformers" else "static")
    repository = tmp_path / "cache/models--cached--model"
    shutil.copytree(made, repository / "snapshots" / ("0" * 40))
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text("0" * 40)
    environment = {
        **os.environ,
        # Nothing listens on this port.
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HF_HUB_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    run = subprocess.run(
        [sys.executable, "-c", OPEN, kind], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    (cached, _), (other, seconds) = map(json.loads, run.stdout.splitlines())
    assert cached == [16 if kind == "sentence_transformers" else 2, 64]
    assert other.startswith("other/model: is not a folder, and the Hugging Face Hub cannot be reached: ")
    assert other.endswith(
        ": give a folder that holds the model, or fetch it once on a machine with a network"
    )
    assert "\n" not in other
    assert seconds < 15


def test_precomputed_vectors(tmp_path: Path) -> None:
    vectors = np.arange(8, dtype=np.float64).reshape(4, 2)
    encoder = open_system(write_vectors(tmp_path, "a dog\r\nein\u2028Hu\rnd\n\nNestlé \n".encode(), vectors))
    assert (encoder.label, encoder.dim, encoder.stages) == ("elsewhere", 2, None)
    # Test sets are read by the same rule, so control characters are spaces in them, too.
    found = encoder.embed(["", "Nestlé ", "a dog", "ein\u2028Hu nd", "a dog"], "en")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, vectors[[2, 3, 0, 1, 0]])
    assert encoder.embed([], None).shape == (0, 2)
    assert encoder.digest != open_system(write_vectors(tmp_path, b"a\nb\nc\nd\n", vectors)).digest


def test_a_sentence_without_a_vector(tmp_path: Path) -> None:
    encoder = open_system(write_vectors(tmp_path, b"a dog\n", np.ones((1, 2))))
    with pytest.raises(InputError) as caught:
        encoder.embed(["a dog", "A dog", "a cat", "A dog"], "en")
    assert str(caught.value) == (
        f"{tmp_path}/sentences.txt: 2 of 3 sentences to embed are not in it, such as 'A dog'"
    )


def test_a_vector_that_is_not_finite(tmp_path: Path) -> None:
    encoder = open_system(write_vectors(tmp_path, b"a\nb\n", np.array([[1.0, 2.0], [1.0, np.nan]])))
    assert encoder.embed(["a"], None).shape == (1, 2)
    with pytest.raises(InputError, match=r"vectors\.npy: row 1, the vector of 'b', is not finite"):
        encoder.embed(["a", "b"], None)


@pytest.mark.parametrize(
    ("lines", "vectors", "message"),
    [
        (b"a\nb\n", np.ones((3, 2)), r"vectors\.npy: 3 vectors, but .*sentences\.txt has 2 lines"),
        (b"", np.ones((1, 2)), r"1 vectors, but .*sentences\.txt has 0 lines"),
        (
            b"a\nb\n",
            np.ones(2),
            r"vectors\.npy: is not a matrix of floating-point numbers with one row per sentence",
        ),
        (b"a\nb\n", np.ones((2, 2), int), r"vectors\.npy: is not a matrix of floating-point numbers"),
        (
            b"a\nb\na\n",
            np.eye(3),
            r"sentences\.txt:3: repeats the sentence of line 1, but its vector in .* differs",
        ),
        (b"a\n\xff\n", np.ones((2, 2)), r"sentences\.txt:2: not UTF-8"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, lines: bytes, vectors: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_system(write_vectors(tmp_path, lines, vectors))


@pytest.mark.parametrize("content", [b"", b"no numbers", b"\x80\x04]\x94."])
def test_a_file_that_is_no_matrix(tmp_path: Path, content: bytes) -> None:
    system = write_vectors(tmp_path, b"a\n", np.ones((1, 2)))
    (tmp_path / "vectors.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"vectors\.npy: is not a NumPy file of numbers: \S") as caught:
        open_system(system)
    assert "\n" not in str(caught.value)


def test_the_same_sentence_with_the_same_vector(tmp_path: Path) -> None:
    encoder = open_system(write_vectors(tmp_path, b"a\nb\na\n", np.eye(2)[[0, 1, 0]]))
    np.testing.assert_array_equal(encoder.embed(["a"], None), [[1, 0]])


def test_vectors_do_not_run_on_a_gpu(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="elsewhere: does not run on cuda"):
        open_system(write_vectors(tmp_path, b"a\n", np.ones((1, 2))), device="cuda")
