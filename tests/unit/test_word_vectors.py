"""Test how word vectors are read, and word embeddings that begin from them."""

import gzip
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from encoder_corpus import ARCHITECTURES, SHORT, Data

from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic_pipeline.training.initialization import initialize
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
    inputs = replace(data.inputs(ARCHITECTURES["separate in everything"]), vectors=vectors)
    with PairDataset(inputs.dataset) as pairs:
        encoder, plain = (initialize(pairs, one)[0] for one in (inputs, replace(inputs, vectors=None)))
    begun = encoder.get_parameter("parts.0.table")
    changed = (begun != plain.get_parameter("parts.0.table")).all(dim=1)
    assert sorted(begun[changed][:, 0].tolist()) == [-1.0, 0.5, 2.0]


def test_vectors_of_another_dimension_are_one_line(data, tmp_path, vectors):
    with pytest.raises(InputError, match=r"vectors\.txt: its vectors have 12 dimensions, .* part 0 .* 9"):
        data.train(WORD, tmp_path / "m", replace(SHORT, dimension=9), vectors=vectors)
