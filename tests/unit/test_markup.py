"""Test that text from anywhere stays text in Markdown, LaTeX, YAML and program code."""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from front import FRONT_COLUMNS
from front_figure import plot_front
from markdown_it import MarkdownIt
from small_models import model_of

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import write_json
from paraphrastic.base.markup import (
    latex,
    literal,
    markdown,
    markdown_code,
    markdown_paragraph,
    text_of_markdown,
    without_links,
)
from paraphrastic.base.tables import write_csv
from paraphrastic.base.yaml_text import read_yaml, write_yaml
from paraphrastic.interop.model_card import export_card, read_card, write_import_card
from paraphrastic_pipeline.evaluation.speed import SPEED_COLUMNS
from paraphrastic_pipeline.report.figures.systems import plot_speed
from paraphrastic_pipeline.report.page import embed_svg, write_report
from paraphrastic_pipeline.report.render import render_table

HOSTILE = [
    "![x](https://example.org/x.png)",
    "[x](javascript:alert(1))",
    "[x]: https://example.org",
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "<!-- hidden",
    "<https://example.org>",
    "&lt;script&gt; &#60;b&#62; AT&T",
    r"\input{/etc/passwd} \\[1cm] \| \* 100% & #1 $x_1^2$ ~",
    r"\![x](y) \\![x](y) \<b> \`code`",
    "*bold* _it_ __init__ a_b ~~gone~~ `code` ``",
    "a | b || c",
    "# heading",
    "- item",
    "1. item",
    "12) item",
    "> said",
    "---",
    "===",
    ":::note",
    "$$\\frac{1}{2}$$",
    "one\n\n---\nlicense: mit\n---\n# two",
    "tab\there\x1b[31m\x07 and\x00 more",
    "```\n</code>",
    '\'; DROP TABLE "x" -- {{ 7 * 7 }} {% raw %}',
    "\u202ereversed\u2028line\x85end",
    "\udc80 not UTF-8",
]
PLAIN = {
    "paragraph",
    "text",
    "inline",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "text_special",
    "softbreak",
}


def seen(text: str) -> str:
    """What a reader sees of a text: one line without control characters."""
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())
    return re.sub("[\ud800-\udfff]", "\ufffd", line)


def rendered(page: str) -> tuple[set[str], str]:
    """The kinds of elements that Markdown becomes, and their text."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page)
    inner = [child for token in tokens for child in token.children or ()]
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in [*tokens, *inner]}
    return kinds, "".join(child.content for child in inner)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text_in_markdown(text: str) -> None:
    kinds, words = rendered(markdown_paragraph(text))
    assert kinds <= PLAIN
    assert words == seen(text)
    kinds, words = rendered(f"| a | b |\n| --- | --- |\n| {markdown(text)} | {markdown(text)} |\n")
    assert kinds <= PLAIN
    assert words == f"ab{seen(text) * 2}"
    assert text_of_markdown(markdown_paragraph(text)) == seen(text)
    # GitHub has formulas between these.
    assert "$" not in markdown(text)
    kinds, words = rendered(f"see {markdown_code(text)} there")
    assert kinds <= {*PLAIN, "code_inline"}
    assert words == f"see {seen(text)} there"


def test_common_names_stay_readable() -> None:
    for text in ("trigram_overlap", "A&B", "Pearson's r × 100 (2013 without SMT)", "-0.5", "en-de", "50 %"):
        assert markdown(text) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_somebody_elses_markdown_has_neither_html_nor_links(text: str) -> None:
    kinds, _ = rendered(without_links(f"Text\n\n{text}\n\n| a |\n| --- |\n| {text} |\n"))
    assert not kinds & {"link", "image", "html_inline", "html_block"}
    assert "\x1b" not in without_links(text)
    # What this module escapes is read as before, also if it is quoted again.
    once = without_links(markdown(text))
    assert rendered(once) == rendered(markdown(text))
    assert without_links(once) == once


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text_in_latex(text: str) -> None:
    escaped = latex(text)
    for command in (r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}", "$<$", "$>$", "--"):
        escaped = escaped.replace(command, "")
    assert not re.search(r"(?<!\\)[&%$#_{}]|\\(?![&%$#_{}])|[\x00-\x1f~^]", escaped)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text_in_code(text: str) -> None:
    written = literal(text)
    assert ast.literal_eval(written) == json.loads(written) == text
    assert written.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text_in_yaml(text: str) -> None:
    value = {text: [text, {"a": text}]}
    written = write_yaml(value)
    assert read_yaml(written) == yaml.safe_load(written) == value
    assert not re.search("[\x85\u2028\u2029]|^ *---", written, re.MULTILINE)


def test_text_stays_text_in_tables(tmp_path: Path) -> None:
    rows = [{"name": text, text: text, "n": "1"} for text in HOSTILE]
    write_csv(tmp_path / "t.csv", ["name", *(text for text in HOSTILE if text.isascii()), "n"], rows[:-1])
    render_table(tmp_path / "t.csv", tmp_path / "t.md", tmp_path / "t.tex", caption=HOSTILE[0])
    assert rendered((tmp_path / "t.md").read_text(encoding="utf-8"))[0] <= PLAIN
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert r"\input" not in text
    # After the end of a row, a bracket or a star would belong to the command that ends it.
    assert not re.search(r"(?:\\\\|\\\w+)\n[\[*]", text)
    assert "\n{}[x]: https" in text


def test_text_stays_text_in_pictures(tmp_path: Path) -> None:
    names = [r"$\bad$ <b>&\x1b[2J", "$x^2$ \x00", "--> ]]>"]
    about = {"source": "measured", "device": "cpu", "cores": "1", "batch_size": "9", "front": "yes"}
    numbers = {"sts": 60, "sts_low": 59, "sts_high": 61, "megabytes": 3, "preprocessing": "counted"}
    rows = [
        {**about, **numbers, "system": name, "sentences_per_second": 2000 + 500 * place}
        for place, name in enumerate(names)
    ]
    for plot, columns in ((plot_front, FRONT_COLUMNS), (plot_speed, SPEED_COLUMNS)):
        write_csv(tmp_path / "t.csv", columns, rows)
        plot(tmp_path / "t.csv", [tmp_path / "t.svg"])
        root = ElementTree.parse(tmp_path / "t.svg").getroot()
        shown = "\n".join(
            "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
        )
        assert all(seen(name) in " ".join(shown.split()) for name in names)
        # Neither may the formulas of matplotlib's own numbers be left as text.
        assert "math" not in shown
        embed_svg(tmp_path / "t.svg", label=names[0])


def test_the_page_shows_captions_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    caption = "_A_ & [b](c) <d>"
    write_csv(tmp_path / "tables" / "other.csv", ["a"], [{"a": "1"}])
    render_table(*(tmp_path / "tables" / f"other.{end}" for end in ("csv", "md", "tex")), caption=caption)
    write_report(tmp_path, tmp_path / "page.html")
    assert "_A_ &amp; [b](c) &lt;d&gt;." in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile_cards(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Cards of models in which every text is hostile."""
    cards = []
    for text in HOSTILE:
        model = model_of()
        model.config.update(
            model=text, languages=[text], corpora={text: text}, training={text: text}, folding={text: text}
        )
        about = {"folder": text, "compared": text, "comparison": [(text, text)], "files": {text: text}}
        for form in ("glove", "javascript", "onnx", "model2vec"):
            before = f"---\nlicense: mit\n---\n# {text}\n\n## Scores\n\n{text}\n"
            cards.append(
                export_card(model, smaller=[(text, text)], card=before, form=form, format_name=text, **about)
            )
        folder = tmp_path_factory.mktemp("model")
        # The description of this file lets any name through that is on one line.
        name = on_one_line(text)
        digests = dict.fromkeys(("model.safetensors", "sentencepiece.model"), "0" * 64)
        plain = {"encoder": "averaged_subwords", "lowercase": True, "dimension": 4, "sha256": digests}
        named = {"model": name, "languages": [name], "corpora": {name: ""}}
        write_json(folder / "config.json", plain | named)
        write_import_card(folder, text, {text: text}, why_not=text)
        cards.append((folder / "README.md").read_text(encoding="utf-8"))
    return cards


def test_nothing_comes_through_a_card(hostile_cards: list[str]) -> None:
    own = {*PLAIN, "heading", "fence", "code_inline", "em"}
    for card in hostile_cards:
        empty, front, body = card.split("---\n", 2)
        assert not empty
        assert set(yaml.safe_load(front)) <= {"language", "pipeline_tag", "tags", "license"}
        mine, _, quoted = body.partition("## The model that it was made from")
        assert rendered(mine)[0] <= own
        assert not rendered(quoted)[0] & {"link", "image", "html_inline", "html_block"}
        assert "\x1b" not in card
        card.encode()


def test_a_card_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    model = model_of()
    about = {
        "form": "glove",
        "format_name": "x",
        "folder": "x",
        "compared": "x",
        "comparison": [],
        "files": {},
    }
    bomb = "a: &b0 [x, x]\n" + "".join(f"b{i}: &b{i} [*b{i - 1}, *b{i - 1}]\n" for i in range(1, 30))
    for matter, message in (("a: [", "cannot be read"), ("- a\n", "is no mapping"), (bomb, "aliases repeat")):
        with pytest.raises(InputError, match=message):
            export_card(model, smaller=[], card=f"---\n{matter}\n---\n", **about)
    (tmp_path / "README.md").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"README\.md: cannot be read"):
        read_card(tmp_path)


def test_names_in_javascript_are_what_they_were() -> None:
    if (node := shutil.which("node")) is None:
        pytest.skip("Node.js is not installed")
    script = f"process.stdout.write(JSON.stringify([{','.join(map(literal, HOSTILE))}]))"
    run = subprocess.run([node, "-e", script], capture_output=True, check=True)
    assert json.loads(run.stdout) == HOSTILE
