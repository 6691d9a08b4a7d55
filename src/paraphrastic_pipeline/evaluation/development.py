"""The score on development data, used to watch training and to choose models."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl

from paraphrastic.base.arrays import Float32
from paraphrastic.model.encoder import SentenceEncoder, cosines
from paraphrastic.model.files import ModelFiles
from paraphrastic.model.folder import open_files
from paraphrastic.quality.correlation import pearson
from paraphrastic_pipeline.evaluation.tasks import DEVELOPMENT, YEARS
from paraphrastic_pipeline.evaluation.testsets import read_testsets

# Turns English sentences into vectors, float32 [n, dim].
Embed = Callable[[Sequence[str]], Float32]


def development_score(model: SentenceEncoder, testsets: Path) -> float:
    """Pearson's r × 100 on STS 2017 en-en, used to choose models (Wieting et al. 2021, section 5.1)."""
    pairs = read_testsets(testsets).filter(year="2017", dataset=DEVELOPMENT).drop_nulls("gold")
    return _pearson(_english(model), pairs, name=f"{testsets}: STS 2017 en-en")


def score_in_training(files: ModelFiles, testsets: Path) -> float:
    """`development_score` of a model in the middle of its training."""
    return development_score(open_files(files), testsets)


class Openable(Protocol):
    """The files of a model in the middle of its training, of a kind that opens by itself."""

    def open(self) -> SentenceEncoder:
        """The model."""


def opened_score_in_training(files: Openable, testsets: Path) -> float:
    """`development_score` of a Transformer in the middle of its training."""
    return development_score(files.open(), testsets)


def average_score(model: SentenceEncoder, testsets: Path) -> float:
    """Pearson's r × 100 on STS 2012–2016, averaged over each year's data sets and then over the years."""
    return average_of_vectors(_english(model), testsets)


def average_of_vectors(embed: Embed, testsets: Path) -> float:
    """`average_score` of vectors of any make."""
    pairs = read_testsets(testsets).filter(pl.col("year").is_in(YEARS)).drop_nulls("gold")
    years: dict[str, list[float]] = {}
    for (year, name), group in pairs.group_by("year", "dataset", maintain_order=True):
        years.setdefault(str(year), []).append(_pearson(embed, group, name=f"{testsets}: STS {year} {name}"))
    return float(np.mean([np.mean(scores) for scores in years.values()]))


def _english(model: SentenceEncoder) -> Embed:
    return partial(model.embed_raw_text, language="en", threads=1)


def _pearson(embed: Embed, pairs: pl.DataFrame, *, name: str) -> float:
    first, second = (embed(pairs[column].to_list()) for column in ("sentence1", "sentence2"))
    return 100.0 * pearson(cosines(first, second), pairs["gold"].to_numpy(), name=name)
