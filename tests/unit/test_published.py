"""Test that the tables of published figures are complete and consistent."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "config/published"
FILES = sorted(path.stem for path in FOLDER.glob("*.csv"))
COMMON = ["paper", "table", "protocol", "note"]
# The columns that say what the figures of a row describe.
NAMES = {
    "system", "other", "group", "training_data", "training_pairs", "study", "setting", "rank_by", "pair",
    "languages", "language", "embeddings", "device", "preprocessing", "corpus",
}  # fmt: skip
# These numbers are not printed in every table.
SETTINGS = {"dim", "cores", "batch_size", "sentences", "n"}
# These files have exactly one row per system.
BY_SYSTEM = {
    "polish", "senteval", "sts", "sts_spearman", "stsb", "tatoeba", "xling_sts", "xling_sts_spearman",
}  # fmt: skip
YEARS = ["2012", "2013", "2014", "2015", "2016"]
LANGUAGES = ["ar", "de", "es", "fr", "ru", "tr"]
TASKS = ["PPC", "CR-H", "CR-M", "CDSC-E", "SICK-E", "CDSC-R", "SICK-R", "8TAGS"]
AVERAGES = {"polish": (TASKS, 17), "sts": (YEARS, 8), "sts_spearman": (YEARS, 2), "tatoeba": (LANGUAGES, 6)}
ROWS = {
    "bucc": 6,
    "corpora": 12,
    "language_choice_correlations": 6,
    "polish": 17,
    "senteval": 31,
    "speed": 13,
    "sts": 32,
    "sts_spearman": 4,
    "stsb": 26,
    "studies": 33,
    "tatoeba": 6,
    "xling_sts": 19,
    "xling_sts_spearman": 3,
}

Row = dict[str, str]


def read(file: str) -> list[Row]:
    with (FOLDER / f"{file}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def figures(row: Row) -> dict[str, str]:
    return {name: value for name, value in row.items() if value and name not in {*NAMES, *COMMON}}


@pytest.mark.parametrize("file", FILES)
def test_cells_are_figures_and_names(file: str) -> None:
    rows = read(file)
    assert list(rows[0])[-len(COMMON) :] == COMMON
    for row in rows:
        assert {type(cell) for cell in row.values()} == {str}, f"a row of another length: {row}"
        assert all(cell == " ".join(cell.split()) for cell in row.values()), row
        assert figures(row), row
        assert all(re.fullmatch(r"-?\d+(\.\d+)?", figure) for figure in figures(row).values()), row
        assert row["paper"], row
        assert row["protocol"], row


def test_no_row_is_lost() -> None:
    assert {file: len(read(file)) for file in FILES} == ROWS


@pytest.mark.parametrize("file", FILES)
def test_rows_have_names_of_their_own(file: str) -> None:
    names = {"system"} if file in BY_SYSTEM else {*NAMES, *SETTINGS, "table"}
    found = Counter(tuple(row[name] for name in row if name in names) for row in read(file))
    assert [name for name, rows in found.items() if rows > 1] == []


@pytest.mark.parametrize("file", AVERAGES)
def test_averages_are_those_of_their_rows(file: str) -> None:
    columns, expected = AVERAGES[file]
    checked = 0
    for row in read(file):
        cells = [row[column] for column in columns]
        if row["avg"] and all(cells):
            half = 0.5 * 10 ** -len(row["avg"].partition(".")[2])
            mean = sum(map(float, cells)) / len(cells)
            assert float(row["avg"]) == pytest.approx(mean, abs=half + 1e-9), row
            checked += 1
    assert checked == expected


def test_two_tables_have_the_same_figures_of_the_benchmark() -> None:
    test = {row["system"]: row["test"] for row in read("stsb")}
    assert test["Trigram-word (concat)"] == test["Trigram-Word (600d, concatenation)"]
    assert test["InferSent (AllNLI) [cosine]"] == test["(Conneau et al., 2017) (AllSNLI)"]
