"""Text from anywhere in Markdown, LaTeX and program code, in which it must stay text.

Names, labels and sentences come from configurations, corpora and other people's models. Unless a function
says otherwise, it returns one line, in which nothing begins a link, a picture, HTML, a command or a cell.
"""

import json
import re

from paraphrastic.base.text import clean

# Characters that begin markup within a line, or end a cell. An underscore between letters or digits does not.
_MARKDOWN = re.compile(r"[\\`*\[|~]|(?<![^\W_])_|_(?![^\W_])")
# HTML, its entities, and GitHub's formulas, for which a backslash is not enough everywhere.
_HTML = re.compile(r"[<$]|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", "$": "&#36;", "&": "&amp;"}
# What begins a heading, a list, a quotation, a rule or front matter.
_BLOCK = re.compile(r"\A([0-9]*)([#>+=:.)-])")
# Surrogates stand for bytes of a file name that are not UTF-8.
_SURROGATES = re.compile("[\ud800-\udfff]")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--",
        "±": r"$\pm$", "×": r"$\times$", "−": "$-$", "·": r"$\cdot$", "ρ": r"$\rho$",
        "≤": r"$\leq$", "≥": r"$\geq$", "<": "$<$", ">": "$>$",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)  # fmt: skip


def markdown(text: str) -> str:
    """`text` as part of a line of Markdown, or as the cell of a table."""
    escaped = _MARKDOWN.sub(r"\\\g<0>", _one_line(text))
    return _HTML.sub(lambda match: _ENTITIES[match[0]], escaped)


def markdown_paragraph(text: str) -> str:
    """`text` as a paragraph of Markdown."""
    return _BLOCK.sub(r"\1\\\2", markdown(text))


def literal(text: str) -> str:
    """`text` as a string in Python and JavaScript, in which everything that cannot be seen is escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    hidden = (
        letter if letter.isprintable() or letter > "\uffff" else json.dumps(letter)[1:-1] for letter in quoted
    )
    return "".join(hidden)


def latex(text: str) -> str:
    """`text` as part of a line of LaTeX."""
    return _one_line(text).translate(_LATEX)


def _one_line(text: str) -> str:
    return " ".join(_SURROGATES.sub("\ufffd", clean(text)).split())
