"""Tables for reading and for papers."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from paraphrastic.files import atomic_output

# A figure of a table by system, source, row and column.
_Key = tuple[str, str, str, str]
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


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
    published rows stand under the name of their paper.

    Args:
        table: the CSV file; a column of figures has nothing but numbers and empty cells.
        markdown: the file for reading.
        latex: the file for papers.
        caption: of the table.
        intervals: CSV file of `tabulate_systems` for a table of systems.
    """
    text = pd.read_csv(table, dtype=str, keep_default_na=False)
    values = text.apply(pd.to_numeric, errors="coerce")
    figures = text.columns[(values.notna() | (text == "")).all()].to_list()
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
    text = row[column].replace("|", "\\|")
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
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(caption)}}}",
        rf"\begin{{tabular}}{{{''.join('r' if column in figures else 'l' for column in columns)}}}",
        r"\toprule",
        _latex_row([_escaped(column) for column in columns]),
        r"\midrule",
    ]
    last: str | None = None
    for row in rows:
        group = next((note.group for column in columns if (note := notes.get(_key(row, column)))), "")
        if group != last:
            lines += [r"\midrule"] * (last is not None)
            lines += [rf"\multicolumn{{{len(columns)}}}{{l}}{{\emph{{{_escaped(group)}}}}} \\"] * bool(group)
            last = group
        lines.append(_latex_row([_latex_cell(row, column, notes) for column in columns]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


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
