"""Test how word vectors are read, and word embeddings that begin from them and are kept close to them."""

import gzip
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import torch
from encoder_corpus import ARCHITECTURES, SHORT, Data, random_tokens, recurrent

from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.vocabulary import load_sentencepiece
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.encoder_modules import TrainableEncoder, initial_encoder, use_word_vectors
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.word_vectors import read_word_vectors, words_with_vectors

LINES = "cat 1 0\ncat 9 9\nother 7 7\n. . . 0 1\ndog 0 -2.5e-1\n"
WANTED = {"cat", "dog", ". . .", "unseen"}


@pytest.mark.parametrize("packing", ["txt", "gz", "zip"])
@pytest.mark.parametrize("header", ["", "5 2\n"])
def test_vectors_are_read_from_any_file(tmp_path, packing, header):
    content, path = (header + LINES).encode(), tmp_path / f"vectors.{packing}"
    if packing == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("README", "a b c\n")
            archive.writestr("vectors.txt", content)
    else:
        path.write_bytes(gzip.compress(content) if packing == "gz" else content)
    words, vectors = read_word_vectors(path, WANTED)
    assert words == {"cat": 0, ". . .": 1, "dog": 2}
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 0], [0, 1], [0, -0.25]]
    assert list(words_with_vectors(path)) == ["cat", "cat", "other", ". . .", "dog"]


def test_no_word_may_have_a_vector(tmp_path):
    (tmp_path / "vectors.txt").write_text(LINES)
    words, vectors = read_word_vectors(tmp_path / "vectors.txt", {"unseen"})
    assert (words, vectors.shape) == ({}, (0, 2))


@pytest.mark.parametrize("line", ["dog 1", "dog 1 2 x", "dog 1 nan 2", "dog 1 0,9 2", "dog 1 1e99 2"])
def test_a_bad_line_of_a_wanted_word_is_named(tmp_path, line):
    (tmp_path / "vectors.txt").write_text(f"cat 1 2 3\n{line}\ncow 1 2 3\n")
    with pytest.raises(InputError, match=r"vectors\.txt:2: "):
        read_word_vectors(tmp_path / "vectors.txt", {"cat", *line.split()[:1]})
    assert read_word_vectors(tmp_path / "vectors.txt", {"cat", "cow"})[0] == {"cat": 0, "cow": 1}


@pytest.mark.parametrize("content", [b"", b"word\n"])
def test_a_file_without_vectors_is_named(tmp_path, content):
    (tmp_path / "vectors.txt").write_bytes(content)
    with pytest.raises(InputError, match=r"vectors\.txt:1: "):
        read_word_vectors(tmp_path / "vectors.txt", WANTED)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("data"))


WORD = Architecture(parts=(Part(unit="word"),))
WORDS = {"the": 0.5, "dog": -1.0, "hund": 2.0, "unseen": 9.0}


@pytest.fixture
def vectors(tmp_path):
    lines = (f"{word} {' '.join([str(value)] * 12)}\n" for word, value in WORDS.items())
    (tmp_path / "vectors.txt").write_text("".join(lines))
    return tmp_path / "vectors.txt"


def test_words_begin_with_their_vectors_and_the_others_as_without(data, vectors):
    architecture = ARCHITECTURES["separate in everything"]
    with PairDataset(data(architecture)[0]) as pairs:
        plain, encoder = (initial_encoder(pairs.units, SHORT, architecture) for _ in range(2))
        models = [load_sentencepiece(path) for path in data.inputs(architecture).sentencepiece]
        anchors, counts = use_word_vectors(encoder, vectors, pairs.units, {"word": models}, architecture)
        unit = pairs.units[architecture.units.index("word")]
    assert counts == {"words": len(unit.pieces), "found": 3}
    for name, anchor in anchors.items():
        begun = encoder.get_parameter(name)
        torch.testing.assert_close(anchor, begun)
        changed = (begun != plain.get_parameter(name)).all(dim=1)
        assert sorted(begun[changed][:, 0].tolist()) == [-1.0, 0.5, 2.0]


def test_the_penalty_pulls_to_the_beginning():
    """The gradient of the penalty is 2λ(W − W₀) on all rows."""
    encoder = TrainableEncoder([recurrent()], [0])
    begun = encoder.parts[0].table.detach().clone()
    anchors = {"parts.0.table": begun}
    sentences = random_tokens([4] * 8, rows=10)
    chosen, valid = np.arange(8), np.ones((2, 2), np.bool_)
    gradients = []
    for penalty in (0.0, 0.05):
        own = replace(SHORT, engine="autograd", initial_vectors_penalty=penalty)
        engine = AutogradEngine(encoder, own, anchors=anchors, steps=0)
        with torch.no_grad():
            encoder.parts[0].table.copy_(begun + torch.arange(30.0)[:, None])
        # The step will move the parameters, so they are copied first; the gradient is read afterwards.
        before = encoder.state_dict()
        moved = before["parts.0.table"].clone()
        states = {name: value.clone() for name, value in before.items()}
        loss = engine.step(sentences, chosen, valid)
        gradients.append((loss, encoder.parts[0].table.grad.clone()))
        encoder.load_state_dict(states)
    distance = moved - begun
    torch.testing.assert_close(gradients[1][1] - gradients[0][1], 2 * 0.05 * distance)
    expected = 0.05 * distance.square().sum().item()
    assert gradients[1][0] - gradients[0][0] == pytest.approx(expected, rel=1e-5)


def test_vectors_of_another_dimension_are_one_line(data, tmp_path, vectors):
    with pytest.raises(InputError, match=r"vectors\.txt: its vectors have 12 dimensions, .* part 0 .* 9"):
        data.train(WORD, tmp_path / "m", replace(SHORT, dimension=9), vectors=vectors)
