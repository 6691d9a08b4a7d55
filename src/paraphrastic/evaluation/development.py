"""The score on development data, used to watch training and to choose models."""

from pathlib import Path

import numpy as np
import polars as pl

from paraphrastic.evaluation.correlation import pearson
from paraphrastic.evaluation.tasks import DEVELOPMENT, YEARS
from paraphrastic.evaluation.testsets import read_testsets
from paraphrastic.model.encoder import SentenceEncoder, cosines
from paraphrastic.model.files import ModelFiles
from paraphrastic.model.folder import open_files


def development_score(model: SentenceEncoder, testsets: Path) -> float:
    """Pearson's r × 100 on STS 2017 en-en, used to choose models (Wieting et al. 2021, section 5.1)."""
    pairs = read_testsets(testsets).filter(year="2017", dataset=DEVELOPMENT).drop_nulls("gold")
    return _pearson(model, pairs, name=f"{testsets}: STS 2017 en-en")


def score_in_training(files: ModelFiles, testsets: Path) -> float:
    """`development_score` of a model in the middle of its training."""
    return development_score(open_files(files), testsets)


def average_score(model: SentenceEncoder, testsets: Path) -> float:
    """Pearson's r × 100 on STS 2012–2016, averaged over each year's data sets and then over the years."""
    pairs = read_testsets(testsets).filter(pl.col("year").is_in(YEARS)).drop_nulls("gold")
    years: dict[str, list[float]] = {}
    for (year, name), group in pairs.group_by("year", "dataset", maintain_order=True):
        years.setdefault(str(year), []).append(_pearson(model, group, name=f"{testsets}: STS {year} {name}"))
    return float(np.mean([np.mean(scores) for scores in years.values()]))


def _pearson(model: SentenceEncoder, pairs: pl.DataFrame, *, name: str) -> float:
    first, second = (
        model.embed_raw_text(pairs[column].to_list(), language="en", threads=1)
        for column in ("sentence1", "sentence2")
    )
    return 100.0 * pearson(cosines(first, second), pairs["gold"].to_numpy(), name=name)
