"""Test the page that runs a model: in Chromium, from disk, without a network, and by the keyboard alone."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from small_models import model_of, two_parts_of

from browser import Browser, Page
from paraphrastic import load_model
from paraphrastic.cli import main
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.demo import write_demo
from paraphrastic.interop.javascript import model_bytes
from paraphrastic.model.architecture import Architecture, Part

READY = """new Promise((done) => {
    const look = () => document.documentElement.dataset.ready ? done(true) : setTimeout(look, 20);
    look();
})"""
HTML = '<img src=x onerror="window.bad = 1"><script>window.bad = 1</script> & </textarea>'


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.html"
    assert main(["demo", "--model", "en", "--output", str(path)]) == 0
    return path


def opened(browser: Browser, path: Path, width: int = 1400) -> Page:
    page = browser.open(path.as_uri(), width=width)
    assert page.value(READY)
    return page


def typed(page: Page, field: str, text: str) -> None:
    page.value(
        f"(() => {{ const field = document.getElementById({json.dumps(field)});"
        f"field.value = {json.dumps(text)}; field.dispatchEvent(new Event('input')); }})()"
    )


def similarity(page: Page, first: str, second: str) -> float:
    typed(page, "first", first)
    typed(page, "second", second)
    return float(page.value("document.getElementById('similarity').value"))


def results(page: Page) -> list[tuple[float, str]]:
    rows = page.value("""[...document.querySelectorAll('#results li')].map(
        (row) => [...row.children].map((each) => each.textContent))""")
    return [(float(score), text) for score, text in rows]


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_needs_nothing_and_fits(demo: Path, browser: Browser, width: int) -> None:
    assert demo.stat().st_size < 10_000_000
    page = opened(browser, demo, width)
    assert page.value("document.documentElement.scrollWidth") <= width
    assert results(page)[0][1] == "The parcel has not arrived yet."
    assert not browser.complaints
    # The icon is empty, so that a browser asks for none.
    assert set(browser.requests) <= {demo.as_uri(), "data:,"}
    # Every field has a label, so that a screen reader can say what it is for.
    fields = page.value("[...document.querySelectorAll('input, textarea')].map((each) => each.labels.length)")
    assert fields == [1, 1, 1, 1]
    assert page.value("document.getElementById('similarity').getAttribute('aria-live')") == "polite"


def test_similarities_are_those_of_python(demo: Path, browser: Browser) -> None:
    page = opened(browser, demo)
    pairs = [
        ("The children are playing in the park.", "Kids play outside."),
        ("Der Hund läuft. 😀", "ÇA VA?"),
        ("日本語の文 и русский", "नमस्ते العالم"),
        ("", "A dog."),
        (HTML, "A <b>dog</b>."),
        ("word " * 20_000, "a word"),
    ]
    expected = load_model("en").score_raw_text(pairs)
    for (first, second), score in zip(pairs, expected, strict=True):
        assert similarity(page, first, second) == pytest.approx(score, abs=0.005 + 1e-6)
    words = "[...document.querySelectorAll('#first-words li')].map((each) => each.firstChild.textContent)"
    shown = page.value(words)
    assert len(shown) == 201
    assert shown[-1] == "… and 19,800 more words"
    assert page.value("window.bad") is None
    typed(page, "first", HTML)
    assert page.value(words) == HTML.split()


def test_the_search_orders_pasted_sentences(demo: Path, browser: Browser) -> None:
    page = opened(browser, demo)
    sentences = [*(f"Number {n} is written here." for n in range(2000)), HTML, "A hound is running.", "  "]
    typed(page, "sentences", "\n".join(sentences))
    page.value("new Promise((done) => setTimeout(done, 400))")
    while "2,002 sentences" not in page.value("document.getElementById('status').textContent"):
        page.value("new Promise((done) => setTimeout(done, 100))")
    typed(page, "query", "the dog runs")
    found = results(page)
    assert found[0][1] == "A hound is running."
    (score,) = load_model("en").score_raw_text([("the dog runs", "A hound is running.")])
    assert found[0][0] == pytest.approx(score, abs=0.005 + 1e-6)
    assert [each for each, _ in found] == sorted((each for each, _ in found), reverse=True)
    typed(page, "query", HTML)
    assert results(page)[0] == (1.0, HTML)
    assert page.value("window.bad") is None
    typed(page, "query", " ")
    assert results(page) == []
    typed(page, "sentences", "\n")
    page.value("new Promise((done) => setTimeout(done, 600))")
    assert "There are no sentences" in page.value("document.getElementById('status').textContent")


def test_a_page_with_own_sentences_in_several_languages(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, path = tmp_path / "own.txt", tmp_path / "demo.html"
    own.write_text(f"Der Hund rennt.\n\n{HTML}\nLe marché baisse.\n", encoding="utf-8")
    arguments: list[Any] = ["demo", "--model", "en-de-es-fr", "--sentences", own, "--output", path]
    assert main([*map(str, arguments)]) == 0
    assert capsys.readouterr().err.startswith(f"paraphrastic: {path}: ")
    page = opened(browser, path)
    assert "English, German, Spanish or French" in page.value("document.body.textContent")
    typed(page, "query", "the dog is running")
    assert results(page)[0][1] == "Der Hund rennt."
    assert {text for _, text in results(page)} == {"Der Hund rennt.", HTML, "Le marché baisse."}
    assert page.value("window.bad") is None


def test_a_page_holds_its_texts_and_runs_its_own_script_alone(tmp_path: Path) -> None:
    model = model_of(config={"model": HTML, "languages": ["sw"], "corpora": {HTML: "1"}})
    path, mark = tmp_path / "demo.html", f"{HTML} {{{{ script }}}}"
    assert write_demo(model, path, sentences=[f" {mark} ", "\n", "Habari"]) == path.stat().st_size
    page = path.read_text(encoding="utf-8")
    assert HTML not in page
    # The list of sentences, the first of the two that are compared, and the query.
    assert page.count(escape(mark)) == 3
    assert f"It has learned from {escape(HTML)}." in page
    assert page.count(f"\n{escape(mark)}\nHabari</textarea>") == 1
    script, content = re.findall(r'<script type="module">(.*?)</script>|octet-stream">(.*?)<', page, re.S)[
        ::-1
    ]
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}';" in page
    )
    # The model in the page has 4 bits for each number, and is the one that `export` writes.
    assert base64.b64decode(content[1]) == model_bytes(with_dtype(model, "int4"))


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ("--sentences empty", "no sentences"),
        ("--sentences absent", "absent: "),
        ("--sentences rows.tsv", "rows.tsv: is a table"),
        ("--model two", "en: is not a single average"),
        ("--model chinese", "en: .*jieba"),
        ("--model swahili", "no sentences"),
    ],
)
def test_what_cannot_be_a_page_is_refused(
    options: str,
    cause: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").write_text("\n  \n")
    Path("rows.tsv").write_text("text\na dog\n")
    two_parts_of(Architecture(parts=(Part(), Part()), languages="separate")).write(Path("two"))
    model_of(config={"segmentation": {"zh": "full"}}).write(Path("chinese"))
    model_of(config={"languages": ["sw"]}).write(Path("swahili"))
    assert main(["demo", *options.split(), "--output", "demo.html"]) == 1
    said = capsys.readouterr().err
    assert re.search(cause, said)
    assert said.count("\n") == 1
    assert not Path("demo.html").exists()
