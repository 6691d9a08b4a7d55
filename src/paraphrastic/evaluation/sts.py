"""Semantic textual similarity: how well cosines follow people's judgements."""

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from paraphrastic.evaluation.correlation import bootstrap_pearson, interval, pearson, spearman
from paraphrastic.evaluation.sts_data import DEVELOPMENT, LICENSED, YEARS, content_digest, read_testsets
from paraphrastic.files import read_json, write_json
from paraphrastic.model import RawTextEncoder, cosines
from paraphrastic.structure import encoder_name

Float64 = npt.NDArray[np.float64]


def similarities(model: RawTextEncoder, pairs: pl.DataFrame) -> Float64:
    """Cosine of each pair of English sentences, [n]."""
    first, second = (
        model.embed_raw_text(pairs[column].to_list(), language="en") for column in ("sentence1", "sentence2")
    )
    return cosines(first, second)


def evaluate_sts(
    model: RawTextEncoder,
    testsets: Path,
    output: Path,
    *,
    official: Path,
    source: Literal["measured", "untrained"],
    bootstrap_samples: int,
) -> None:
    """Evaluate on STS 2012–2016 and write every number by dataset and year.

    A year's Pearson is the mean over its datasets, `avg` the mean over the years (Wieting et al. 2021,
    footnote 3); a year's Spearman is over its concatenated datasets without 2013's SMT (Reimers and
    Gurevych 2019). Intervals are 95 % percentile bootstraps over the pairs of each dataset.

    Args:
        model: the encoder.
        testsets: Parquet file of `prepare_sts`.
        output: the JSON file.
        official: JSON file with the `content_digest` of the official test sets by `year/dataset`.
        source: whether the model was trained, for the tables.
        bootstrap_samples: resamples for the intervals.
    """
    everything = read_testsets(testsets).filter(pl.col("year").is_in(YEARS))
    pairs = everything.drop_nulls("gold")
    without_gold = everything.filter(pl.col("gold").is_null())
    pairs = pairs.with_columns(score=pl.Series(similarities(model, pairs)))
    digests = read_json(official)
    datasets: dict[str, dict[str, Any]] = {}
    resampled: dict[str, list[Float64]] = {year: [] for year in YEARS}
    for (year, dataset), group in pairs.group_by("year", "dataset", maintain_order=True):
        name = f"{year}/{dataset}"
        scores, gold = group["score"].to_numpy(), group["gold"].to_numpy()
        samples = bootstrap_pearson(scores, gold, samples=bootstrap_samples, seed=zlib.crc32(name.encode()))
        resampled[str(year)].append(samples)
        digest = content_digest(str(year), str(dataset), group)
        datasets[name] = {
            "n": len(group),
            "without_gold": without_gold.filter(year=year, dataset=dataset).height,
            "pearson": pearson(scores, gold, name=f"{testsets}: STS {name}"),
            "interval": interval(samples),
            "spearman": spearman(scores, gold, name=f"{testsets}: STS {name}"),
            "digest": digest,
            "official": digests.get(name) == digest,
        }
    by_year = {year: np.mean(samples, axis=0) for year, samples in resampled.items()}
    years = {
        year: {
            "pearson": float(np.mean(_of_year(datasets, year, "pearson"))),
            "interval": interval(by_year[year]),
            "spearman": _concatenated(pairs.filter(year=year), spearman, name=f"{testsets}: STS {year}"),
        }
        for year in YEARS
    }
    average = {
        "pearson": float(np.mean([year["pearson"] for year in years.values()])),
        "interval": interval(np.mean(list(by_year.values()), axis=0)),
        "spearman": float(np.mean([year["spearman"] for year in years.values()])),
    }
    write_json(
        output,
        {
            "task": "sts",
            "model": model.config["model"],
            "encoder": encoder_name(model.config),
            "source": source,
            "digest": model.digest,
            "data": "official" if all(row["official"] for row in datasets.values()) else "sample",
            "missing": [] if "/".join(LICENSED) in datasets else ["/".join(LICENSED)],
            "years": years,
            "avg": average,
            "datasets": datasets,
        },
    )


def _of_year(datasets: Mapping[str, Mapping[str, Any]], year: str, key: str) -> list[float]:
    return [row[key] for name, row in datasets.items() if name.startswith(f"{year}/")]


def _concatenated(pairs: pl.DataFrame, correlation: Callable[..., float], *, name: str) -> float:
    kept = pairs.filter(~((pl.col("year") == LICENSED[0]) & (pl.col("dataset") == LICENSED[1])))
    return correlation(kept["score"].to_numpy(), kept["gold"].to_numpy(), name=name)


def development_score(model: RawTextEncoder, testsets: Path) -> float:
    """Pearson's r × 100 on STS 2017 en-en, on which models are chosen (Wieting et al. 2021, section 5.1)."""
    pairs = read_testsets(testsets).filter(year="2017", dataset=DEVELOPMENT).drop_nulls("gold")
    scores = similarities(model, pairs)
    return 100.0 * pearson(scores, pairs["gold"].to_numpy(), name=f"{testsets}: STS 2017 en-en")
