"""Test retrieval of held-out pairs against plain numpy: shares, distractors and examples."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from function_encoder import FunctionEncoder

from paraphrastic_pipeline.evaluation.figures import Figures
from paraphrastic_pipeline.evaluation.held_out import (
    evaluate_held_out,
    held_out_score,
    read_held_out,
)

DIM = 4


def vectors(sentences: Sequence[str], _: str | None = None) -> np.ndarray:
    """A random vector of each sentence, which a number at its end shares with its partner, nearly."""
    rows = []
    for text in sentences:
        word, number = text.split()
        noise = np.random.default_rng(len(word) + 10 * int(number))
        rows.append(
            np.random.default_rng(int(number)).standard_normal(DIM) + 0.6 * noise.standard_normal(DIM)
        )
    return np.array(rows, np.float32)


def write_pairs(path: Path, languages: tuple[str, str], numbers: Sequence[int]) -> Path:
    rows = [
        {
            "source": f"a {number}",
            "target": f"bb {number}",
            "corpus": 0,
            "source_language": languages[0],
            "target_language": languages[1],
        }
        for number in numbers
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    held_out = write_pairs(tmp_path / "held_out.parquet", ("de", "en"), range(100, 180))
    return held_out, write_pairs(tmp_path / "pairs.parquet", ("de", "en"), range(1000, 1300))


def nearest(queries: Sequence[str], candidates: Sequence[str]) -> list[str]:
    one, other = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (vectors(queries), vectors(candidates))
    )
    return [candidates[index] for index in (one @ other.T).argmax(axis=1)]


SYSTEM = FunctionEncoder("a system", DIM, "digest", vectors)


def evaluated(files: tuple[Path, Path]) -> Figures:
    held_out, pairs = files
    return evaluate_held_out(SYSTEM, [held_out], [pairs], definitions=[""], languages=[[("de", "en")]])


def test_examples_show_what_is_nearest_among_all_sentences(files: tuple[Path, Path]) -> None:
    (data,) = evaluated(files)["forward de-en"].data
    assert (data.name, data.about["n"], data.about["distractors"]) == ("de-en", 80, 300)
    examples = data.about["examples"]
    candidates = [f"bb {number}" for number in [*range(100, 180), *range(1000, 1300)]]
    assert [each["sentence"] for each in examples] == [f"a {number}" for number in range(100, 160)]
    assert [each["partner"] for each in examples] == [f"bb {number}" for number in range(100, 160)]
    assert [each["found"] for each in examples] == nearest(
        [each["sentence"] for each in examples], candidates
    )
    assert [each["right"] for each in examples] == [each["found"] == each["partner"] for each in examples]
    assert {each["right"] for each in examples} == {True, False}


def test_the_score_of_training_is_the_share_without_distractors(files: tuple[Path, Path]) -> None:
    score = held_out_score(SYSTEM, read_held_out(files[0]))
    figures = evaluated(files)
    shares = [figures[f"{direction} de-en"].value for direction in ("forward", "backward")]
    assert score == pytest.approx(100 * np.mean(shares))


def test_no_pair_is_no_figure(files: tuple[Path, Path]) -> None:
    table = pq.read_table(files[0])
    pq.write_table(table.slice(0, 0), files[0])
    assert evaluated(files) == {}


def test_definitions_are_compared_by_the_nearest_and_the_ten_nearest(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    few = write_pairs(tmp_path / "few.parquet", ("en", "en"), range(12))
    figures = evaluate_held_out(
        SYSTEM,
        [files[0], few],
        [files[1], write_pairs(tmp_path / "few_others.parquet", ("en", "en"), range(3))],
        definitions=["german", "english"],
        languages=[[("de", "en")], [("en", "en")]],
    )
    about = {data.name: data.about for figure in figures.values() for data in figure.data}
    counts = {name: (data["n"], data["distractors"]) for name, data in about.items()}
    assert counts == {"german": (80, 300), "english": (12, 3)}
    for name, numbers, more in (
        ("german", range(100, 180), range(1000, 1300)),
        ("english", range(12), range(3)),
    ):
        for direction, (query, candidate) in {"forward": ("a", "bb"), "backward": ("bb", "a")}.items():
            choices = [f"{candidate} {number}" for number in dict.fromkeys([*numbers, *more])]
            queries, candidates = (
                rows / np.linalg.norm(rows, axis=1, keepdims=True)
                for rows in (vectors([f"{query} {number}" for number in numbers]), vectors(choices))
            )
            order = np.argsort(-(queries @ candidates.T), axis=1)
            for most in (1, 10):
                right = (order[:, :most] == np.arange(len(numbers))[:, None]).any(axis=1)
                figure = figures[f"{direction} {most} {name}"]
                assert figure.value == pytest.approx(right.mean())
                assert figure.n == len(numbers)


def test_a_definition_of_several_pairs_of_languages_has_a_row_for_each(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    tables = [pq.read_table(files[0]), pq.read_table(write_pairs(tmp_path / "fr", ("fr", "en"), range(9)))]
    pq.write_table(pa.concat_tables(tables), files[0])
    figures = evaluate_held_out(
        SYSTEM, [files[0]], [files[1]], definitions=["both"], languages=[[("de", "en")]]
    )
    distractors = {
        data.name: data.about["distractors"] for figure in figures.values() for data in figure.data
    }
    assert distractors == {"both de-en": 300, "both fr-en": 0}
