"""Test that a run's page shows what is there, beside the papers' figures, and runs nothing from its data."""

import csv
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from paraphrastic.cli import main
from paraphrastic_pipeline.report.contents import CHAPTERS, TABLES
from paraphrastic_pipeline.report.page import write_report
from paraphrastic_pipeline.report.provenance import write_provenance
from paraphrastic_pipeline.report.shown_tables import read_table
from paraphrastic_pipeline.report.summary import read_headline, read_speeds

EVIL = """<script>alert("1")</script> & 'P-SP' <b>"""
STS = ["system", "source", "data", "2012", "avg"]
INTERVALS = ["system", "name", "source", "row", "column", "value", "low", "high", "deviation", "group"]
SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt" viewBox="0 0 72 36">
  <script>alert(1)</script><text>a &lt; b</text>
</svg>
"""


class Reader(HTMLParser):
    """Collects the elements of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        return [found for _, attributes in self.elements if (found := attributes.get(name)) is not None]


Write = Callable[[str, Sequence[str], Sequence[Sequence[object]]], Path]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    (folder / "tables" / "intervals").mkdir(parents=True)
    (folder / "figures" / "training" / "en").mkdir(parents=True)
    return folder


@pytest.fixture
def write(results: Path) -> Write:
    def to_file(name: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
        path = results / "tables" / f"{name}.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        return path

    return to_file


@pytest.fixture
def sts(write: Write) -> Path:
    around = [
        ["LASER <base>", "", "published", "", "avg", "64.9", "", "", "", "Scale, Table 2"],
        [EVIL, "en", "measured", "", "avg", "66.1", "64.66", "67.3", "0.4", ""],
    ]
    write("intervals/sts", INTERVALS, around)
    rows = [
        ["LASER <base>", "published", "official", "63.1", "64.9"],
        [EVIL, "untrained", "official", "54.0", "62.3"],
        [EVIL, "measured", "official", "58.6", "66.1"],
        ["P-SP fr (2013 without SMT)", "measured", "official", "58.8", "-3.2"],
    ]
    return write("sts", STS, rows)


def page_of(results: Path, **given: dict[str, str] | list[str]) -> str:
    write_report(results, results.parent / "page.html", **given)  # type: ignore[arg-type]
    return (results.parent / "page.html").read_text(encoding="utf-8")


def test_a_page_is_made_of_one_table(results: Path, sts: Path) -> None:
    page = Reader(page_of(results, captions={"sts": "Of <years>"}))
    assert page.text.count(EVIL) == 4  # in the headline, in its chart and twice in the table
    assert "Of <years>." in page.text
    assert all(section.title in page.text for chapter in CHAPTERS for section in chapter.sections)
    assert [tag for tag, _ in page.elements].count("table") == 1
    assert [tag for tag, _ in page.elements].count("script") == 1


def test_only_what_is_of_the_run_is_shown(results: Path, sts: Path, write: Write) -> None:
    """Another configuration may have left its tables and pictures behind; the page ignores them."""
    write("funnel", ["model", "corpus", "read", "kept"], [["en", "left_over", "20000", "10000"]])
    for name in ("sts", "funnel", "training/en/one", "training/en/two"):
        (results / f"figures/{name}.svg").write_text(SVG)
    everything = Reader(page_of(results))
    assert TABLES["funnel"].caption in everything.text
    assert "left_over" in everything.text
    assert "of 20,000 that were read" in everything.text
    assert len(everything.values("alt")) == 4
    some = Reader(page_of(results, captions={"sts": ""}, figures=["sts", "training/en/two"]))
    assert "left_over" not in some.text
    assert "that were read" not in some.text
    assert [label.partition(": ")[2] for label in some.values("alt")] == ["", "en, two"]


def test_a_page_is_made_of_nothing_or_of_a_folder(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = results.parent / "own" / "page.html"
    assert main(["report", "--results", str(results), "--output", str(output)]) == 0
    assert "English STS" in Reader(output.read_text()).text.partition("Not in this page")[2]
    output.unlink()
    assert main(["report", "--results", str(results / "none"), "--output", str(output)]) == 1
    assert "none: is not a folder" in capsys.readouterr().err
    assert not output.exists()


def test_the_page_asks_for_nothing_and_runs_only_its_own_script(results: Path, sts: Path) -> None:
    (results / "figures/sts.svg").write_text(SVG)
    text = page_of(results)
    page = Reader(text)
    for name in ("src", "href", "xlink:href", "data", "action"):
        assert all(value.startswith(("#", "data:")) for value in page.values(name)), name
    policy = next(value for value in page.values("content") if "default-src" in value)
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[\w+/=]+';", policy)
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    # The picture is an image, since its scripts and styles would take effect as elements of the page.
    (picture,) = [found for tag, found in page.elements if found.get("alt")]
    assert (picture["width"], picture["height"]) == ("96", "48")
    assert "alert(1)" not in text
    assert "url(http" not in text
    assert "@import" not in text


def test_this_runs_rows_stand_above_the_published_ones(sts: Path) -> None:
    table = read_table(sts, sts.parent / "intervals" / "sts.csv")
    assert list(table.groups) == ["This run", "Published: Scale, Table 2"]
    assert table.columns == ["system", "average", "2012"]
    assert table.numeric == [False, True, True]
    ours = table.groups["This run"]
    assert [row.source for row in ours] == ["untrained", "measured", "measured"]
    best = ours[1].cells[1]
    assert (best.text, best.value, best.note) == ("66.1", 66.1, "± 0.4 [64.7, 67.3]")
    assert [cell.text for cell in ours[2].cells[:2]] == ["P-SP fr*", "−3.2"]
    assert table.footnotes == ["2013 without SMT"]


def test_columns_of_intervals_become_notes(write: Write) -> None:
    figures = {
        "corpus": "multi30k", "pairs": "290000", "length": "12.3", "length_std": "5.1", "sts": "66.1",
        "sts_low": "64.7", "sts_high": "67.3", "rho": "-50.0", "low": "-91.9", "high": "24.1", "none": "",
    }  # fmt: skip
    table = read_table(write("corpora", list(figures), [list(figures.values())]))
    assert table.columns == ["corpus", "pairs", "length", "STS", "rho"]
    cells = table.groups[""][0].cells
    assert [cell.text for cell in cells] == ["multi30k", "290,000", "12.3", "66.1", "−50.0"]
    assert [cell.note for cell in cells] == ["", "", "± 5.1", "[64.7, 67.3]", "[−91.9, 24.1]"]
    assert cells[1].value == 290000


def test_the_headline_is_of_the_best_system(results: Path, sts: Path, write: Write) -> None:
    headline = read_headline(results / "tables")
    assert headline is not None
    assert [(gain.system, gain.after, gain.before, gain.interval) for gain in headline.gains] == [
        (EVIL, 66.1, 62.3, (64.66, 67.3)),
        ("P-SP fr", -3.2, None, None),
    ]
    assert headline.published == (64.9, "LASER <base>")
    assert not headline.sample
    write("sts", STS, [["P-SP en", "measured", "sample", "95.1", "94.4"]])
    assert "This run, on sample data" in Reader(page_of(results)).text
    write("sts", STS, [["LASER", "published", "official", "63.1", "64.9"]])
    assert read_headline(results / "tables") is None


def test_speeds_are_the_best_ones_of_each_device(write: Write) -> None:
    columns = ["system", "source", "device", "cores", "preprocessing", "sentences_per_second"]
    table = write("speed", columns, [
        ["LASER", "published", "cpu", 1, "counted", 999999],
        ["ours", "measured", "cpu", 1, "counted", 200000],
        ["other", "measured", "cpu", 1, "counted", 900],
        ["ours", "measured", "cpu", 2, "counted", 390000],
        ["ours", "measured", "gpu", "", "not counted", 9999999],
    ])  # fmt: skip
    assert [speed for speed, _ in read_speeds(table.parent)] == ["390,000", "200,000"]


def test_provenance_is_shown(results: Path) -> None:
    corpora = ["tanzil", {"path": "my/pairs.tsv"}]
    config = {"seed": 7, "models": ["fr"], "definitions": {"fr": {"corpora": corpora, "label": EVIL}}}
    write_provenance(results / "provenance.json", results / "SHA256SUMS", files=[], config=config)
    text = Reader(page_of(results)).text
    assert "fr has learned from tanzil, pairs.tsv" in text
    assert '"seed": 7' in text
