"""Tables as Markdown for reading, and as LaTeX for papers."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.report import markup
from paraphrastic_pipeline.report.shown_tables import Table, read_table

# A comment in each file: the packages that a paper's preamble needs.
_PREAMBLE = r"% \usepackage{booktabs,graphicx,longtable,pdflscape}"
# Characters in a line of small print, and rows on a page.
_PAGE_WIDTH, _PAGE_ROWS = 110, 45


def render_table(
    table: Path, markdown: Path, latex: Path, *, caption: str, intervals: Path | None = None
) -> None:
    """Write a table as Markdown and as LaTeX (booktabs), with the entries that the page of a run shows.

    A figure is followed by its deviation over training runs, if there are several, and its 95 % interval.
    The last column says where a row of a table of systems comes from. Columns of numbers are aligned to the
    right. In LaTeX, a table wider than a page is scaled to fit; a long one continues on the next page.
    """
    content = read_table(table, intervals)
    alignment = ["right" if is_numeric else "left" for is_numeric in content.numeric]
    if any(content.groups):
        alignment.append("left")
    caption = "; ".join([caption, *(f"* {footnote}" for footnote in content.footnotes)])
    with atomic_output(markdown) as temporary:
        # Notes are numbers in brackets, which need no escaping.
        frame = _frame(content, markup.markdown, str)
        lines = frame.to_markdown(index=False, disable_numparse=True, colalign=alignment)
        temporary.write_text(f"{markup.markdown_paragraph(caption)}\n\n{lines}\n", encoding="utf-8")
    with atomic_output(latex) as temporary:
        text = _latex(_frame(content, markup.latex, markup.latex), alignment, markup.latex(caption))
        temporary.write_text(text, encoding="utf-8")


def _frame(content: Table, escape: Callable[[str], str], escape_note: Callable[[str], str]) -> pd.DataFrame:
    """The entries in a markup language; the last column is the heading of each row, if there are any."""
    rows = []
    for title, shown in content.groups.items():
        for row in shown:
            entries = [f"{escape(cell.text)} {escape_note(cell.note)}".strip() for cell in row.cells]
            rows.append([*entries, escape(title + ", before training" * (row.source == "untrained"))])
    frame = pd.DataFrame(rows, columns=[*map(escape, content.columns), "source"])
    return frame if any(content.groups) else frame.drop(columns="source")


def _latex(frame: pd.DataFrame, alignment: Sequence[str], caption: str) -> str:
    width = sum(max(map(len, [name, *frame[name]])) + 2 for name in frame)
    is_wide, is_long = width > _PAGE_WIDTH, len(frame) > _PAGE_ROWS
    text = frame.to_latex(
        index=False,
        column_format="".join(side[0] for side in alignment),
        caption=caption if is_long else None,
        longtable=is_long,
    )
    # After the end of a row, a bracket or a star would belong to the command that ends it.
    text = re.sub(r"^(?=[\[*])", "{}", text, flags=re.MULTILINE)
    if is_long:
        # A `longtable` cannot be scaled, so a wide one is turned to landscape.
        text = f"\\begingroup\n\\scriptsize\n{text}\\endgroup\n"
        return f"{_PREAMBLE}\n" + (f"\\begin{{landscape}}\n{text}\\end{{landscape}}\n" if is_wide else text)
    scaled = f"\\resizebox{{\\textwidth}}{{!}}{{%\n{text}}}\n" if is_wide else text
    return f"{_PREAMBLE}\n\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n{scaled}\\end{{table}}\n"
