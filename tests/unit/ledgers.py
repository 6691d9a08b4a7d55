"""Published and measured figures in small files, and the ledger made of them."""

from pathlib import Path

from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.ledger import LEDGER_COLUMNS, Run, write_ledger
from paraphrastic_pipeline.evaluation.system_tables import INTERVAL_COLUMNS

ABOUT = {"paper": "A Paper", "table": "Table 2", "protocol": "by hand", "config": "", "model": ""}
EN = {"config": "paper.yaml", "model": "en"}


def write(path: Path, rows: list[dict[str, str]], columns: list[str] | None = None) -> Path:
    write_csv(path, columns or list(rows[0]), rows)
    return path


def printed_row(folder: Path, table: str, row: dict[str, str]) -> Path:
    """Published figures of the model `en`, unless the row names another one."""
    return write(folder / f"{table}.csv", [{**ABOUT, **EN, **row}])


def intervals(
    folder: Path, table: str, *cells: tuple[str, str, float, float, float], data: str = "official"
) -> dict[str, Path]:
    """The measured figures of a table of systems, by its name."""
    rows = [
        {
            "name": name, "system": f"P-SP {name}", "source": "measured", "data": data, "column": column,
            "value": str(value), "low": str(low), "high": str(high), "test_digest": "t", "model_digest": "m",
        }
        for name, column, value, low, high in cells
    ]  # fmt: skip
    return {table: write(folder / f"{table}_intervals.csv", rows, INTERVAL_COLUMNS)}


def run(**settings) -> Run:
    given = {"config_digests": {"en": "c"}, "gathered": ["en"], "published_as": {}, "off": {}}
    return Run(**{"configs": ["paper.yaml"], **given, **settings})


def ledger(folder: Path, published: Path, measured: dict[str, Path], **settings) -> list[dict[str, str]]:
    output = folder / "ledger.csv"
    tables = settings.pop("tables", {})
    write_ledger([published], measured, tables, output, run=run(**settings))
    rows = read_csv(output)
    assert list(rows[0]) == LEDGER_COLUMNS
    return rows
