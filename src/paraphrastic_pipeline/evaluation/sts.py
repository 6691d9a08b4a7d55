"""Semantic textual similarity: how well cosines agree with human judgements."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Vectors, cosines, finite_vectors
from paraphrastic.quality.correlation import MIN_PAIRS
from paraphrastic_pipeline.evaluation.measurement import Measurement, correlations, mean_of
from paraphrastic_pipeline.evaluation.results import Evaluation
from paraphrastic_pipeline.evaluation.testset_names import (
    BENCHMARK,
    BENCHMARK_PARTS,
    CAPTION_GENRE,
    LICENSED,
    TRACKS,
    YEARS,
)
from paraphrastic_pipeline.evaluation.testsets import content_digest, read_testsets

StsTask = Literal["sts", "xling_sts", "stsb"]

log = logging.getLogger(__name__)

_SMT = "/".join(LICENSED)


def evaluate_sts(
    evaluation: Evaluation, testsets: Path, *, task: StsTask = "sts", tracks: Sequence[str] = ()
) -> None:
    """Evaluate on one kind of test sets; each set has measurements `pearson {name}` and `spearman {name}`.

    - `sts`: STS 2012–2016, with names such as `2012/MSRpar`, `2012`, `avg` and `datasets`. A year's Pearson
      is the mean over its datasets (Wieting et al. 2021, footnote 3); a year's Spearman is computed on its
      concatenated datasets without 2013's SMT (Reimers and Gurevych 2019). `avg` is the mean over the years,
      and `datasets` the mean over all datasets, as in Wieting et al. 2019, section 3.2.
    - `xling_sts`: the `tracks` of STS 2017, such as `2017/ar-en`.
    - `stsb`: STS Benchmark, `stsb/dev` and `stsb/test`, and their parts `stsb/test captions` and `stsb/test
      others` (Wieting and Gimpel 2018, section 6.5). If there are training and development data, there is
      also `stsb/test trained`, with the same two parts. Its scores are not cosines: a softmax over five
      scores predicts them from the vectors (see `predict_scores`).

    In the result, `datasets` counts the pairs with and without a gold score.

    Args:
        evaluation: the encoder and its settings; the official digests are keyed by `year/dataset`.
        testsets: Parquet file of `prepare_sts`.
        task: the kind of test sets.
        tracks: tracks of STS 2017, for `xling_sts`.

    Raises:
        InputError: a track or STS Benchmark's test part is missing, or a correlation is not defined.
    """
    scores = _Scores(evaluation, testsets)
    if task == "sts":
        _years(scores)
    elif task == "xling_sts":
        _tracks(scores, tracks)
    else:
        _benchmark(scores)
    digests = evaluation.official_digests()
    datasets = {}
    for name, pairs in scores.pairs.items():
        year, dataset = name.split("/", maxsplit=1)
        every = scores.datasets(year)[dataset]
        datasets[name] = {
            "n": len(pairs),
            "without_gold": int(every["gold"].isna().sum()),
            "official": digests.get(name) == content_digest(year, dataset, pairs),
        }
    missing = [_SMT] if task == "sts" and _SMT not in datasets else []
    evaluation.write(task, scores.measurements, datasets, missing=missing, datasets=datasets)


def _years(scores: "_Scores") -> None:
    figures = scores.measurements
    for year in YEARS:
        datasets = {f"{year}/{name}": pairs for name, pairs in scores.datasets(year).items()}
        for name, pairs in datasets.items():
            scores.add(name, scores.scored(pairs, ("en", "en")))
        whole = pd.concat([scores.pairs[name] for name in datasets if name != _SMT])
        figures[f"spearman {year}"] = scores.correlations(year, whole)[f"spearman {year}"]
        figures[f"pearson {year}"] = mean_of([figures[f"pearson {name}"] for name in datasets])
    for statistic in ("pearson", "spearman"):
        for mean, names in (("avg", YEARS), ("datasets", scores.pairs)):
            figures[f"{statistic} {mean}"] = mean_of([figures[f"{statistic} {name}"] for name in names])


def _tracks(scores: "_Scores", tracks: Sequence[str]) -> None:
    parts = scores.datasets("2017")
    for track in tracks:
        if track not in parts:
            raise InputError(
                f"{scores.testsets}: STS 2017 has no track {track}; there are {', '.join(parts)}"
            )
        scores.add(f"2017/{track}", scores.scored(parts[track], TRACKS[track].languages))


def _benchmark(scores: "_Scores") -> None:
    parts = scores.datasets(BENCHMARK)
    missing = [part for part in BENCHMARK_PARTS if part not in parts]
    if "test" in missing:
        raise InputError(f"{scores.testsets}: the archive of the STS test sets lacks STS Benchmark")
    for part in ("dev", "test"):
        if part in parts:
            scored = scores.scored(parts[part], ("en", "en"))
            scores.add(f"{BENCHMARK}/{part}", scored)
            _genres(scores, f"{BENCHMARK}/{part}", scored)
    if missing:
        log.info("%s: STS Benchmark lacks %s", scores.testsets, " and ".join(missing))
    else:
        name = f"{BENCHMARK}/test trained"
        scored = _trained(scores, parts, at=f"{scores.testsets}: STS {name}")
        scores.measurements |= scores.correlations(name, scored)
        _genres(scores, name, scored)


def _genres(scores: "_Scores", name: str, scored: pd.DataFrame) -> None:
    """Measure captions and all other pairs of a dataset separately, as far as there are any."""
    is_caption = scored["genre"] == CAPTION_GENRE
    for genre, pairs in (("captions", scored[is_caption]), ("others", scored[~is_caption])):
        if len(pairs):
            scores.measurements |= scores.correlations(f"{name} {genre}", pairs)


def _trained(scores: "_Scores", parts: Mapping[str, pd.DataFrame], *, at: str) -> pd.DataFrame:
    """The test pairs of STS Benchmark, with scores that a trained network predicts from their vectors."""
    # Imported here: it takes seconds to import torch, and STS Benchmark alone needs it.
    from paraphrastic_pipeline.evaluation.networks import pair_features, predict_scores, toolkit_order

    rows, features = {}, {}
    for part in BENCHMARK_PARTS:
        pairs = parts[part].dropna(subset="gold")
        if len(pairs) < MIN_PAIRS:
            raise InputError(f"{at}: part {part!r} has {len(pairs)} pairs; at least {MIN_PAIRS} are needed")
        scores.pairs[f"{BENCHMARK}/{part}"] = pairs
        rows[part] = pairs.iloc[toolkit_order(pairs, pairs["gold"].to_numpy())]
        features[part] = pair_features(*scores.vectors(rows[part], ("en", "en")))
    train, dev = ((features[part], rows[part]["gold"].to_numpy()) for part in ("train", "dev"))
    predicted, _ = predict_scores(train, dev, features["test"], at=at)
    return rows["test"].assign(score=predicted)


class _Scores:
    """The measurements of one encoder on each dataset."""

    def __init__(self, evaluation: Evaluation, testsets: Path) -> None:
        self.evaluation, self.testsets = evaluation, testsets
        self.everything = read_testsets(testsets)
        self.pairs: dict[str, pd.DataFrame] = {}
        self.measurements: dict[str, Measurement] = {}

    def datasets(self, year: str) -> dict[str, pd.DataFrame]:
        of_year = self.everything[self.everything["year"] == year]
        return {str(name): pairs for name, pairs in of_year.groupby("dataset", sort=False)}

    def scored(self, pairs: pd.DataFrame, languages: tuple[str, str]) -> pd.DataFrame:
        """The pairs that have a gold score, with the cosines of their vectors as `score`."""
        pairs = pairs.dropna(subset="gold")
        return pairs.assign(score=cosines(*self.vectors(pairs, languages)))

    def vectors(self, pairs: pd.DataFrame, languages: tuple[str, str]) -> tuple[Vectors, Vectors]:
        """Vectors of both sentences, [n, d] each; an `InputError` if one is not finite."""
        name = f"{self.testsets}: STS {pairs['year'].iloc[0]}/{pairs['dataset'].iloc[0]}"
        first, second = (
            finite_vectors(self.evaluation.encoder, pairs[column].to_list(), language, name=name)
            for column, language in zip(("sentence1", "sentence2"), languages, strict=True)
        )
        return first, second

    def add(self, name: str, pairs: pd.DataFrame) -> None:
        self.pairs[name] = pairs
        self.measurements |= self.correlations(name, pairs)

    def correlations(self, name: str, pairs: pd.DataFrame) -> dict[str, Measurement]:
        year, _, dataset = name.partition("/")
        return correlations(
            pairs["score"].to_numpy(),
            pairs["gold"].to_numpy(),
            name=name,
            at=f"{self.testsets}: STS {name}",
            digest=content_digest(year, dataset, pairs),
            samples=self.evaluation.bootstrap_samples,
        )
