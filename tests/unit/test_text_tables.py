"""Test that CSV and TSV files give back every text, and that no text is a formula to a spreadsheet."""

import csv
import random
from pathlib import Path

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import UnreadableRows
from paraphrastic.base.tables import read_csv, read_csv_with_header, read_tsv, tsv_line, write_csv, write_tsv
from paraphrastic_pipeline.report.inspection import dropped_examples
from paraphrastic_pipeline.report.render import render_table
from paraphrastic_pipeline.report.shown_tables import read_table

FORMULAS = [
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "-",
    "-inf",
    "\t=1",
    "\r=1",
    "\nx",
    " =1",
    "'=1",
    "''-",
    '"=1"',
    "\uff1d1+1",
    "\ufe661+1",
    "\ufeff=1+1",
    "\u200b@a",
    "\uff0b1",
    "\uff0d1",
    "\uff201",
]
OTHERS = [
    "",
    "-1",
    "+1.5",
    "-1e-05",
    "-.5",
    "a=1",
    "'tis",
    "'-1",
    "1,5",
    'say "hi"',
    "two\nlines",
    "c\rr",
    "−3",
]
SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.lower().strip("+-") not in ("inf", "nan")


def random_texts(count: int) -> list[str]:
    generator = random.Random(3)
    letters = "=+-@'\"\t\r\n ,;1.e\uff1dä"
    return ["".join(generator.choices(letters, k=generator.randint(0, 6))) for _ in range(count)]


def test_every_text_comes_back_from_csv_and_none_is_a_formula(tmp_path: Path) -> None:
    texts = [*FORMULAS, *OTHERS, *random_texts(3000)]
    columns = ["=column", "text"]
    rows = [{"=column": text, "text": other} for text, other in zip(texts, reversed(texts), strict=True)]
    write_csv(tmp_path / "x.csv", columns, rows)
    assert read_csv(tmp_path / "x.csv") == rows
    assert read_csv_with_header(tmp_path / "x.csv") == (columns, rows)
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        seen = [cell for row in csv.reader(file, strict=True) for cell in row]
    assert not [cell for cell in seen if cell.strip().startswith(SIGNS) and not is_number(cell)]
    assert not [cell for cell in seen if cell.startswith(("\t", "\r", "\n"))]
    # Numbers are written as they are.
    assert {"-1", "+1.5", "-1e-05", "-.5"} <= {*seen}


@pytest.mark.parametrize("text", FORMULAS)
def test_samples_for_people_have_no_formulas_and_are_read_as_they_were(text: str, tmp_path: Path) -> None:
    rows = [("length", text, -0.5), ("rank", None, text)]
    write_tsv(tmp_path / "x.tsv", ("reason", "source", "target"), rows)
    line = (tmp_path / "x.tsv").read_text(encoding="utf-8").split("\n")[1].split("\t")
    # White space at the beginning is left out.
    words = " ".join(text.split())
    assert line == ["length", words if words == "x" else f"'{words}", "-0.5000"]
    assert [row["source"] for row in read_tsv(tmp_path / "x.tsv")] == [words, ""]
    # What a program of ours makes of them has the text again.
    assert [row["target"] for row in dropped_examples([(tmp_path / "x.tsv", "mine")])] == ["-0.5000", words]


def test_white_space_and_control_characters_do_not_break_a_row() -> None:
    assert tsv_line(("kind", "a\tb \n c", 0.5, None, 1, "\x1b[2J")) == "kind\ta b c\t0.5000\t\t1\t[2J\n"


def test_unreadable_rows_are_listed_in_the_same_way(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w+", encoding="utf-8") as report:
        UnreadableRows(1, report).add("=name\tof\na member", 3, "@cause")
        report.seek(0)
        assert report.read() == "'=name of a member\t3\t'@cause\n"


def test_tables_for_people_show_the_text_itself(tmp_path: Path) -> None:
    write_csv(tmp_path / "t.csv", ["system", "f"], [{"system": "=A\x1b1", "f": -1}])
    render_table(tmp_path / "t.csv", tmp_path / "t.md", tmp_path / "t.tex", caption="Two")
    assert "| =A 1" in (tmp_path / "t.md").read_text()
    assert "=A 1 & -1" in (tmp_path / "t.tex").read_text()
    assert read_table(tmp_path / "t.csv").groups[""][0].cells[0].text == "=A 1"


def test_damaged_tables_are_named(tmp_path: Path) -> None:
    for content, read in (("a\n1,2\n", read_csv), ('a\n"1', read_csv), ("a\tb\n1\n", read_tsv)):
        (tmp_path / "x").write_text(content)
        with pytest.raises(InputError, match="x: "):
            read(tmp_path / "x")
    (tmp_path / "x").write_text("a,b\n\n1\n")
    assert read_csv(tmp_path / "x") == [{"a": "1", "b": ""}]
    (tmp_path / "x").write_text("")
    assert read_csv(tmp_path / "x") == []
