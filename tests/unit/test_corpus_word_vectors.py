"""Test word vectors and the paraphrase score."""

import gzip

import numpy as np
import pytest
from paraphrastic_pipeline.corpus.word_vectors import WordVectors

from paraphrastic.base.errors import InputError


def vectors(tmp_path, text: str | bytes) -> WordVectors:
    path = tmp_path / "vectors.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return WordVectors(path)


def test_reads_plain_and_gzip_with_and_without_header(tmp_path):
    lines = "cat 1 0\ndog 0 -2.5e-1\n"
    for text in (lines, "2 2\n" + lines):
        read = vectors(tmp_path, text)
        assert read.words == {"cat": 0, "dog": 1}
        assert read.vectors.tolist() == [[1, 0], [0, -0.25]]
    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    assert WordVectors(tmp_path / "v.txt.gz").vectors.tolist() == [[1, 0], [0, -0.25]]


@pytest.mark.parametrize("header", ["", "2 1\n"])
def test_a_word_may_have_one_number(tmp_path, header):
    read = vectors(tmp_path, f"{header}cat 1\ndog 2\n")
    assert read.words == {"cat": 0, "dog": 1}
    assert read.vectors.tolist() == [[1], [2]]


def test_no_score_is_larger_than_one(tmp_path):
    values = np.random.default_rng(0).normal(size=(200, 30))
    lines = [f"w{number} {' '.join(map(str, row))}\n" for number, row in enumerate(values)]
    words = [f"w{number}" for number in range(200)]
    assert vectors(tmp_path, "".join(lines)).paraphrase_score(words, words).max() <= 1


def test_repeated_words_and_words_with_spaces(tmp_path):
    read = vectors(tmp_path, "cat 1 0\ncat 9 9\n. . . 0 1\n")
    assert read.words == {"cat": 0, ". . .": 1}
    assert read.vectors.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("block", [1, 10_000])
@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("dog 1", "1 values, expected 3"),
        ("dog 1 2 x", "'x' is not a number"),
        ("dog 1 nan 2", "'nan' is not a number"),
        ("dog 1 1_0 2", "'1_0' is not a number"),
        ("dog 1 0,9 2", "'0,9' is not a number"),
        ("dog 1 \N{ARABIC-INDIC DIGIT THREE} 2", "'\N{ARABIC-INDIC DIGIT THREE}' is not a number"),
        ("dog 1 1e99 2", "'1e99' is too large"),
        ("dog 1 3.5e38 2", "'3.5e38' is too large"),
        ("", "0 values, expected 3"),
    ],
)
def test_bad_line(tmp_path, monkeypatch, block, line, cause):
    monkeypatch.setattr("paraphrastic_pipeline.corpus.word_vectors._BLOCK_LINES", block)
    with pytest.raises(InputError) as caught:
        vectors(tmp_path, f"cat 1 2 3\n{line}\ncow 1 2 3\n")
    assert str(caught.value) == f"{tmp_path / 'vectors.txt'}:2: {cause}"


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "vectors.txt:1: not a word and its vector"),
        (b"word\n", "vectors.txt:1: not a word and its vector"),
        (b"10 3\n", "vectors.txt: contains no word vectors"),
        (b"\xff\xfe 1 2\n", "vectors.txt:1: the word is not UTF-8"),
        (gzip.compress(b"cat 1 2\n" * 1000, mtime=0)[:-10], "vectors.txt: damaged"),
    ],
)
def test_bad_file(tmp_path, content, cause):
    with pytest.raises(InputError, match=cause):
        vectors(tmp_path, content)


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.txt: cannot be read"):
        WordVectors(tmp_path / "none.txt")


def test_score_is_the_cosine_of_averages(tmp_path):
    known = vectors(tmp_path, "cat 1 0\ndog 0 1\n. 1 1\nanti -1 0\n")
    scores = known.paraphrase_score(
        ["Cat", "cat cat dog", "cat unknown", "cat.", "cat", "what", "", "cat anti", "CAT"],
        ["cat", "dog", "cat", "dog", "anti", "cat", "cat", "cat", "dog!"],
    )
    expected = [1, 1 / 5**0.5, 1, 1 / 5**0.5, -1, np.nan, np.nan, np.nan, 0]
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_the_files_own_scores_are_met(tmp_path, mirror):
    """The scores in the stand-in for ParaNMT come from its word vectors, before noise was added."""
    import zipfile

    known = WordVectors(mirror / "www.cs.cmu.edu/~jwieting/paragram-phrase.txt.gz")
    with zipfile.ZipFile(mirror / "phontron.com/data/para-nmt-50m.zip") as archive:
        lines = archive.read("para-nmt-50m/para-nmt-50m.txt").decode().split("\n")[:-1]
    rows = [line.split("\t") for line in lines[:2000]]
    scores = known.paraphrase_score([row[0] for row in rows], [row[1] for row in rows])
    error = np.abs(scores - np.array([float(row[2]) for row in rows], np.float32))
    assert np.nanmean(error < 1e-4) > 0.9
