"""Tables for reading and for papers."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from paraphrastic.base.files import atomic_output
from paraphrastic.evaluation.notes import Key, Note, figure_key, number, read_notes

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{
        sign: f"${command}$"
        for sign, command in {
            "±": r"\pm",
            "×": r"\times",
            "−": "-",
            "·": r"\cdot",
            "ρ": r"\rho",
            "≤": r"\leq",
            "≥": r"\geq",
            "<": "<",
            ">": ">",
        }.items()
    },
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}

_MARKDOWN = {"|": r"\|", "`": r"\`", "*": r"\*", "<": "&lt;", "\\": r"\\"}
# What a paper's preamble needs for any of the tables.
_PREAMBLE = r"% \usepackage{booktabs,graphicx,longtable,pdflscape}"
# Characters that a line of a page has in small print, and rows that a page has.
_PAGE_WIDTH, _PAGE_ROWS = 110, 45


def render_table(
    table: Path, markdown: Path, latex: Path, *, caption: str, intervals: Path | None = None
) -> None:
    """Write a table as Markdown and as LaTeX (booktabs), columns of figures to the right.

    With `intervals`, a figure has its deviation over training runs, where there are several, and its 95 %
    interval after it, and is bold where it is the best of its column and the difference holds. In LaTeX,
    published rows stand under the name of their paper. Columns without any entry are left out. A table that
    is wider than a page is scaled to its width, a long one goes on on the next page.

    Args:
        table: the CSV file; a column of figures has nothing but numbers and empty cells.
        markdown: the file for reading.
        latex: the file for papers.
        caption: of the table.
        intervals: CSV file of `tabulate_systems` for a table of systems.
    """
    text = pd.read_csv(table, dtype=str, keep_default_na=False)
    # Columns in which no row has anything are for other configurations.
    text = text.loc[:, (text != "").any() | (len(text) == 0)]
    columns = list(text.columns)
    rows = [dict(zip(columns, row, strict=True)) for row in text.itertuples(index=False)]
    figures = [name for name in columns if all(number(each) is not None for each in text[name] if each)]
    notes = read_notes(intervals) if intervals else {}
    with atomic_output(markdown) as temporary:
        cells = [[_cell(row, name, notes, _markdown, "**{}**", "{}") for name in columns] for row in rows]
        body = pd.DataFrame(cells, columns=columns)
        alignment = ["right" if column in figures else "left" for column in columns]
        lines = body.to_markdown(index=False, disable_numparse=True, colalign=alignment)
        temporary.write_text(f"{caption}\n\n{lines}\n", encoding="utf-8")
    with atomic_output(latex) as temporary:
        temporary.write_text(_latex(rows, columns, figures, notes, caption), encoding="utf-8")


def _latex(
    rows: Sequence[Mapping[str, str]],
    columns: Sequence[str],
    figures: Sequence[str],
    notes: Mapping[Key, Note],
    caption: str,
) -> str:
    marks = r"\textbf{{{}}}", r"{{\scriptsize {}}}"
    cells = [[_cell(row, column, notes, _escaped, *marks) for column in columns] for row in rows]
    shown = [[f"{row[column]}{notes.get(figure_key(row, column), '')}" for column in columns] for row in rows]
    width = sum(max(map(len, column)) + 2 for column in zip(columns, *shown, strict=True))
    alignment = "".join("r" if column in figures else "l" for column in columns)
    header = [r"\toprule", _latex_row([_escaped(column) for column in columns]), r"\midrule"]
    body = []
    last: str | None = None
    for row, line in zip(rows, cells, strict=True):
        group = _latex_group(row, columns, notes)
        if group != last:
            body += [r"\midrule"] * (last is not None)
            body += [rf"\multicolumn{{{len(columns)}}}{{l}}{{\emph{{{_escaped(group)}}}}} \\"] * bool(group)
            last = group
        body.append(_latex_row(line))
    caption = rf"\caption{{{_escaped(caption)}}}"
    if len(rows) > _PAGE_ROWS:
        # Such a table cannot be scaled: where it is wide, the page is turned.
        lines = [rf"\begin{{longtable}}{{{alignment}}}", caption + r" \\", *header, r"\endhead", *body]
        lines = [r"\scriptsize", *lines, r"\bottomrule", r"\end{longtable}"]
        if width > _PAGE_WIDTH:
            lines = [r"\begin{landscape}", r"\setlength{\tabcolsep}{3pt}", *lines, r"\end{landscape}"]
        return "\n".join([_PREAMBLE, r"\begingroup", *lines, r"\endgroup", ""])
    tabular = [rf"\begin{{tabular}}{{{alignment}}}", *header, *body, r"\bottomrule", r"\end{tabular}"]
    if width > _PAGE_WIDTH:
        tabular = [r"\resizebox{\textwidth}{!}{%", *tabular, "}"]
    lines = [r"\begin{table}", r"\centering", caption, *tabular, r"\end{table}"]
    return "\n".join([_PREAMBLE, *lines, ""])


def _latex_group(row: Mapping[str, str], columns: Sequence[str], notes: Mapping[Key, Note]) -> str:
    """What a row stands under: its paper and table, or in tables without notes, that it is published."""
    if not notes:
        return "published" if row.get("source") == "published" else ""
    return next((note.group for column in columns if (note := notes.get(figure_key(row, column)))), "")


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(
    row: Mapping[str, str],
    column: str,
    notes: Mapping[Key, Note],
    escaped: Callable[[str], str],
    bold: str,
    small: str,
) -> str:
    """An entry with its note, in the language whose marks for what is bold and small these are."""
    text, note = escaped(row[column]), notes.get(figure_key(row, column))
    if note is None or not text:
        return text
    about = str(note)
    return (bold.format(text) if note.best else text) + (small.format(escaped(about)) if about else "")


def _markdown(text: str) -> str:
    return re.sub(r"[|`*<\\]", lambda match: _MARKDOWN[match[0]], text)


def _escaped(text: str) -> str:
    return re.sub("|".join(map(re.escape, _LATEX)), lambda match: _LATEX[match[0]], text)
