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
from markdown_it import MarkdownIt

from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.evaluation.speed import SPEED_COLUMNS
from paraphrastic_pipeline.report.card import rendered as rendered_card
from paraphrastic_pipeline.report.figures.systems import plot_speed
from paraphrastic_pipeline.report.markup import latex, literal, markdown, markdown_paragraph
from paraphrastic_pipeline.report.render import render_table
from paraphrastic_pipeline.settings.yaml import read_yaml, write_yaml

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
    # GitHub has formulas between these.
    assert "$" not in markdown(text)


def test_common_names_stay_readable() -> None:
    for text in ("trigram_overlap", "A&B", "Pearson's r × 100 (2013 without SMT)", "-0.5", "en-de", "50 %"):
        assert markdown(text) == text


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
    about = {"source": "measured", "device": "cpu", "cores": "1", "batch_size": "9"}
    rows = [
        {**about, "preprocessing": "counted", "system": name, "sentences_per_second": 2000 + 500 * place}
        for place, name in enumerate(names)
    ]
    write_csv(tmp_path / "t.csv", SPEED_COLUMNS, rows)
    plot_speed(tmp_path / "t.csv", [tmp_path / "t.svg"])
    root = ElementTree.parse(tmp_path / "t.svg").getroot()
    shown = "\n".join(
        "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
    )
    assert all(seen(name) in " ".join(shown.split()) for name in names)
    # Neither may the formulas of matplotlib's own numbers be left as text.
    assert "math" not in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_comes_through_a_card(text: str) -> None:
    config = {
        "encoder": "averaged_subwords", "dimension": 4, "model": text, "languages": [text], "lowercase": True,
        "segmentation": {}, "unit": "subword", "training": {text: text}, "teachers": {text: text},
        "commercial_use": "unknown",
    }  # fmt: skip
    card = rendered_card(
        config, {}, folder=text, loads_elsewhere=True,
        outcome=f"It finds {text}", chosen=text, figures=[[text] * 5], corpora=[[text] * 4],
        unknown=[(text, text)], transformer=False,
    )  # fmt: skip
    empty, front, body = card.split("---\n", 2)
    assert not empty
    assert set(yaml.safe_load(front)) == {"language", "license", "pipeline_tag", "tags"}
    kinds, _ = rendered(body)
    assert kinds <= {*PLAIN, "heading", "fence", "code_inline", "em"}
    assert "\x1b" not in card
    card.encode()


def test_names_in_javascript_are_what_they_were() -> None:
    if (node := shutil.which("node")) is None:
        pytest.skip("Node.js is not installed")
    script = f"process.stdout.write(JSON.stringify([{','.join(map(literal, HOSTILE))}]))"
    run = subprocess.run([node, "-e", script], capture_output=True, check=True)
    assert json.loads(run.stdout) == HOSTILE
