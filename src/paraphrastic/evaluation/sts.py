"""Semantic textual similarity: how well cosines follow people's judgements."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.evaluation.correlation import MIN_PAIRS
from paraphrastic.evaluation.networks import pair_features, predict_scores, toolkit_order
from paraphrastic.evaluation.results import Measurement, Source, correlations, mean_of, write_result
from paraphrastic.evaluation.tasks import BENCHMARK, BENCHMARK_PARTS, CAPTIONS, LICENSED, TRACKS, YEARS
from paraphrastic.evaluation.testsets import content_digest, read_testsets
from paraphrastic.model.encoder import cosines
from paraphrastic.model.system import System

Float32 = npt.NDArray[np.float32]
Measurements = dict[str, Measurement]
Task = Literal["sts", "xling_sts", "stsb"]

log = logging.getLogger(__name__)

_SMT = "/".join(LICENSED)


def evaluate_sts(
    encoder: System,
    testsets: Path,
    result: Path,
    *,
    task: Task = "sts",
    tracks: Sequence[str] = (),
    official: Path,
    source: Source,
    bootstrap_samples: int,
) -> None:
    """Evaluate on test sets of one kind; each has measurements `pearson {name}` and `spearman {name}`.

    - `sts`: STS 2012–2016, names such as `2012/MSRpar`, `2012` and `avg`. A year's Pearson is the mean over
      its datasets, `avg` the mean over the years (Wieting et al. 2021, footnote 3); a year's Spearman is over
      its concatenated datasets without 2013's SMT (Reimers and Gurevych 2019).
    - `xling_sts`: the `tracks` of STS 2017, such as `2017/ar-en`.
    - `stsb`: STS Benchmark, `stsb/dev` and `stsb/test`, each also as `stsb/test captions` and `stsb/test
      others` (Wieting and Gimpel 2018, section 6.5); where there are training data, also `stsb/test trained`,
      `stsb/test trained captions` and `stsb/test trained others`, whose scores are predicted from the vectors
      by a softmax over five scores (see `predict_scores`) instead of by the cosine.

    Args:
        encoder: the system.
        testsets: Parquet file of `prepare_sts`.
        result: the JSON file, see `write_result`; `datasets` counts the pairs without gold score.
        task: the kind.
        tracks: of STS 2017.
        official: JSON file with the `content_digest` of the official test sets by `year/dataset`.
        source: whether the system was trained.
        bootstrap_samples: resamples of each dataset's pairs, for the intervals.

    Raises:
        InputError: the test sets are without what is asked for, or a correlation is not defined.
    """
    found = _Evaluation(encoder, testsets, bootstrap_samples)
    if task == "sts":
        _years(found)
    elif task == "xling_sts":
        _tracks(found, tracks)
    else:
        _benchmark(found)
    digests = read_json(official)
    datasets = {}
    for name, pairs in found.pairs.items():
        year, dataset = name.split("/", maxsplit=1)
        every = found.everything.filter(year=year, dataset=dataset)
        datasets[name] = {
            "n": len(pairs),
            "without_gold": every["gold"].null_count(),
            "official": digests.get(name) == content_digest(year, dataset, pairs),
        }
    write_result(
        result,
        encoder,
        found.measurements,
        task=task,
        source=source,
        official=all(dataset["official"] for dataset in datasets.values()),
        details={"missing": [_SMT] if task == "sts" and _SMT not in datasets else [], "datasets": datasets},
    )


def _years(found: "_Evaluation") -> None:
    for year in YEARS:
        datasets = {f"{year}/{name}": pairs for name, pairs in found.datasets(year).items()}
        for name, pairs in datasets.items():
            found.add(name, found.scored(pairs, ("en", "en")))
        whole = pl.concat([found.pairs[name] for name in datasets if name != _SMT])
        found.correlate(year, whole, kinds=("spearman",))
        found.average(f"pearson {year}", [f"pearson {name}" for name in datasets])
    for statistic in ("pearson", "spearman"):
        found.average(f"{statistic} avg", [f"{statistic} {year}" for year in YEARS])


def _tracks(found: "_Evaluation", tracks: Sequence[str]) -> None:
    there = found.datasets("2017")
    for track in tracks:
        if track not in there:
            raise InputError(f"{found.testsets}: STS 2017 has no track {track}; there are {', '.join(there)}")
        found.add(f"2017/{track}", found.scored(there[track], TRACKS[track].languages))


def _benchmark(found: "_Evaluation") -> None:
    parts = found.datasets(BENCHMARK)
    missing = [part for part in BENCHMARK_PARTS if part not in parts]
    if "test" in missing:
        raise InputError(f"{found.testsets}: the archive of the STS test sets is without STS Benchmark")
    for part in ("dev", "test"):
        if part in parts:
            scored = found.scored(parts[part], ("en", "en"))
            found.add(f"{BENCHMARK}/{part}", scored)
            _genres(found, f"{BENCHMARK}/{part}", scored)
    if missing:
        log.info("%s: STS Benchmark is without %s", found.testsets, " and ".join(missing))
    else:
        name = f"{BENCHMARK}/test trained"
        scored = _trained(found, parts, at=f"{found.testsets}: STS {name}")
        found.correlate(name, scored)
        _genres(found, name, scored)


def _genres(found: "_Evaluation", name: str, scored: pl.DataFrame) -> None:
    """Captions and all others of a dataset, if there are any."""
    is_caption = pl.col("genre") == CAPTIONS
    for genre, pairs in (("captions", scored.filter(is_caption)), ("others", scored.filter(~is_caption))):
        if len(pairs):
            found.correlate(f"{name} {genre}", pairs)


def _trained(found: "_Evaluation", parts: Mapping[str, pl.DataFrame], *, at: str) -> pl.DataFrame:
    """The test pairs, with scores that are predicted from their vectors."""
    rows, features = {}, {}
    for part in BENCHMARK_PARTS:
        pairs = parts[part].drop_nulls("gold")
        if len(pairs) < MIN_PAIRS:
            raise InputError(f"{at}: part {part!r} has {len(pairs)} pairs, at least {MIN_PAIRS} are needed")
        found.pairs[f"{BENCHMARK}/{part}"] = pairs
        rows[part] = pairs[toolkit_order(pairs, pairs["gold"].to_numpy())]
        features[part] = pair_features(*found.vectors(rows[part], ("en", "en")))
    train, dev = ((features[part], rows[part]["gold"].to_numpy()) for part in ("train", "dev"))
    scores, _ = predict_scores(train, dev, features["test"], at=at)
    return rows["test"].with_columns(score=pl.Series(scores))


class _Evaluation:
    """What one system reaches, dataset by dataset."""

    def __init__(self, encoder: System, testsets: Path, bootstrap_samples: int) -> None:
        self.encoder, self.testsets, self.bootstrap_samples = encoder, testsets, bootstrap_samples
        self.everything = read_testsets(testsets)
        self.pairs: dict[str, pl.DataFrame] = {}
        self.measurements: Measurements = {}

    def datasets(self, year: str) -> dict[str, pl.DataFrame]:
        groups = self.everything.filter(year=year).group_by("dataset", maintain_order=True)
        return {str(name): pairs for (name,), pairs in groups}

    def scored(self, pairs: pl.DataFrame, languages: tuple[str, str]) -> pl.DataFrame:
        """The pairs with a gold score, with the cosines of their vectors."""
        pairs = pairs.drop_nulls("gold")
        return pairs.with_columns(score=pl.Series(cosines(*self.vectors(pairs, languages))))

    def vectors(self, pairs: pl.DataFrame, languages: tuple[str, str]) -> tuple[Float32, Float32]:
        """Vectors of both sentences, [n, d] each; an `InputError` where one is not finite."""
        name = f"{self.testsets}: STS {pairs['year'][0]}/{pairs['dataset'][0]}"
        first, second = (
            self.encoder.embed_finite(pairs[column].to_list(), language, name=name)
            for column, language in zip(("sentence1", "sentence2"), languages, strict=True)
        )
        return first, second

    def add(self, name: str, pairs: pl.DataFrame) -> None:
        self.pairs[name] = pairs
        self.correlate(name, pairs)

    def correlate(
        self, name: str, pairs: pl.DataFrame, kinds: Sequence[str] = ("pearson", "spearman")
    ) -> None:
        year, _, dataset = name.partition("/")
        found = correlations(
            pairs["score"].to_numpy(),
            pairs["gold"].to_numpy(),
            name=name,
            at=f"{self.testsets}: STS {name}",
            digest=content_digest(year, dataset, pairs),
            samples=self.bootstrap_samples,
        )
        self.measurements |= {key: value for key, value in found if key.split()[0] in kinds}

    def average(self, name: str, parts: Sequence[str]) -> None:
        """Of correlations; each resample has its own of all parts."""
        self.measurements[name] = mean_of([self.measurements[part] for part in parts])
