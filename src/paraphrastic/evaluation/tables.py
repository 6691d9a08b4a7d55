"""Tables of results, for reading and for papers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from paraphrastic.evaluation.tasks import YEARS
from paraphrastic.files import atomic_output, read_json

STS_COLUMNS = ["system", "source", "data", *YEARS, "avg"]


def tabulate_sts(
    results: Sequence[Path],
    published: Path | None,
    output: Path,
    *,
    statistic: Literal["pearson", "spearman"],
) -> None:
    """Write the table of STS 2012–2016, correlations × 100.

    Published rows come first, and only where all measured ones are on the official test data. A system
    that was measured without 2013's SMT says so in its name: its 2013 and its average are over fewer data.

    Args:
        results: JSON files of `evaluate_sts`, in the order of the rows.
        published: CSV file of published figures in the same columns; None where there are none.
        output: the CSV file.
        statistic: which correlation.
    """
    table = pd.DataFrame([_measured_row(read_json(path), statistic) for path in results])
    if published and (table["data"] == "official").all():
        rows = pd.read_csv(published, dtype=str).assign(source="published", data="official")
        table = pd.concat([rows, table])
    with atomic_output(output) as temporary:
        table[STS_COLUMNS].to_csv(temporary, index=False, lineterminator="\n")


def _measured_row(result: Mapping[str, Any], statistic: str) -> dict[str, str]:
    return {
        "system": system_name(result),
        "source": result["source"],
        "data": result["data"],
        **{
            column: f"{100 * result['measurements'][f'{statistic} {column}']['value']:.1f}"
            for column in (*YEARS, "avg")
        },
    }


def system_name(result: Mapping[str, Any]) -> str:
    """Name of a measured system, which says what its average is without, from JSON of `evaluate_sts`."""
    notes = [" ({} without {})".format(*name.split("/")) for name in result["missing"]]
    return f"{result['system']}{''.join(notes)}"


def render_table(table: Path, markdown: Path, latex: Path, *, caption: str, bold_best: bool) -> None:
    """Write a table as Markdown and as LaTeX (booktabs), columns of figures to the right.

    Args:
        table: the CSV file; a column of figures has nothing but numbers and empty cells.
        markdown: the file for reading.
        latex: the file for papers.
        caption: of the table.
        bold_best: whether the highest figure of a column is bold.
    """
    text = pd.read_csv(table, dtype=str, keep_default_na=False)
    values = text.apply(pd.to_numeric, errors="coerce")
    figures = text.columns[(values.notna() | (text == "")).all()]
    values = values[figures]
    best = values.eq(values.max()) & bold_best
    bold = text.copy()
    bold[figures] = text[figures].where(~best, "**" + text[figures] + "**")
    with atomic_output(markdown) as temporary:
        alignment = ["right" if column in figures else "left" for column in text.columns]
        body = bold.to_markdown(index=False, disable_numparse=True, colalign=alignment)
        temporary.write_text(f"{caption}\n\n{body}\n", encoding="utf-8")
    style = text.style.hide(axis="index").format(escape="latex").format_index(escape="latex", axis="columns")
    style = style.apply(
        lambda _: best.replace({True: "textbf:--rwrap", False: ""}), axis=None, subset=figures
    )
    with atomic_output(latex) as temporary:
        columns = "".join("r" if column in figures else "l" for column in text.columns)
        style.to_latex(
            temporary, column_format=columns, hrules=True, caption=caption, position_float="centering"
        )
