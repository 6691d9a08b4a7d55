"""Test the file with the sentences of all test sets, for which other programs make vectors."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.systems.open import open_system
from paraphrastic_pipeline.evaluation.listed_sentences import gather_sentences


def write(path: Path, **columns: list) -> Path:
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_every_sentence_once_in_its_order(tmp_path: Path) -> None:
    pairs = write(
        tmp_path / "pairs.parquet",
        dataset=["x", "x"],
        sentence1=["a dog", "a cat"],
        sentence2=["A dog", "a dog"],
        gold=[1.0, None],
    )
    single = write(
        tmp_path / "single.parquet",
        sentence=["a cat", "", "ein\u2028Hund ", None],
        label=["a", "b", "c", "d"],
    )
    output = tmp_path / "sentences.txt"
    gather_sentences([pairs, single], output)
    assert output.read_bytes().decode() == "a dog\na cat\nA dog\n\nein\u2028Hund \n"
    # The lookup finds the sentences exactly as they are.
    np.save(tmp_path / "vectors.npy", np.arange(10, dtype=np.float32).reshape(5, 2))
    places = {"sentences": str(output), "vectors": str(tmp_path / "vectors.npy")}
    encoder = open_system({"vectors": places, "label": "elsewhere"})
    asked = ["", "ein\u2028Hund ", "a dog"]
    np.testing.assert_array_equal(encoder.embed(asked, "en"), [[6, 7], [8, 9], [0, 1]])


def test_a_table_without_sentences(tmp_path: Path) -> None:
    table = write(tmp_path / "other.parquet", text=["a dog"], sentence=[3])
    with pytest.raises(InputError, match=r"other\.parquet: has no column with sentences"):
        gather_sentences([table], tmp_path / "sentences.txt")


@pytest.mark.parametrize("sentence", ["two\nlines", "its end\r"])
def test_a_sentence_that_is_no_line(tmp_path: Path, sentence: str) -> None:
    table = write(tmp_path / "lines.parquet", sentence=["a dog", sentence])
    with pytest.raises(InputError, match=r"lines\.parquet: a sentence is not a line of text: "):
        gather_sentences([table], tmp_path / "sentences.txt")
    assert not (tmp_path / "sentences.txt").exists()
