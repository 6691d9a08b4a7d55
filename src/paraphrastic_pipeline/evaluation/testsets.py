"""Reading prepared test sets, and identifying them by their content."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from paraphrastic_pipeline.corpus.blocks import read_table
from paraphrastic_pipeline.evaluation.testset_names import LICENSED


def read_testsets(path: Path) -> pd.DataFrame:
    """Read a prepared test set; a damaged file is an `InputError` that names it."""
    return read_table(path).to_pandas()


def content_digest(year: str, dataset: str, pairs: pd.DataFrame) -> str:
    """SHA-256 of a dataset's sentences and gold scores, whichever archive they came in.

    `pairs` must all have a gold score. For 2013's SMT only the scores count: its sentences need a licence,
    which few people have.
    """
    digest = hashlib.sha256()
    for first, second, gold in pairs[["sentence1", "sentence2", "gold"]].itertuples(index=False):
        text = "" if (year, dataset) == LICENSED else f"{first}\t{second}\t"
        digest.update(f"{text}{gold:.3f}\n".encode())
    return digest.hexdigest()


def table_digest(table: pd.DataFrame) -> str:
    """SHA-256 of the cells of a table whose columns are all text."""
    lines = ("\t".join(row) + "\n" for row in table.itertuples(index=False))
    return hashlib.sha256(("".join(lines) + "\n").encode()).hexdigest()


def gold_digest(pairs: Iterable[tuple[Any, Any]]) -> str:
    """SHA-256 of BUCC's gold pairs of ids, which is that of the original file."""
    return hashlib.sha256("".join(f"{source}\t{target}\n" for source, target in pairs).encode()).hexdigest()
