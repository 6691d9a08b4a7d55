"""Test the site of the documentation, as a reader opens it from the disk."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipelines import ROOT, environment

from browser import Browser

REPOSITORY = "https://code.example/people/project"

pytestmark = pytest.mark.slow("builds the site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "docs/site.py", folder / "pages"], cwd=ROOT, check=True)
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for place, own in ((".venv/pages", folder / "pages"), (".venv/site", folder / "built")):
        assert place in text
        text = text.replace(f" {place}\n", f" {own}\n")
    (folder / "mkdocs.yml").write_text(text.replace("paths: [src]", f"paths: [{ROOT / 'src'}]"))
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", folder / "mkdocs.yml"],
        env={**environment(), "NO_MKDOCS_2_WARNING": "1", "REPOSITORY": REPOSITORY}, check=True,
    )  # fmt: skip
    return folder / "built"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def test_the_search_box_finds_pages_without_a_network(site: Path, browser: Browser) -> None:
    page = browser.open(f"file://{site}/quickstart/embed.html?q=margin", width=1400)
    found = page.value(
        "new Promise((done) => { const look = () => { const links = document.querySelectorAll("
        "'.md-search-result__link'); links.length ? done([...links].map((link) => link.href)) "
        ": setTimeout(look, 50); }; look(); })"
    )
    assert len(found) > 3
    pages = {re.split("[?#]", address)[0].removeprefix(f"file://{site}/") for address in found}
    assert all("margin" in (site / name).read_text(encoding="utf-8").lower() for name in pages)
    assert {address.partition(":")[0] for address in browser.requests} <= {"file", "data"}


def test_every_page_links_to_the_repository(site: Path) -> None:
    for page in ("index", "quickstart/embed"):
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        assert f'<a href="{REPOSITORY}" title="Go to repository"' in text


@pytest.mark.parametrize("width", [400, 1400])
def test_pages_fit_into_the_window(site: Path, browser: Browser, width: int) -> None:
    for name in ("index", "mining", "performance", "commands"):
        page = browser.open(f"file://{site}/{name}.html", width=width)
        # Tables that are wider scroll by themselves.
        assert page.value("document.documentElement.scrollWidth") <= width, name
        cut = page.value(
            "[...document.querySelectorAll('pre > code')]"
            ".filter((code) => code.scrollWidth > code.clientWidth + 1)"
            ".map((code) => code.textContent.slice(0, 60))"
        )
        assert cut == [], name
