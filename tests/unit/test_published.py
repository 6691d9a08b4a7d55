"""Test that the published figures are complete, consistent, and equal to those printed in the papers."""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "config/published"
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

P_SP = "Paraphrastic Representations at Scale"
BITEXT = "Simple and Effective Paraphrastic Similarity from Parallel Translations"
PARANMT = "ParaNMT-50M"
POLISH = "Training Effective Neural Sentence Encoders from Automatically Mined Paraphrases"
# The beginnings of the names of the files with each paper's text; the first paper exists in two versions.
TEXTS = {P_SP: ("000", "002"), BITEXT: ("001",), PARANMT: ("003",), POLISH: ("004",)}


YEARS = ["2012", "2013", "2014", "2015", "2016"]
DATASETS = dict(zip(YEARS, (5, 4, 6, 5, 5), strict=True))
TRACKS = ["ar-ar", "ar-en", "es-es", "es-en", "tr-en"]
LANGUAGES = ["ar", "de", "es", "fr", "ru", "tr"]
TASKS = ["PPC", "CR-H", "CR-M", "CDSC-E", "SICK-E", "CDSC-R", "SICK-R", "8TAGS"]
AVERAGES = {"polish": (TASKS, 17), "sts": (YEARS, 8), "sts_spearman": (YEARS, 2), "tatoeba": (LANGUAGES, 6)}

Row = dict[str, str]
# Two columns may be printed as one, such as 73.6/81.7 or 24.0 (34.7).
Columns = Sequence[str | tuple[str, str]]


class Print(NamedTuple):
    """A paper's table: the file with its figures, its number of rows, and the content of a printed line."""

    file: str
    paper: str
    table: str
    rows: int
    # The columns in printed order.
    columns: Columns = ()
    # The column that a printed line begins with.
    label: str = "system"
    # A column and its values: the rows with these values, in this order, make up one printed line.
    across: tuple[str, Sequence[str]] | None = None
    # If the rows are printed as columns, these labels begin the printed lines, one for each column.
    turned: Sequence[str] = ()
    # Which of two figures to read if a backslash separates them.
    part: int = 0
    # Figures that are printed in running text instead of a table, in their order.
    text: Sequence[str] = ()


RANKS = ("paraphrase score", "trigram overlap", "translation score")
PRINTS = [
    Print("bucc", BITEXT, "Table 3", 6, ["f1"], across=("pair", ["de-en", "fr-en"])),
    Print("corpora", P_SP, "Table 1", 8, ["used_millions"], turned=[""]),
    Print(
        "corpora", PARANMT, "Table 2", 4,
        [("length", "length_std"), ("idf", "idf_std"), "vocabulary_entropy",
         ("paraphrase_score", "paraphrase_score_std"), "parse_entropy", "pairs_millions"],
        turned=["Avg. Length", "Avg. IDF", "Vocab. Ent.", "Para. Score", "Parse Ent.", "Num Ex."],
    ),
    Print("language_choice_correlations", BITEXT, "Table 5", 3, ["sp_overlap", "language_distance"],
          "languages"),
    Print("language_choice_correlations", BITEXT, "Section 4.2", 3,
          text=["-56.1", "-29.0", "24.9", "-10.1", "-37.5"]),
    Print("polish", POLISH, "Table I", 17, ["avg", *TASKS]),
    Print("senteval", PARANMT, "Table 8", 31,
          ["MR", "CR", "SUBJ", "MPQA", "SST", "TREC", ("MRPC", "MRPC-F1"), "SICK-R", "SICK-E"]),
    Print("speed", BITEXT, "Table 4", 4, ["dim", "sentences_per_second"]),
    Print("speed", P_SP, "Table 5", 8, ["sentences_per_second"], across=("device", ["gpu", "cpu"])),
    Print("speed", P_SP, "Section 7", 1, text=["15316"]),
    Print("sts", PARANMT, "Table 7", 24, ["dim", *YEARS]),
    Print("sts", P_SP, "Table 2", 8, [*YEARS, "avg"]),
    Print("sts_spearman", P_SP, "Table 2", 2, [*YEARS, "avg"]),
    Print("sts_spearman", P_SP, "Section 6", 2, text=["77.4", "77.9"]),
    Print("stsb", PARANMT, "Table 9", 21, ["test|test_trained"]),
    Print("stsb", PARANMT, "Table 12", 5,
          [f"test{part}|test_trained{part}" for part in ("", "_captions", "_no_captions")]),
    Print("studies", BITEXT, "Table 1", 12, ["sts_datasets"],
          across=("training_data", ["En-En", "En-Cs (1M)", "En-Cs (2M)"])),
    Print("studies", PARANMT, "Table 3", 12, ["development"], "training_data",
          ("system", ["Word Avg.", "Trigram Avg.", "LSTM Avg."])),
    Print("studies", PARANMT, "Table 4", 3, ["development"],
          across=("setting", [f"{name}, best tenth" for name in RANKS])),
    Print("studies", PARANMT, "Table 5", 6, ["development"],
          across=("setting", [f"sweep.megabatch {size}" for size in (1, 20, 40)])),
    Print("tatoeba", P_SP, "Table 4", 6, [*LANGUAGES, "avg"], turned=[*LANGUAGES, "Avg."]),
    Print("xling_sts", BITEXT, "Table 2", 15,
          ["training_data", "training_pairs", "dim", *TRACKS[:-1], "en-en", "tr-en"]),
    Print("xling_sts", P_SP, "Table 3", 4, ["dim", *TRACKS]),
    Print("xling_sts_spearman", P_SP, "Table 3", 3, ["dim", *TRACKS], part=1),
]  # fmt: skip

# Rows that this table repeats from another paper.
AGAIN = Print("xling_sts", P_SP, "Table 3", 4, ["dim", *TRACKS])
AGAIN_AS = {
    "Chidambaram et al. (2018)": "Chidambaram et al. (2019)",
    **{name: name for name in ("2017 STS 1st Place", "2017 STS 2nd Place", "2017 STS 3rd Place")},
}


def read(file: str) -> list[Row]:
    with (FOLDER / f"{file}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def figures(row: Row) -> dict[str, str]:
    return {name: value for name, value in row.items() if value and name not in {*NAMES, *COMMON}}


def rows_of(table: Print) -> list[Row]:
    return [row for row in read(table.file) if (row["paper"], row["table"]) == (table.paper, table.table)]


@pytest.mark.parametrize("file", FILES)
def test_cells_are_figures_and_names(file: str) -> None:
    rows = read(file)
    assert list(rows[0])[-len(COMMON) :] == COMMON
    for row in rows:
        assert {type(cell) for cell in row.values()} == {str}, f"a row of another length: {row}"
        assert all(cell == " ".join(cell.split()) for cell in row.values()), row
        assert figures(row), row
        assert all(re.fullmatch(r"-?\d+(\.\d+)?", figure) for figure in figures(row).values()), row
        assert row["paper"] in TEXTS
        assert row["protocol"], row


def test_no_row_is_lost() -> None:
    found = Counter((file, row["paper"], row["table"]) for file in FILES for row in read(file))
    assert found == {(each.file, each.paper, each.table): each.rows for each in PRINTS}


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


@pytest.fixture(scope="session")
def papers() -> dict[str, list[str]]:
    """The texts of all versions of each paper."""
    folder = Path(os.environ.get("PARAPHRASTIC_PAPERS", ROOT / ".." / "shared" / "papers")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no papers: PARAPHRASTIC_PAPERS ({folder}) is not a folder")
    texts = sorted((path.name, path.read_text(encoding="utf-8")) for path in folder.glob("*.txt"))
    return {
        paper: [text for name, text in texts if name.startswith(numbers)] for paper, numbers in TEXTS.items()
    }


def tokens(line: str, part: int = 0) -> list[str]:
    """Return the words of a printed line or of cells, without everything that is not part of the figures."""
    line = re.sub(r"(?<=\d),(?=\d{3}\b)", "", line)  # thousands
    line = re.sub(r"(?<=\d)M\b", "", line)  # millions
    line = line.replace("91,4", "91.4")  # a misprint
    line = line.replace("(*)", "-").replace("†", "")
    words = re.sub(r"[/()]", " ", line).split()
    return [word.split("\\")[part if "\\" in word else 0] for word in words]


def without_end(words: list[str]) -> list[str]:
    """Remove the dashes at the end, which some lines are printed without."""
    return words[: max((place for place, word in enumerate(words, 1) if word != "-"), default=0)]


def cells(row: Row, columns: Columns) -> list[str]:
    """Return each column's cell as papers print it, with a dash if it is empty; `a|b` is the filled one."""
    row = row | {name: "".join(row[each] for each in name.split("|")) for name in columns if "|" in name}
    groups = [(column,) if isinstance(column, str) else column for column in columns]
    return [
        " ".join(row[column] or "?" for column in group) if any(row[column] for column in group) else "-"
        for group in groups
    ]


def lines_of(table: Print, rows: Sequence[Row]) -> Iterator[tuple[str, list[str]]]:
    """Yield the beginning of each line of a table and its cells."""
    printed = [cells(row, table.columns) for row in rows]
    if table.turned:
        yield from zip(table.turned, map(list, zip(*printed, strict=True)), strict=True)
    elif table.across:
        column, order = table.across
        for label in dict.fromkeys(row[table.label] for row in rows):
            line = {row[column]: cells(row, table.columns) for row in rows if row[table.label] == label}
            assert set(line) == set(order), label
            yield label, [cell for value in order for cell in line[value]]
    else:
        labels = [" / ".join(row[name] for name in (table.label, "other") if name in row) for row in rows]
        yield from zip(labels, printed, strict=True)


def assert_printed(table: Print, rows: Sequence[Row], texts: Sequence[str]) -> None:
    for name, line in lines_of(table, rows):
        # Text in square brackets is not printed in the paper.
        label = re.sub(r" \[.*\]", "", name)
        expected = without_end(tokens(" ".join(line)))
        found = [each for text in texts for each in text.splitlines() if each.startswith(label)]
        printed = [without_end(tokens(each.removeprefix(label), table.part)) for each in found]
        assert expected in printed, name


@pytest.mark.parametrize(
    "table",
    [each for each in PRINTS if each.columns],
    ids=lambda each: f"{each.file}: {each.table} of {each.paper}",
)
def test_lines_are_as_printed(table: Print, papers: dict[str, list[str]]) -> None:
    rows = rows_of(table)
    checked = {
        name for each in table.columns for name in (each.split("|") if isinstance(each, str) else each)
    }
    assert {name for row in rows for name in figures(row)} <= checked | SETTINGS
    assert_printed(table, rows, papers[table.paper])


def test_rows_that_are_printed_again(papers: dict[str, list[str]]) -> None:
    rows = [row for row in read(AGAIN.file) if row["system"] in AGAIN_AS]
    assert len(rows) == AGAIN.rows
    assert_printed(AGAIN, [{**row, "system": AGAIN_AS[row["system"]]} for row in rows], papers[AGAIN.paper])


@pytest.mark.parametrize(
    "table",
    [each for each in PRINTS if each.text],
    ids=lambda each: f"{each.file}: {each.table} of {each.paper}",
)
def test_figures_are_those_of_the_running_text(table: Print, papers: dict[str, list[str]]) -> None:
    rows = [figures(row) for row in rows_of(table)]
    assert [row[name] for row in rows for name in row if name not in SETTINGS] == table.text
    # A line may end in a minus sign.
    texts = [tokens(text.replace("-\n", "-")) for text in papers[table.paper]]
    found = [[word.rstrip(".,") for word in words if word.rstrip(".,") in table.text] for words in texts]
    assert table.text in found
