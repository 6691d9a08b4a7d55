"""Tables as Markdown for reading, and as LaTeX for papers."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tabulate import tabulate

from paraphrastic.base.files import atomic_output
from paraphrastic.base.text import clean
from paraphrastic_pipeline.base.tables import read_csv_with_header
from paraphrastic_pipeline.report import markup
from paraphrastic_pipeline.report.shown_tables import Notes, Row, number

# A comment in each file: the packages that a paper's preamble needs.
_PREAMBLE = r"% \usepackage{booktabs,graphicx,longtable,pdflscape}"
# Characters in a line of small print, and rows on a page.
_PAGE_WIDTH, _PAGE_ROWS = 110, 45


def render_table(
    table: Path, markdown: Path, latex: Path, *, caption: str, intervals: Path | None = None
) -> None:
    """Write a table as Markdown and as LaTeX (booktabs), with columns of figures aligned to the right.

    A column counts as figures if it holds only numbers and empty cells. With the `intervals` of
    `tabulate_systems`, each figure is followed by its deviation over training runs, if there are several, and
    its 95 % interval. In LaTeX, published rows stand under the name of their paper. Empty columns are left
    out. A table wider than a page is scaled to fit; a long one continues on the next page.
    """
    header, entries = read_csv_with_header(table)
    # Some columns are only filled under other configurations.
    columns = [name for name in header if not entries or any(row[name] for row in entries)]
    rows = [{name: clean(row[name]) for name in columns} for row in entries]
    figures = [name for name in columns if all(number(row[name]) is not None for row in rows if row[name])]
    notes = Notes(intervals)
    with atomic_output(markdown) as temporary:
        cells = _cells(rows, notes, markup.markdown, " {}".format)
        alignment = ["right" if column in figures else "left" for column in columns]
        names = [*map(markup.markdown, columns)]
        lines = tabulate(cells, names, tablefmt="pipe", disable_numparse=True, colalign=alignment)
        temporary.write_text(f"{markup.markdown_paragraph(caption)}\n\n{lines}\n", encoding="utf-8")
    with atomic_output(latex) as temporary:
        temporary.write_text(_latex(rows, columns, figures, notes, caption), encoding="utf-8")


def _cells(
    rows: Sequence[Row],
    notes: Notes,
    escaped: Callable[[str], str],
    small: Callable[[str], str],
) -> list[list[str]]:
    """Entries with their notes, which consist of numbers, in a markup language."""

    def cell(row: Row, column: str) -> str:
        entry, note = escaped(row[column]), notes.of(row, column)
        return entry + (small(str(note)) if entry and str(note) else "")

    return [[cell(row, column) for column in row] for row in rows]


def _latex(
    rows: Sequence[Row], columns: Sequence[str], figures: Sequence[str], notes: Notes, caption: str
) -> str:
    plain = _cells(rows, notes, str, " {}".format)
    width = sum(max(map(len, column)) + 2 for column in zip(columns, *plain, strict=True))
    alignment = "".join("r" if column in figures else "l" for column in columns)
    header = [r"\toprule", _latex_row(map(markup.latex, columns)), r"\midrule"]
    body = []
    last: str | None = None
    cells = _cells(
        rows,
        notes,
        markup.latex,
        lambda note: rf"{{\scriptsize {markup.latex(note)}}}",
    )
    for row, line in zip(rows, cells, strict=True):
        # Published rows get a heading: their paper and table, or "published" in tables without notes.
        group = "published" if not notes and row.get("source") == "published" else notes.group(row)
        if group != last:
            body += [r"\midrule"] * (last is not None)
            body += [rf"\multicolumn{{{len(row)}}}{{l}}{{\emph{{{markup.latex(group)}}}}} \\"] * bool(group)
            last = group
        body.append(_latex_row(line))
    caption = rf"\caption{{{markup.latex(caption)}}}"
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
    row = " & ".join(cells) + r" \\"
    # After the end of a row, a bracket or a star would belong to the command that ends it.
    return f"{{}}{row}" if row.startswith(("[", "*")) else row
