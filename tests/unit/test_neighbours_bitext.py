"""Test how translations are mined from two sets of sentences: scores, choice of pairs, and the command."""

import gzip
import io
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from sentence_files import cells_of, mine, write
from small_corpus import PAIRS

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic.model.system import System
from paraphrastic.neighbours import mine_files
from paraphrastic.neighbours.bitext import Margin, best_pairs, embed_entries, unify
from paraphrastic.neighbours.nearest import nearest_neighbours


def unit(vectors: np.ndarray) -> np.ndarray:
    vectors = vectors.astype(np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def mined_plainly(x: np.ndarray, y: np.ndarray, k: int, margin: str) -> list[tuple[int, int, float]]:
    """Mine pairs as the papers' authors do: candidates from both directions, best scores first."""
    cosines = unit(x) @ unit(y).T
    means = [np.sort(side, axis=1)[:, -k:].mean(axis=1) for side in (cosines, cosines.T)]

    def score(i: int, j: int) -> float:
        average = (means[0][i] + means[1][j]) / 2
        return {
            "ratio": cosines[i, j] / average,
            "distance": cosines[i, j] - average,
            "cosine": cosines[i, j],
        }[margin]

    candidates = []
    for i in range(len(x)):
        nearest = np.argsort(-cosines[i])[:k]
        candidates.append(max((score(i, j), i, j) for j in nearest))
    for j in range(len(y)):
        nearest = np.argsort(-cosines[:, j])[:k]
        candidates.append(max((score(i, j), i, j) for i in nearest))
    pairs, sources, targets = [], set(), set()
    for value, i, j in sorted(candidates, reverse=True):
        if i not in sources and j not in targets:
            sources.add(i)
            targets.add(j)
            pairs.append((int(i), int(j), float(value)))
    return pairs


@pytest.mark.parametrize("margin", get_args(Margin))
@pytest.mark.parametrize("k", [2, 4])
def test_pairs_are_those_of_a_plain_search(margin: str, k: int) -> None:
    generator = np.random.default_rng(k)
    x = generator.normal(size=(120, 12)).astype(np.float32)
    y = np.concatenate([x[:60] + 0.4 * generator.normal(size=(60, 12)), generator.normal(size=(90, 12))])
    y = y.astype(np.float32)
    pairs = best_pairs(*nearest_neighbours(x, y, k), margin)
    expected = mined_plainly(x, y, k, margin)
    assert list(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True)) == [
        (i, j) for i, j, _ in expected
    ]
    np.testing.assert_allclose(pairs.scores, [score for _, _, score in expected], atol=1e-6)


def test_scores_of_a_small_case() -> None:
    # The vectors have angles of 0 and 60 degrees on one side, and of 0, 60 and 180 degrees on the other.
    x = np.array([[1, 0], [0.5, 0.75**0.5]], np.float32)
    y = np.array([[2, 0], [1, 3**0.5], [-1, 0]], np.float32)
    found = nearest_neighbours(x, y, 2)
    ratio = best_pairs(*found, "ratio")
    # Each mean of two neighbours' cosines is 0.75; only the last vector has -0.75.
    assert sorted(zip(ratio.sources, ratio.targets, strict=True)) == [(0, 0), (1, 1)]
    assert ratio.scores == pytest.approx([4 / 3, 4 / 3])
    assert best_pairs(*found, "distance").scores == pytest.approx([0.25, 0.25])
    assert best_pairs(*found, "cosine").scores == pytest.approx([1.0, 1.0])


def test_a_ratio_to_nothing_is_zero() -> None:
    x, y = np.array([[1, 0]], np.float32), np.array([[-1, 0], [0, 0]], np.float32)
    found = nearest_neighbours(x, y, 4)
    assert best_pairs(*found, "ratio").scores.tolist() == [0.0]


def test_equal_sentences_are_one() -> None:
    texts, indices = unify(["b", "a", "b", "c", "a"])
    assert texts == ["b", "a", "c"]
    assert indices.tolist() == [0, 1, 0, 2, 1]


def test_vectors_that_are_not_finite_are_refused() -> None:
    def embed(sentences, _):
        vectors = np.ones((len(sentences), 2), np.float32)
        vectors[[text == "bad" for text in sentences], 1] = np.nan
        return vectors

    encoder = System("Odd", 2, "d", embed)
    with pytest.raises(InputError, match=r"^Odd: my\.txt: the vector of 'bad' is not finite$"):
        embed_entries(encoder, ["a", "b", "bad"], None, name="my.txt")


def test_the_command_finds_what_a_plain_search_finds(folder: Path, tmp_path: Path) -> None:
    english, german = [pair[0] for pair in PAIRS[:150]], [pair[1] for pair in PAIRS[50:200]]
    source = tmp_path / "en.txt.gz"
    source.write_bytes(gzip.compress("\n".join(english).encode()))
    output = tmp_path / "new" / "mined.tsv"
    threads = ("--threads", "2")
    assert mine(folder, source, write(tmp_path / "de.txt", german), output, *threads) == 0
    encoder = load_model(folder)
    expected = mined_plainly(encoder.embed_raw_text(english), encoder.embed_raw_text(german), 4, "ratio")
    rows = cells_of(output)
    np.testing.assert_allclose(
        [float(row[0]) for row in rows], [score for _, _, score in expected], atol=2e-6
    )
    assert [tuple(row[1:]) for row in rows] == [(english[i], german[j]) for i, j, _ in expected]
    translations = dict(PAIRS)
    assert sum(translations[row[1]] == row[2] for row in rows[:50]) > 40

    limited = tmp_path / "few.tsv"
    options = ("--margin", "cosine", "--k", "2", "--min-score", "0.9", "--ids", "--languages", "en-de")
    assert mine(folder, source, tmp_path / "de.txt", limited, *options) == 0
    expected = mined_plainly(encoder.embed_raw_text(english), encoder.embed_raw_text(german), 2, "cosine")
    rows = cells_of(limited)
    assert {tuple(row[1:]) for row in rows} == {
        (english[i], german[j], str(i + 1), str(j + 1)) for i, j, score in expected if score >= 0.9
    }
    assert 0 < len(rows) < len(expected)


def test_lines_that_count(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, one), (second, two) = PAIRS[0], PAIRS[10]
    # The text has a byte order mark, two kinds of line ends, blank lines, a repeated line, spaces around a
    # line and a tab within one.
    tabbed = second.replace(" ", "\t", 1)
    text = f"\ufeff{first}\r\n\n  \n{tabbed} \n{first}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    target = write(tmp_path / "de.txt", [two, two, one])
    assert mine(folder, "-", target, "-", "--ids") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert sorted(row[1:] for row in rows) == sorted([[first, one, "1", "3"], [second, two, "4", "1"]])


def test_a_single_sentence(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = write(tmp_path / "a.txt", [PAIRS[0][0]]), write(tmp_path / "b.txt", [PAIRS[0][1]])
    assert mine(folder, source, target, "-") == 0
    # The only cosine equals the mean of its neighbours.
    assert capsys.readouterr().out == f"1.000000\t{PAIRS[0][0]}\t{PAIRS[0][1]}\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"{path}: has no sentence"),
        (b"\n \n", r"{path}: has no sentence"),
        (b"good\nb\xff\n", r"{path}:2: not UTF-8: byte 0xff"),
        (b"\xff\xfea\x00", r"{path}: not UTF-8 but UTF-16"),
        (None, r"{path}: cannot be read: No such file or directory"),
        (gzip.compress(b"a sentence\n" * 1000, mtime=0)[:-20], r"{path}: damaged: "),
    ],
)
def test_bad_files_are_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, message: str
) -> None:
    path = tmp_path / "bad.txt"
    if content is not None:
        path.write_bytes(content)
    good, output = write(tmp_path / "good.txt", ["a"]), tmp_path / "out.tsv"
    assert mine(folder, good, path, output, "--strict") == 1
    error = capsys.readouterr().err
    assert error.startswith(f"paraphrastic: error: {message.format(path=path)}")
    assert error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path != tmp_path / "bad.txt") == ["good.txt"]


def test_outputs_that_cannot_be_written_are_told_at_once(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mine_files, "nearest_neighbours", None)
    good = write(tmp_path / "good.txt", ["a"])
    for output, cause in ((str(tmp_path), "Is a directory"), (f"{good}/out.tsv", "File exists")):
        assert mine(folder, good, good, output) == 1
        assert capsys.readouterr().err == f"paraphrastic: error: {output}: cannot be written: {cause}\n"
    assert mine(folder, "-", "-", "-") == 1
    assert "source and target cannot both be standard input" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["nan", "inf", "high", "1_0", "\N{ARABIC-INDIC DIGIT THREE}"])
def test_a_threshold_is_a_number(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["mine", "--min-score", value])
    assert f"'{value}' is not a number" in capsys.readouterr().err


def test_large_files_take_half_the_memory(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = (
        write(tmp_path / name, [pair[side] for pair in PAIRS]) for side, name in enumerate(("en", "de"))
    )
    held = []
    search = mine_files.nearest_neighbours
    monkeypatch.setattr(
        mine_files,
        "nearest_neighbours",
        lambda x, y, k, **more: held.append(x.dtype) or search(x, y, k, **more),
    )
    for limit, output in ((mine_files.MAX_VECTOR_BYTES, "all.tsv"), (1000, "half.tsv")):
        monkeypatch.setattr(mine_files, "MAX_VECTOR_BYTES", limit)
        assert mine(folder, source, target, tmp_path / output) == 0
    assert held == [np.float32, np.int16]
    scores = [
        [float(line.split("\t")[0]) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("all.tsv", "half.tsv")
    ]
    np.testing.assert_allclose(*scores, atol=1e-3)


def test_a_terminal_is_shown_the_progress(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = write(tmp_path / "a.txt", ["a b"]), write(tmp_path / "b.txt", ["c d"])
    assert mine(folder, source, target, tmp_path / "out.tsv") == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert mine(folder, source, target, tmp_path / "out.tsv") == 0
    shown = capsys.readouterr().err.split("\r")
    assert shown[1].startswith(f"embedding {source}: 100%")
    assert shown[-2].startswith("searching: 100%")
    assert shown[-1] == "\033[K"
