"""Test which pairs are held out of the training data."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pair_files import write_pairs

from paraphrastic_pipeline.corpus.held_out import HeldOutFiles, _in_proportion, hold_out_pairs
from paraphrastic_pipeline.corpus.normal_form import words_of

Row = tuple[str, str, int]


def selected(path: Path, rows: list[Row]) -> Path:
    return write_pairs(path, [row[:2] for row in rows], [row[2] for row in rows])


def held_out(
    folder: Path, *corpora: list[Row], pairs: int = 1000, share: float = 0.05, seed: int = 1,
    max_pairs: list[int | None] | None = None, texts: Sequence[int] = (),
) -> list[dict[str, object]]:  # fmt: skip
    files = [selected(folder / f"{number}.parquet", rows) for number, rows in enumerate(corpora)]
    output = HeldOutFiles(*(folder / f"held_out.{ending}" for ending in ("parquet", "tsv", "txt")))
    count = hold_out_pairs(
        files,
        output,
        pairs=pairs,
        share=share,
        corpora=[(f"c{number}", ("en", "de")) for number in range(len(files))],
        max_pairs=max_pairs or [None] * len(files),
        texts=texts,
        seed=seed,
        memory_mb=200,
        threads=1,
        temporary=folder / "temporary",
    )
    rows: list[dict[str, object]] = pq.read_table(output.pairs).to_pylist()
    assert len(rows) == count
    assert all((row["source_language"], row["target_language"]) == ("en", "de") for row in rows)
    assert all(row["name"] == f"c{row['corpus']}" for row in rows)
    lines = (folder / "held_out.tsv").read_text("utf-8").splitlines()
    assert lines == [f"{row['source']}\t{row['target']}" for row in rows]
    assert (folder / "held_out.txt").read_text("utf-8").splitlines() == [row["target"] for row in rows]
    return rows


def plain(number: int, name: str = "a") -> list[Row]:
    return [(f"source {name} {line}", f"target {name} {line}", line) for line in range(1, number + 1)]


def test_each_corpus_gives_its_share(tmp_path: Path) -> None:
    rows = held_out(tmp_path, plain(3000), plain(1000, "b"), pairs=100)
    assert Counter(row["corpus"] for row in rows) == {0: 75, 1: 25}
    assert all(row["source"] == f"source {'ab'[int(str(row['corpus']))]} {row['line']}" for row in rows)


def test_text_without_pairs_takes_no_share(tmp_path: Path) -> None:
    text = [(f"text {line}", f"text {line}", line) for line in range(3000)]
    rows = held_out(tmp_path, text, plain(1000), pairs=100, texts=[0])
    assert Counter(row["corpus"] for row in rows) == {1: 50}


def test_a_corpus_counts_only_as_much_as_is_used_of_it(tmp_path: Path) -> None:
    rows = held_out(tmp_path, plain(3000), plain(1000, "b"), pairs=100, max_pairs=[1000, None])
    assert Counter(row["corpus"] for row in rows) == {0: 50, 1: 50}


@pytest.mark.parametrize(("lines", "expected"), [(40_000, 1000), (2000, 100), (100, 10), (20, 5), (4, 1)])
def test_a_small_corpus_gives_a_share(tmp_path: Path, lines: int, expected: int) -> None:
    assert len(held_out(tmp_path, plain(lines))) == expected


def test_no_sentence_is_in_two_pairs_however_it_is_written(tmp_path: Path) -> None:
    rows = [(f"Source {line // 2}" + "!" * (line % 2), f"target {line}", line) for line in range(400)]
    found = held_out(tmp_path, rows, share=0.5)
    forms = ["".join(words_of(str(row[side]))) for row in found for side in ("source", "target")]
    assert len(forms) == len(set(forms)) == 400


def test_a_line_gives_one_pair(tmp_path: Path) -> None:
    rows = [(f"source {number}", f"target {number}", number // 10) for number in range(1000)]
    found = held_out(tmp_path, rows, share=0.5)
    assert len(found) == len({row["line"] for row in found}) == 50


def test_sentences_of_many_lines_stay(tmp_path: Path) -> None:
    often = [("Thank you.", f"Danke {line}.", line) for line in range(1, 151)]
    found = held_out(tmp_path, [*often, *((s, t, line + 150) for s, t, line in plain(50))], share=0.5)
    assert found
    assert not any(row["source"] == "Thank you." for row in found)
    # A sentence of one line may be in many pairs of it.
    group = [("A dog.", f"A hound {number}.", 1) for number in range(20)]
    assert held_out(tmp_path, [*group, ("x", "y", 2), ("v", "w", 3), ("t", "u", 4)], share=0.5, seed=3)


def test_sides_without_words_and_equal_sides_are_not_held_out(tmp_path: Path) -> None:
    rows = [("…", "target", 1), ("Same.", "same", 2), ("good", "fine", 3), ("well", "okay", 4)]
    found = held_out(tmp_path, rows, share=0.5)
    assert {row["line"] for row in found} <= {3, 4}
    # With nothing to hold out, the model is trained all the same.
    assert held_out(tmp_path, [("Same.", "same", line) for line in range(4)], share=0.5) == []
    assert held_out(tmp_path, plain(3)) == []


def test_the_choice_follows_the_seed_alone(tmp_path: Path) -> None:
    rows = plain(500)
    first = held_out(tmp_path, rows)
    assert held_out(tmp_path, rows) == first
    assert held_out(tmp_path, rows, seed=2) != first


def test_proportions_add_up() -> None:
    assert _in_proportion(10, [1, 1, 1]) == [4, 3, 3]
    assert _in_proportion(10, [0, 99, 1]) == [0, 10, 0]
    assert _in_proportion(0, [0, 0]) == [0, 0]
