"""Tables as Markdown for reading, and as LaTeX for papers."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd

from paraphrastic.base.files import atomic_output
from paraphrastic.report.tables import Notes, Row, number

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--",
        "±": r"$\pm$", "×": r"$\times$", "−": "$-$", "·": r"$\cdot$", "ρ": r"$\rho$",
        "≤": r"$\leq$", "≥": r"$\geq$", "<": "$<$", ">": "$>$",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)  # fmt: skip
_MARKDOWN = str.maketrans({"|": r"\|", "`": r"\`", "*": r"\*", "<": "&lt;", "\\": r"\\"})
# A comment in each file: the packages that a paper's preamble needs.
_PREAMBLE = r"% \usepackage{booktabs,graphicx,longtable,pdflscape}"
# Characters in a line of small print, and rows on a page.
_PAGE_WIDTH, _PAGE_ROWS = 110, 45


def render_table(
    table: Path, markdown: Path, latex: Path, *, caption: str, intervals: Path | None = None
) -> None:
    """Write a table as Markdown and as LaTeX (booktabs), with columns of figures aligned to the right.

    With `intervals`, each figure is followed by its deviation over training runs, if there are several, and
    its 95 % interval. It is bold if it is significantly better than all others of its column. In LaTeX,
    published rows stand under the name of their paper. Empty columns are left out. A table wider than a page
    is scaled to fit; a long one continues on the next page.

    Args:
        table: the CSV file; a column counts as figures if it holds only numbers and empty cells.
        markdown: the Markdown file to write.
        latex: the LaTeX file to write.
        caption: caption of the table.
        intervals: CSV file of intervals from `tabulate_systems`, for a table of systems.
    """
    text = pd.read_csv(table, dtype=str, keep_default_na=False)
    # Some columns are only filled under other configurations.
    text = text.loc[:, (text != "").any() | (len(text) == 0)]
    columns = [str(name) for name in text]
    rows = [dict(zip(columns, row, strict=True)) for row in text.itertuples(index=False)]
    figures = [name for name in columns if all(number(each) is not None for each in text[name] if each)]
    notes = Notes(intervals)
    with atomic_output(markdown) as temporary:
        cells = _cells(rows, notes, lambda entry: entry.translate(_MARKDOWN), "**{}**", "{}")
        alignment = ["right" if column in figures else "left" for column in columns]
        body = pd.DataFrame(cells, columns=columns)
        lines = body.to_markdown(index=False, disable_numparse=True, colalign=alignment)
        temporary.write_text(f"{caption}\n\n{lines}\n", encoding="utf-8")
    with atomic_output(latex) as temporary:
        temporary.write_text(_latex(rows, columns, figures, notes, caption), encoding="utf-8")


def _cells(
    rows: Sequence[Row], notes: Notes, escaped: Callable[[str], str], bold: str, small: str
) -> list[list[str]]:
    """Entries with their notes; `bold` and `small` are the format strings of the markup language."""

    def cell(row: Row, column: str) -> str:
        entry, note = escaped(row[column]), notes.of(row, column)
        if entry and note.best:
            entry = bold.format(entry)
        return entry + (small.format(escaped(f" {note}")) if entry and str(note) else "")

    return [[cell(row, column) for column in row] for row in rows]


def _latex(
    rows: Sequence[Row], columns: Sequence[str], figures: Sequence[str], notes: Notes, caption: str
) -> str:
    plain = _cells(rows, notes, str, "{}", "{}")
    width = sum(max(map(len, column)) + 2 for column in zip(columns, *plain, strict=True))
    alignment = "".join("r" if column in figures else "l" for column in columns)
    header = [r"\toprule", _latex_row(map(_escaped, columns)), r"\midrule"]
    body = []
    last: str | None = None
    cells = _cells(rows, notes, _escaped, r"\textbf{{{}}}", r"{{\scriptsize {}}}")
    for row, line in zip(rows, cells, strict=True):
        # Published rows get a heading: their paper and table, or "published" in tables without notes.
        group = "published" if not notes and row.get("source") == "published" else notes.group(row)
        if group != last:
            body += [r"\midrule"] * (last is not None)
            body += [rf"\multicolumn{{{len(row)}}}{{l}}{{\emph{{{_escaped(group)}}}}} \\"] * bool(group)
            last = group
        body.append(_latex_row(line))
    caption = rf"\caption{{{_escaped(caption)}}}"
    if len(rows) > _PAGE_ROWS:
        # A `longtable` cannot be scaled, so a wide one is turned to landscape.
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


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escaped(text: str) -> str:
    return text.translate(_LATEX)
