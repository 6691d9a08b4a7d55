"""The measured figures that the ledger compares with published ones, from all tables of a run."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation.tasks import LAYOUTS
from paraphrastic_pipeline.evaluation.testset_names import CAPTION_DATASETS, STS_DATASETS

# BUCC's published figures (Schwenk 2018) are scored by the cosine, so they are compared with that scoring.
_SCORING = " (cosine)"

# Columns that tell apart the rows of one system in a table.
KEYS = {
    "studies": ("study", "setting"),
    "dataset_differences": ("other",),
    "language_choice_correlations": ("languages", "embeddings"),
    "corpora": ("corpus", "language"),
    "speed": ("device", "cores", "batch_size", "preprocessing"),
    **{table: layout.fields for table, layout in LAYOUTS.items()},
}
# Columns of measured tables without figures.
_NO_FIGURES = ("datasets", "n", "p", "test_digest", "model_digest", "model", "source")
# Figures that no missing data set of STS 2012–2016 changes.
_OF_ONE_DATASET = ("development", *CAPTION_DATASETS)
# Counts of pairs by their columns in millions.
_MILLIONS = {"pairs": "pairs_millions", "used": "used_millions"}

# Measured figures by the system's name in the configuration, the row's key, and the column. Each has a
# `value`, `low`, `high`, `data`, both digests, and the data that a mean is `without`; a correlation also has
# the number of the study's `languages`.
Figures = dict[tuple[str, str, str], Mapping[str, str]]
_Row = Mapping[str, str]


def row_key(table: str, row: _Row) -> str:
    """What tells a row from the others of its system, in words."""
    return ", ".join(row[key] for key in KEYS.get(table, ()) if key != "dim" and row.get(key))


def read_intervals(path: Path) -> Figures:
    """The figures of a table of systems, from its file of intervals."""
    return {
        (row["name"], row["row"], row["column"]): row
        for row in read_csv(path)
        if row["source"] == "measured" and (not row["row"] or row["system"].endswith(_SCORING))
    }


def read_figures(path: Path, table: str, labels: Mapping[str, str]) -> Figures:
    """The figures of any other table, whose intervals, if it has any, are columns of the table itself.

    Args:
        path: the table, a CSV file.
        table: its name.
        labels: names of systems in the configuration, by their names in tables.
    """
    rows = [row for row in read_csv(path) if row.get("source", "measured") == "measured"]
    corpora = Counter(row["model"] for row in rows if row.get("corpus", "all") != "all")
    # Correlations over some of the languages belong to the study of all of them.
    languages: dict[tuple[str, str], int] = {}
    for row in rows if table == "language_choice_correlations" else ():
        about = row["embeddings"], row["predictor"]
        languages[about] = max(languages.get(about, 0), int(row["n"]))
    figures: Figures = {}
    for row in rows:
        name = row.get("model") or labels.get(row.get("system", ""), "")
        if table == "dataset_differences":
            other = labels.get(row["other"], "")
            figures |= _cells(name, other, row) | _cells(other, name, _reversed(row))
            continue
        key = row_key(table, row)
        if predictor := row.get("predictor"):
            # Such a row holds a single figure; the ledger's column is the predictor's name.
            row |= {
                predictor: row["spearman"],
                f"{predictor}_low": row["low"],
                f"{predictor}_high": row["high"],
                "of_languages": str(languages[row["embeddings"], predictor]),
            }
        if table == "corpora":
            row |= {name: str(int(row[count] or 0) / 1e6) for count, name in _MILLIONS.items()}
            # Papers have other names for corpora, so a model's only corpus is found by its language alone.
            if row["corpus"] != "all" and corpora[name] == 1:
                figures |= _cells(name, row["language"], row)
        figures |= _cells(name, key, row)
    return figures


def _cells(name: str, key: str, row: _Row) -> Figures:
    # Differences and means may lack STS data sets, such as one that needs a licence.
    missing = STS_DATASETS - int(row.get("datasets") or STS_DATASETS)
    without = f"{missing} of {STS_DATASETS} data sets" if missing else ""
    return {
        (name, key, column): {
            # Tables of corpora and of speed have no test data.
            "data": row.get("data", "official"),
            "without": "" if column in _OF_ONE_DATASET else without,
            "value": value,
            "low": row.get(f"{column}_low") or value,
            "high": row.get(f"{column}_high") or value,
            "languages": row.get("of_languages", ""),
            "test_digest": row.get("test_digest", ""),
            "model_digest": row.get("model_digest", ""),
        }
        for column, value in _numbers(row)
    }


def _numbers(row: _Row) -> Iterator[tuple[str, str]]:
    for column, value in row.items():
        try:
            float(value)
        except ValueError:
            continue
        if column not in _NO_FIGURES:
            yield column, value


def _reversed(row: _Row) -> _Row:
    """A row of differences as the other system would have it: its mean differences have the other sign."""
    signed = ("mean", *CAPTION_DATASETS)
    turned = {column: _negative(row[column]) for column in signed if row.get(column)}
    ends = {"mean_low": "mean_high", "mean_high": "mean_low"}
    return {**row, **turned, **{end: _negative(row[start]) for end, start in ends.items() if row.get(start)}}


def _negative(figure: str) -> str:
    return figure[1:] if figure.startswith("-") else f"-{figure}"
