"""Tables of what the corpora hold and of what became of their pairs."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.files import atomic_output, read_json

# Of contamination.
KINDS = ("exact", "near")

# A model and one of its corpora.
ModelCorpus = tuple[str, str]


def tabulate_contamination(
    counts: Sequence[tuple[ModelCorpus, str | Path]], output: str | Path, *, drop: Sequence[str]
) -> None:
    """Write how many pairs of each model and corpus stand in each test set, and in any (`all`).

    Columns: `model`, `corpus`, `testset`, `read` (selected pairs), `exact`, `near` (empty where it was not
    looked for), `dropped` (by the setting) and `share` (found of read, in %).

    Args:
        counts: JSON files of `mark_contamination`, in the order of the rows.
        output: the CSV file.
        drop: kinds that are left out of training.
    """
    rows = []
    for (model, corpus), path in counts:
        result = read_json(path)
        for testset, kinds in (*result["testsets"].items(), ("all", result["all"])):
            row = {"model": model, "corpus": corpus, "testset": testset, "read": result["read"]}
            row |= {kind: kinds.get(kind, "") for kind in KINDS}
            row["dropped"] = sum(kinds.get(kind, 0) for kind in drop)
            row["share"] = _percent(sum(kinds.values()), result["read"])
            rows.append(row)
    _write(output, rows, ["model", "corpus", "testset", "read", *KINDS, "dropped", "share"])


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else ""


def _write(output: str | Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    with atomic_output(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
