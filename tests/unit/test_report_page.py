"""Test that a run's page shows what is there, names what is missing, and runs nothing from its data."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.report.contents import CHAPTERS
from paraphrastic_pipeline.report.page import embed_svg, write_report
from paraphrastic_pipeline.report.provenance import write_provenance
from paraphrastic_pipeline.report.shown_tables import read_table
from paraphrastic_pipeline.report.summary import read_headline

EVIL = """<script>alert("1")</script> & 'P-SP' <b>"""
STS = ["system", "source", "data", "2012", "avg"]
INTERVALS = ["system", "source", "row", "column", "value", "low", "high", "deviation", "group"]
SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
     width="72pt" height="36pt" viewBox="0 0 72 36">
  <defs><clipPath id="clip"><rect width="9" height="9"/></clipPath><path id="mark" d="M 0 0
L 1 1"/></defs>
  <style>body { display: none }</style>
  {inside}
  <g id="axes" clip-path="url(#clip)"><use xlink:href="#mark" style="fill: url( '#clip' )"/></g>
  <text>a &lt; b &amp; c</text>
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
    (folder / "figures").mkdir()
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
    rows = [
        ["LASER <base>", "published", "official", "63.1", "64.9"],
        [EVIL, "untrained", "official", "54.0", "62.3"],
        [EVIL, "measured", "official", "58.6", "66.1"],
        ["P-SP fr", "measured", "official", "58.8", "-3.2"],
    ]
    return write("sts", STS, rows)


def page_of(results: Path, **texts: Mapping[str, str]) -> str:
    output = results.parent / "page.html"
    write_report(results, output, **texts)
    return output.read_text(encoding="utf-8")


def test_a_page_is_made_of_one_table(results: Path, sts: Path) -> None:
    page = Reader(page_of(results, captions={"sts": "Of <years>"}))
    assert page.text.count(EVIL) == 4  # once in the headline, once in its chart and twice in the table
    assert "Of <years>." in page.text
    titles = [section.title for chapter in CHAPTERS for section in chapter.sections if section.name != "sts"]
    for title in titles:
        assert title in page.text
    assert f"{results}/provenance.json does not exist" in page.text
    assert [tag for tag, _ in page.elements].count("table") == 1
    assert [tag for tag, _ in page.elements].count("script") == 1


def test_only_what_is_of_the_run_is_shown(results: Path, sts: Path, write: Write) -> None:
    """Another configuration may have left its tables and pictures behind; the page ignores them."""
    for name in ("funnel", "another_table", "senteval"):
        write(name, ["model", "corpus", "read", "kept"], [["left_over", "own", "20000", "10000"]])
    for name in ("sts", "funnel", "training/en/one", "training/fr/two"):
        path = results / f"figures/{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SVG.replace("{inside}", ""))
    everything = Reader(page_of(results))
    assert everything.text.count("left_over") == 3
    assert "of 20,000 that were read" in everything.text
    assert "More" in everything.text
    assert len(everything.values("alt")) == 4
    some = page_of(results, captions={"sts": "", "another_table": ""}, figures=["sts", "training/fr/two"])
    assert some.count("left_over") == 1
    assert "that were read" not in some
    assert [label for label in Reader(some).values("alt") if "Training curves" in label] == [
        "Training curves: fr, two"
    ]


def test_a_page_is_made_of_nothing(results: Path) -> None:
    text = Reader(page_of(results, absent={"bucc": "no system is for it & so on"})).text
    assert "no system is for it & so on" in text
    assert f"not made yet: snakemake --cores all {results}/tables/sts.csv" in text


def test_without_a_folder_there_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--results", str(tmp_path / "none"), "--output", str(tmp_path / "page.html")]) == 1
    assert "is not a folder of results" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_the_command_takes_captions_from_the_tables(results: Path, sts: Path) -> None:
    sts.with_suffix(".md").write_text("Pearson's r & more\n\n| system |\n")
    output = results.parent / "own" / "page.html"
    assert main(["report", "--results", str(results), "--output", str(output)]) == 0
    assert "Pearson's r & more." in Reader(output.read_text()).text


@pytest.mark.parametrize(
    "content", [b"", b"system,source\n", b"a,b\n1,2,3\n", b"\xff\xfe,x\n1,2\n", b'a\n"1\n']
)
def test_damaged_tables_are_named(results: Path, sts: Path, content: bytes) -> None:
    for name in ("tables/sts.csv", "tables/funnel.csv", "tables/speed.csv"):
        (results / name).write_bytes(content)
    (results / "provenance.json").write_bytes(content)
    (results / "figures/sweep.svg").write_bytes(content)
    text = Reader(page_of(results)).text
    for name in ("sts.csv", "funnel.csv", "provenance.json", "sweep.svg"):
        assert re.search(rf"{name}: (not readable|contains no rows|a row has more|is not a)", text), name


def test_tables_with_other_columns_are_named(results: Path, write: Write) -> None:
    for name in ("sts", "funnel", "speed", "intervals/bucc"):
        write(name, ["a", "b"], [["1", "2"]])
    write("bucc", STS, [["P-SP", "measured", "sample", "1", "2"]])
    text = Reader(page_of(results)).text
    for name in ("sts", "bucc"):
        assert re.search(rf"{name}\.csv: (no system has a mean|not readable: KeyError|has no column)", text)


def test_the_page_asks_for_nothing_and_runs_only_its_own_script(results: Path, sts: Path) -> None:
    (results / "figures/sts.svg").write_text(SVG.replace("{inside}", ""))
    text = page_of(results)
    page = Reader(text)
    for name in ("src", "href", "xlink:href", "data", "action"):
        assert all(value.startswith(("#", "data:")) for value in page.values(name)), name
    policy = next(value for value in page.values("content") if "default-src" in value)
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[\w+/=]+';", policy)
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    assert "url(http" not in text
    assert "@import" not in text


def test_this_runs_rows_stand_above_the_published_ones(sts: Path, write: Write) -> None:
    around = [
        ["LASER <base>", "published", "", "avg", "64.9", "", "", "", "Scale, Table 2"],
        [EVIL, "measured", "", "avg", "66.1", "64.66", "67.3", "0.4", ""],
    ]
    table = read_table(sts, write("intervals/sts", INTERVALS, around))
    assert list(table.groups) == ["This run", "Published: Scale, Table 2"]
    assert table.columns == ["system", "average", "2012"]
    assert table.numeric == [False, True, True]
    ours = table.groups["This run"]
    assert [row.source for row in ours] == ["untrained", "measured", "measured"]
    best = ours[1].cells[1]
    assert (best.text, best.value, best.note) == ("66.1", 66.1, "± 0.4 [64.7, 67.3]")
    assert ours[2].cells[1].text == "−3.2"


def test_what_figures_are_without_is_a_footnote(results: Path, write: Write) -> None:
    name = "P-SP en (2013 without SMT) (3 seeds)"
    path = write("sts", STS, [[name, "measured", "official", "66.1", "65.0"],
                              ["LASER", "published", "official", "63.1", "64.9"]])  # fmt: skip
    table = read_table(path)
    assert table.groups["This run"][0].cells[0].text == "P-SP en (3 seeds)*"
    assert table.footnotes == ["2013 without SMT"]
    text = Reader(page_of(results)).text
    assert "P-SP en (3 seeds) reaches 65.0" in " ".join(text.split())
    assert "(2013 without SMT)" not in text
    assert "* 2013 without SMT" in text
    assert "also count SMT of 2013" in text


def test_columns_of_intervals_become_notes(write: Write) -> None:
    header = [
        "corpus",
        "pairs",
        "length",
        "length_std",
        "sts",
        "sts_low",
        "sts_high",
        "rho",
        "low",
        "high",
        "none",
    ]
    row = ["multi30k", "290000", "12.3", "5.1", "66.1", "64.7", "67.3", "-50.0", "-91.9", "24.1", ""]
    table = read_table(write("corpora", header, [row]))
    assert table.columns == ["corpus", "pairs", "length", "STS", "rho"]
    cells = table.groups[""][0].cells
    assert [cell.text for cell in cells] == ["multi30k", "290,000", "12.3", "66.1", "−50.0"]
    assert [cell.note for cell in cells] == ["", "", "± 5.1", "[64.7, 67.3]", "[−91.9, 24.1]"]
    assert cells[1].value == 290000


def test_thousands_are_apart_in_columns_of_large_numbers(write: Write) -> None:
    table = read_table(write("funnel", ["read", "dim"], [["290000", "1024"], ["6236", "300"]]))
    texts = [[cell.text for cell in row.cells] for row in table.groups[""]]
    assert texts == [["290,000", "1024"], ["6,236", "300"]]


def test_the_headline_is_of_the_best_system(results: Path, sts: Path) -> None:
    headline = read_headline(results / "tables/sts.csv")
    assert [(gain.system, gain.after, gain.before) for gain in headline.gains] == [
        (EVIL, 66.1, 62.3),
        ("P-SP fr", -3.2, None),
    ]
    assert headline.published == (64.9, "LASER <base>")
    assert headline.axis == (-10, 70)
    assert headline.place(30) == "50.00%"
    assert not headline.sample


def test_the_sample_is_called_one(results: Path, write: Write) -> None:
    write("sts", STS, [["P-SP en", "measured", "sample", "95.1", "94.4"]])
    text = Reader(page_of(results)).text
    assert "from a sample, or from data that stand in" in text
    assert "This run, on sample data" in text


def test_nothing_measured_is_no_headline(results: Path, write: Write) -> None:
    write("sts", STS, [["LASER", "published", "official", "63.1", "64.9"]])
    with pytest.raises(InputError, match="no system has a mean"):
        read_headline(results / "tables/sts.csv")


def test_provenance_is_shown(results: Path, sts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(results.parent)
    config = {"seed": 7, "label": EVIL}
    write_provenance("results/provenance.json", config=config)
    text = Reader(page_of(Path("results"))).text
    assert '"seed": 7' in text


def test_a_picture_is_an_image_with_its_size_and_a_label(results: Path, sts: Path) -> None:
    path = results / "figures/sts.svg"
    path.write_text(SVG.replace("{inside}", "<script>alert(1)</script>"))
    found = embed_svg(path, label='a "<" b')
    assert (found.label, found.width, found.height) == ('a "<" b', 96, 48)
    kind, content = found.address.split(",", 1)
    assert kind == "data:image/svg+xml"
    # What is seen of the picture stays; its unused names and its declaration do not.
    shown = ElementTree.fromstring(unquote(content))
    assert "".join(shown.itertext()).strip() == "body { display: none }alert(1)a < b & c"
    assert [each.get("id") for each in shown.iter() if each.get("id")] == ["clip", "mark"]
    assert not set(content) & set('"&#')
    # The picture must not become elements of the page, where its scripts and styles would take effect.
    page = Reader(page_of(results))
    assert [tag for tag, found in page.elements if found.get("alt")] == ["img"]
    assert not {"svg", "image", "clippath"} & {tag for tag, _ in page.elements}
    assert "alert(1)" not in page.text


@pytest.mark.parametrize(
    "text",
    ["", "<svg", "<html/>", '<svg xmlns="http://www.w3.org/2000/svg"/>', "<svg width='1pt' height='1pt'/>"],
)
def test_what_is_no_picture_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "picture.svg"
    path.write_text(text)
    with pytest.raises(InputError, match=r"picture\.svg: (not readable as SVG|is not an SVG)"):
        embed_svg(path, label="")
