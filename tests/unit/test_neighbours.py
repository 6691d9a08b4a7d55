"""Test search, near duplicates and mining beside plain implementations in double precision."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraphrastic import load_model, near_duplicates, search
from paraphrastic.base.arrays import Float32, Float64
from paraphrastic.base.errors import InputError
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.embed_files import embed_file
from paraphrastic.model.encoder import finite_vectors
from paraphrastic.neighbours import duplicates, matrix_search, nearest
from paraphrastic.neighbours.bitext import best_pairs
from paraphrastic.neighbours.bounds import Bound, bound_for_threshold
from paraphrastic.neighbours.nearest import Neighbours, nearest_neighbours
from paraphrastic.neighbours.vectors import open_vectors
from paraphrastic.quality.retrieval import unify


def clustered(n: int, dim: int, seed: int, *, zeros: bool = True) -> Float32:
    """Vectors with near ones, equal ones, opposite ones, zeros, and lengths of any order."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(max(1, n // 3), dim))
    x = centres[random.integers(len(centres), size=n)] + random.normal(size=(n, dim)) * random.choice(
        [0, 0.05, 0.5], (n, 1)
    )
    x *= random.choice([1e-9, 1.0, -1.0, 1e9], (n, 1), p=[0.1, 0.7, 0.1, 0.1])
    if zeros:
        x[random.random(n) < 0.05] = 0
    return x.astype(np.float32)


def cosine_table(x: Float32, y: Float32) -> Float64:
    def units(vectors: Float32) -> Float64:
        values = vectors.astype(np.float64)
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        return np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)

    return units(x) @ units(y).T


def plain_nearest(cosines: Float64, k: int) -> tuple[Any, Float64]:
    """Indices and cosines of the nearest columns; among equals, lower ones come first."""
    order = np.argsort(-np.round(cosines, 12), axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(cosines, order, 1)


sizes = st.integers(1, 60)


@settings(max_examples=60, deadline=None)
@given(
    n=sizes,
    m=sizes,
    dim=st.integers(1, 40),
    k=st.integers(1, 7),
    seed=st.integers(0, 999),
    threads=st.integers(1, 3),
)
def test_both_directions_of_nearest_neighbours(
    n: int, m: int, dim: int, k: int, seed: int, threads: int
) -> None:
    x, y = clustered(n, dim, seed), clustered(m, dim, seed + 1)
    table = cosine_table(x, y)
    with pytest.MonkeyPatch.context() as patch:
        # Blocks are so small that every input has several of them.
        for name, size in (("PART_ROWS", 16), ("PART_COLUMNS", 8), ("PANEL", 16)):
            patch.setattr(nearest, name, size)
        found = nearest_neighbours(x, y, k, threads=threads)
    for neighbours, expected in zip(found, (table, table.T), strict=True):
        _, cosines = plain_nearest(expected, k)
        np.testing.assert_allclose(neighbours.cosines, cosines, atol=1e-9)
        # Which of several equal ones is named depends on the last digit.
        np.testing.assert_allclose(np.take_along_axis(expected, neighbours.indices, 1), cosines, atol=1e-9)
        assert all(len(set(row)) == len(row) for row in neighbours.indices.tolist())


@settings(max_examples=60, deadline=None)
@given(
    n=sizes, q=sizes, dim=st.integers(1, 40), k=st.integers(1, 70), seed=st.integers(0, 999),
    min_score=st.sampled_from([None, -0.5, 0.0, 0.7, 1.0]),
    kind=st.sampled_from([np.float16, np.float32, np.float64]),
)  # fmt: skip
def test_search(n: int, q: int, dim: int, k: int, seed: int, min_score: float | None, kind: Any) -> None:
    rows, queries = clustered(n, dim, seed), clustered(q, dim, seed + 1)
    rows[rows > 1e4], rows[rows < -1e4] = 5, -5  # within the range of half precision
    rows = rows.astype(kind)
    table = cosine_table(queries, rows.astype(np.float32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_search, "BLOCK_NUMBERS", 16 * dim)
        patch.setattr(matrix_search, "QUERY_NUMBERS", 8 * dim)
        found = search(rows, queries, k, min_score=min_score, threads=2)
    assert found.indices.shape == found.cosines.shape == (q, min(k, n))
    # A zero vector is near nothing.
    is_zero = ~rows.astype(np.float32).any(axis=1)
    table[:, is_zero] = table[~queries.any(axis=1)] = -np.inf
    _, cosines = plain_nearest(table, k)
    wanted = cosines >= (-2 if min_score is None else min_score - 1e-9)
    np.testing.assert_array_equal(found.indices >= 0, wanted)
    np.testing.assert_allclose(found.cosines[wanted], cosines[wanted], atol=1e-7)
    assert np.isneginf(found.cosines[~wanted]).all()
    assert (found.indices[~wanted] == -1).all()
    near = np.take_along_axis(table, np.maximum(found.indices, 0), 1)
    np.testing.assert_allclose(near[wanted], cosines[wanted], atol=1e-7)


def test_among_equals_lower_rows_come_first() -> None:
    rows = np.array([[0, 1], [1, 0], [2, 0], [1, 1], [3, 0]], np.float32)
    found = search(rows, np.array([[5, 0], [0, 0]], np.float32), 4, threads=2)
    assert found.indices.tolist() == [[1, 2, 4, 3], [-1, -1, -1, -1]]
    x, y = np.ones((5, 2), np.float32), np.ones((9, 2), np.float32)
    for neighbours, k in zip(nearest_neighbours(x, y, 3, threads=2), (3, 3), strict=True):
        assert neighbours.indices.tolist() == [list(range(k))] * len(neighbours.indices)


def plain_duplicates(x: Float32, threshold: float, there: int) -> list[int]:
    """The originals; the first rows are `there` already, and all of them are kept."""
    table, originals = cosine_table(x, x), [-1] * len(x)
    for row in range(there, len(x)):
        kept = (
            other for other in range(row) if originals[other] < 0 and table[row, other] >= threshold - 1e-9
        )
        originals[row] = next(kept, -1)
    return originals


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 150), dim=st.integers(1, 30), seed=st.integers(0, 999), threads=st.integers(1, 3),
    threshold=st.sampled_from([0.3, 0.9, 0.999, 1.0]), kept=st.sampled_from([None, 1, 3]),
    there=st.sampled_from([0, 0, 1, 70]),
)  # fmt: skip
def test_near_duplicates(
    n: int, dim: int, seed: int, threads: int, threshold: float, kept: int | None, there: int
) -> None:
    x = clustered(there + n, dim, seed)
    old = x[:there] if there else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplicates, "BLOCK", 32)
        patch.setattr(duplicates, "PART", 8)
        if kept is not None:
            basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0][:, : min(kept, dim)]
            bound = Bound(dim, np.ascontiguousarray(basis, np.float32))
            patch.setattr(duplicates, "bound_for_threshold", lambda *_: bound)
        found = near_duplicates(x[there:], threshold, against=old, threads=threads)
    assert found.originals.tolist() == plain_duplicates(x, threshold, there)[there:]
    left_out = np.flatnonzero(found.originals >= 0)
    expected = cosine_table(x[there:], x)[left_out, found.originals[left_out]]
    np.testing.assert_allclose(found.cosines[left_out], expected, atol=1e-9)
    assert found.kept.tolist() == np.flatnonzero(found.originals < 0).tolist()
    assert not found.cosines[found.kept].any()


@pytest.mark.parametrize("kept", [None, 5, 60])
def test_a_bound_is_never_below_the_cosine(kept: int | None) -> None:
    x = clustered(300, 64, 1)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(64, 64)))[0].astype(np.float32)
    bound = Bound(64, None if kept is None else np.ascontiguousarray(basis[:, :kept]))
    vectors, norms = bound.vectors(x)
    assert vectors.shape == (300, bound.width)
    np.testing.assert_allclose(norms, np.linalg.norm(x.astype(np.float64), axis=1), rtol=1e-12)
    table = cosine_table(x, x)
    assert (vectors.astype(np.float64) @ vectors.T + bound.slack >= table).all()
    assert bound.slack < 2e-4
    if kept is None:
        np.testing.assert_allclose(vectors @ vectors.T, table, atol=1e-5)


def test_a_high_threshold_leaves_out_dimensions() -> None:
    random = np.random.default_rng(0)
    x = (random.normal(size=(12_000, 64)) * np.geomspace(8, 0.1, 64)).astype(np.float32)
    assert bound_for_threshold(x, 0.95).width < 65
    # Too few vectors to pay for it.
    assert bound_for_threshold(x[:100], 0.95).width == 64


@pytest.mark.parametrize("margin", ["ratio", "distance", "cosine"])
@pytest.mark.parametrize("seed", range(4))
def test_best_pairs_are_those_of_the_paper(margin: Any, seed: int) -> None:
    """Artetxe and Schwenk (2019), section 3, sentence by sentence."""
    x, y = clustered(40, 8, seed), clustered(30, 8, seed)
    table, k = cosine_table(x, y), 4
    means = [np.sort(side, axis=1)[:, -k:].mean(axis=1) for side in (table, table.T)]
    average = (means[0][:, None] + means[1]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(average > 0, table / average, 0)
    scores = {"ratio": ratio, "distance": table - average, "cosine": table}[margin]
    candidates = []
    for side, of_side, turn in ((scores, table, 1), (scores.T, table.T, -1)):
        for row, near in enumerate(np.argsort(-np.round(of_side, 12), axis=1, kind="stable")[:, :k]):
            best = max(near, key=lambda column: (side[row, column], -list(near).index(column)))
            candidates.append((side[row, best], *((row, int(best))[::turn])))
    taken: tuple[set[int], set[int]] = set(), set()
    expected = []
    for score, source, target in sorted(candidates, key=lambda each: (-each[0], each[1], each[2])):
        if source not in taken[0] and target not in taken[1]:
            taken[0].add(source)
            taken[1].add(target)
            expected.append(score)
    found = best_pairs(*nearest_neighbours(x, y, k), margin)
    np.testing.assert_allclose(found.scores, expected, atol=1e-9)
    np.testing.assert_allclose(scores[found.sources, found.targets], expected, atol=1e-9)
    assert len({*found.sources.tolist()}) == len({*found.targets.tolist()}) == len(found.scores)


def test_what_was_not_found_is_in_no_pair() -> None:
    nothing = Neighbours.nothing(2, 2)
    assert len(best_pairs(nothing, Neighbours.nothing(3, 2), "ratio").scores) == 0
    texts, indices = unify(["b", "a", "b"])
    assert (texts, indices.tolist()) == (["b", "a"], [0, 1, 0])


GOOD = np.eye(3, dtype=np.float32)
BAD = {
    "not finite": (np.array([[1, 2], [np.nan, 1]]), "row 2"),
    "infinite": (np.array([[1, np.inf]], np.float32), "row 1"),
    "integers": (np.ones((2, 2), int), "int64"),
    "one axis": (np.ones(3), "3"),
    "other lengths": (pd.Series([[1.0, 2.0], [1.0]]), "shapes"),
    "a text": ("some sentence", "some sentence"),
    "texts": (["a", "b"], "text"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_matrix_is_refused(case: str) -> None:
    given, named = BAD[case]
    for call in (lambda: search(given, GOOD[:, :2]), lambda: near_duplicates(given, 0.9)):
        with pytest.raises(InputError, match=r"^vectors: ") as caught:
            call()
        assert named in str(caught.value)


def test_arguments_of_search_and_near_duplicates(model: AverageEncoder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="queries"):
        search(GOOD, GOOD * np.float32(np.nan))
    with pytest.raises(InputError, match=r"3 dimensions.*2"):
        search(GOOD, GOOD[:, :2])
    with pytest.raises(InputError, match="k is 0"):
        search(GOOD, GOOD, 0)
    with pytest.raises(InputError, match="threshold"):
        near_duplicates(GOOD, 0)
    with pytest.raises(InputError, match=r"3 dimensions.*2"):
        near_duplicates(GOOD, 0.9, against=GOOD[:, :2])
    with pytest.raises(InputError, match=r"^against: .*row 1 "):
        near_duplicates(GOOD, 0.9, against=GOOD * np.float32(np.nan))
    with pytest.raises(InputError, match="load_model"):
        search(["a"], ["a"], model="en")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        near_duplicates(tmp_path, 0.9)  # type: ignore[arg-type]
    assert search(np.empty((0, 3), np.float32), GOOD).indices.shape == (3, 0)
    assert search(GOOD, np.empty((0, 3), np.float32)).indices.shape == (0, 3)
    assert near_duplicates(np.array([], object), 0.9).originals.shape == (0,)
    # A column of a table may have a list in each row.
    assert search(pd.Series(GOOD.tolist()), GOOD, 1).indices.ravel().tolist() == [0, 1, 2]


def test_texts_are_embedded_by_a_model(model: AverageEncoder) -> None:
    texts = ["the dog sees the cat", "der hund", "the dog sees the cat"]
    found = search(pd.Series(texts), "the dog sees the cat", 1, model=model)
    assert (found.indices.tolist(), found.cosines[0, 0]) == ([[0]], pytest.approx(1))
    assert near_duplicates(texts, 0.99, model=model).originals.tolist() == [-1, -1, 0]
    assert near_duplicates(["ein hund", *texts], 0.99, against=texts[1:], model=model).kept.tolist() == [0]
    np.testing.assert_array_equal(finite_vectors(model, texts, None, name="x"), model.encode(texts))


@pytest.mark.parametrize("name", ["v.npy", "v.parquet", "shards"])
def test_files_are_searched_as_they_stand(name: str, model: AverageEncoder, tmp_path: Path) -> None:
    lines = tmp_path / "in.txt"
    texts = [f"the dog sees {number} cats" for number in range(50)]
    lines.write_text("".join(f"{text}\n" for text in texts))
    path = tmp_path / name
    if name == "shards":
        path.mkdir()
        for part in range(2):
            lines.write_text("".join(f"{text}\n" for text in texts[25 * part : 25 * part + 25]))
            embed_file(model, str(lines), str(path / f"{part}.parquet"), batch=10)
    else:
        embed_file(model, str(lines), str(path), batch=10)
    found = search(path, texts[::7], 3, model=model)
    expected = search(model.embed_raw_text(texts), texts[::7], 3, model=model)
    np.testing.assert_array_equal(found.indices, expected.indices)
    assert open_vectors(str(path)).ids([0, 26]) == [1, 2 if name == "shards" else 27]
    with pytest.raises(InputError, match=f"^{path}: "):
        search(path, texts, model=load_model("en"))


FILES: dict[str, Any] = {
    "none.npy": None,
    "text.npy": lambda path: path.write_text("hello"),
    "object.npy": lambda path: np.save(path, np.array([{}], object), allow_pickle=True),
    "ints.npy": lambda path: np.save(path, np.ones((2, 2), int)),
    "cube.npy": lambda path: np.save(path, np.ones((2, 2, 2))),
    "short.npy": lambda path: (np.save(path, np.ones((200, 2))), path.write_bytes(path.read_bytes()[:-9])),
    "none.parquet": None,
    "text.parquet": lambda path: path.write_text("hello"),
    "other.parquet": lambda path: pq.write_table(pa.table({"id": [1]}), path),
    "folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_vectors_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if FILES[name]:
        FILES[name](path)
    with pytest.raises(InputError, match=f"^{path}: "):
        open_vectors(str(path))


@pytest.mark.parametrize("vectors", [[[1.0, 2.0], [1.0]], [[1.0, 2.0], None], [[1, 2], [3, 4]]])
def test_parquet_of_anybody(vectors: Any, tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"vector": [[1.0, 0.0], [0.0, 1.0]], "name": ["a", "b"]}), path)
    matrix = open_vectors(str(path))
    assert matrix.ids([1, 0]) == [2, 1]
    assert search(path, np.eye(2), 1).indices.tolist() == [[0], [1]]
    pq.write_table(pa.table({"vector": vectors}), path)
    with pytest.raises(InputError, match=f"^{path}: .*vector"):
        search(path, np.eye(2), 1)
