"""Test that the page of the sample's run is complete, agrees with the tables, and works without a network."""

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipelines import planned, snakemake

from browser import Browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def test_the_page_is_made_of_what_is_there(finished: Path) -> None:
    (finished / "results/report.html").unlink()
    assert planned(finished, "results/report.html").rules == {"write_report"}


def test_all_of_the_sample_is_in_the_page(finished_once: Path) -> None:
    page = (finished_once / "results/report.html").read_text(encoding="utf-8")
    missing = page.partition('<section id="missing">')[2]
    for name in ("sts", "funnel", "corpora", "contamination", "sweep", "training", "speed",
                 "language_choice", "studies", "tatoeba"):  # fmt: skip
        assert f'<article id="{name}-part">' in page, name
    # The page names everything that the sample has no data for.
    assert "SentEval" in missing
    for run in (finished_once / "results/figures/training").glob("*/*.svg"):
        assert f"{run.parent.name}, {run.stem}" in page


def test_the_configuration_and_the_packages_are_written(finished_once: Path) -> None:
    content = json.loads((finished_once / "results/provenance.json").read_text(encoding="utf-8"))
    assert content["config"]["models"]
    assert content["written"]["commit"] is None  # the copy is in no repository
    assert "numpy" in content["written"]["packages"]


def test_the_digests_are_those_of_the_results(finished_once: Path) -> None:
    check = ["sha256sum", "--check", "--quiet", "results/SHA256SUMS"]
    assert subprocess.run(check, cwd=finished_once, check=False).returncode == 0


def test_snakemakes_own_report_has_the_page_and_samples(finished: Path) -> None:
    run = snakemake(finished, "results/report.html", "paper_tables", "--report", "results/report.zip")
    assert run.returncode == 0, run.stdout
    with zipfile.ZipFile(finished / "results/report.zip") as archive:
        names = archive.namelist()
    # The page has all pictures and tables, so the report need not have them again.
    assert any(name.endswith("report.html") for name in names)
    assert any(name.endswith("dropped.tsv") for name in names)
    assert not any(name.endswith((".svg", ".csv")) for name in names)


@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1440, False)])
def test_a_browser_shows_the_page(finished_once: Path, browser: Browser, width: int, dark: bool) -> None:
    page = browser.open((finished_once / "results/report.html").as_uri(), width=width, dark=dark)
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value("[...document.querySelectorAll('main .picture img')].length") >= 14
    # Pictures are read when they come into view.
    page.value("""Promise.all([...document.querySelectorAll('main .picture img')].map((each) => {
        each.loading = 'eager';
        return each.decode();
    })).then(() => true)""")
    unseen = """[...document.querySelectorAll('main .picture img')].filter((each) => {
        const box = each.getBoundingClientRect();
        return box.width < 20 || box.height < 20 || !each.checkVisibility() || !each.naturalWidth;
    }).length"""
    assert page.value(unseen) == 0
    ids = page.value("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids)) > 10
    assert page.value("getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 22, 24)" if dark else "rgb(251, 251, 249)"
    )
    assert not browser.complaints
    assert len(browser.requests) >= 1
    assert not [address for address in browser.requests if not address.startswith(("file:", "data:"))]


def test_a_table_is_sorted_by_a_click(finished_once: Path, browser: Browser) -> None:
    page = browser.open((finished_once / "results/report.html").as_uri(), width=1440)
    click = "document.querySelector('#sts-part th:last-child button').click()"
    column = """[...document.querySelectorAll('#sts-part tbody tr:not(.group)')].map(
        (row) => Number(row.lastElementChild.dataset.value))"""
    before = page.value(column)
    page.value(click)
    assert page.value(column) == sorted(before, reverse=True) != before
    page.value(click)
    assert page.value(column) == sorted(before)


def test_the_page_can_be_printed(finished_once: Path, browser: Browser) -> None:
    page = browser.open((finished_once / "results/report.html").as_uri(), width=1440)
    assert len(page.pdf()) > 100_000
