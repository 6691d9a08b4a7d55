"""Tables for reading and for papers."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from paraphrastic.base.files import atomic_output

# A figure of a table by system, source, row and column.
_Key = tuple[str, str, str, str]
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


@dataclass(frozen=True, slots=True)
class _Note:
    """What is known of a figure: what is written after it, whether it is the best, where it is printed."""

    text: str
    best: bool
    group: str


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
    values = text.apply(pd.to_numeric, errors="coerce")
    # Columns in which no row has anything are for other configurations.
    text = text.loc[:, (text != "").any() | (len(text) == 0)]
    figures = text.columns[(values[text.columns].notna() | (text == "")).all()].to_list()
    notes = _notes(intervals) if intervals else {}
    columns = [str(column) for column in text]
    rows = [dict(zip(columns, map(str, row), strict=True)) for row in text.itertuples(index=False)]
    with atomic_output(markdown) as temporary:
        body = pd.DataFrame(
            [[_markdown(row, column, notes) for column in columns] for row in rows], columns=columns
        )
        alignment = ["right" if column in figures else "left" for column in columns]
        lines = body.to_markdown(index=False, disable_numparse=True, colalign=alignment)
        temporary.write_text(f"{caption}\n\n{lines}\n", encoding="utf-8")
    with atomic_output(latex) as temporary:
        temporary.write_text(_latex(rows, columns, figures, notes, caption), encoding="utf-8")


def _notes(intervals: Path) -> dict[_Key, _Note]:
    with intervals.open(encoding="utf-8", newline="") as file:
        return {
            (row["system"], row["source"], row["row"], row["column"]): _Note(
                _sampling(row), row["best"] == "yes", row["group"]
            )
            for row in csv.DictReader(file)
        }


def _sampling(row: Mapping[str, str]) -> str:
    deviation = f" ± {float(row['deviation']):.1f}" if row["deviation"] else ""
    return f"{deviation} [{float(row['low']):.1f}, {float(row['high']):.1f}]" if row["low"] else ""


def _key(row: Mapping[str, str], column: str) -> _Key:
    return row.get("system", ""), row.get("source", ""), row.get("pair", ""), column


def _markdown(row: Mapping[str, str], column: str, notes: Mapping[_Key, _Note]) -> str:
    text = re.sub(r"[|`*<\\]", lambda match: _MARKDOWN[match[0]], row[column])
    note = notes.get(_key(row, column))
    if note is None or not text:
        return text
    return (f"**{text}**" if note.best else text) + note.text


def _latex(
    rows: Sequence[Mapping[str, str]],
    columns: Sequence[str],
    figures: Sequence[str],
    notes: Mapping[_Key, _Note],
    caption: str,
) -> str:
    cells = [[_latex_cell(row, column, notes) for column in columns] for row in rows]
    shown = [[row[column] + notes[key].text if (key := _key(row, column)) in notes else row[column]
              for column in columns] for row in rows]  # fmt: skip
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


def _latex_group(row: Mapping[str, str], columns: Sequence[str], notes: Mapping[_Key, _Note]) -> str:
    """What a row stands under: its paper and table, or in tables without notes, that it is published."""
    if not notes:
        return "published" if row.get("source") == "published" else ""
    return next((note.group for column in columns if (note := notes.get(_key(row, column)))), "")


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(row: Mapping[str, str], column: str, notes: Mapping[_Key, _Note]) -> str:
    text = _escaped(row[column])
    note = notes.get(_key(row, column))
    if note is None or not text:
        return text
    written = rf"\textbf{{{text}}}" if note.best else text
    return written + (rf"{{\scriptsize {_escaped(note.text)}}}" if note.text else "")


def _escaped(text: str) -> str:
    return re.sub("|".join(map(re.escape, _LATEX)), lambda match: _LATEX[match[0]], text)
