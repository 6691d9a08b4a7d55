"""Semantic textual similarity: how well cosines agree with human judgements.

Each data set has the figures `pearson {name}` and `spearman {name}`. An `InputError` says if a data set is
missing or a correlation is not defined.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Encoder, Vectors, cosines, finite_vectors
from paraphrastic.quality.correlation import MIN_PAIRS
from paraphrastic_pipeline.evaluation.figures import Data, Figures, correlations, mean_of
from paraphrastic_pipeline.evaluation.testset_names import (
    BENCHMARK,
    BENCHMARK_PARTS,
    CAPTION_GENRE,
    LICENSED,
    TRACKS,
    YEARS,
)
from paraphrastic_pipeline.evaluation.testsets import content_digest, read_testsets

log = logging.getLogger(__name__)

ENGLISH = ("en", "en")


def evaluate_sts(encoder: Encoder, testsets: Path) -> Figures:
    """Evaluate on STS 2012–2016, from the file of `prepare_sts`.

    Figures have names such as `pearson 2012/MSRpar`, `pearson 2012`, `pearson avg` and `pearson datasets`. A
    year's Pearson is the mean over its data sets (Wieting et al. 2021, footnote 3); a year's Spearman is
    computed on its concatenated data sets without 2013's SMT (Reimers and Gurevych 2019). `avg` is the mean
    over the years, and `datasets` the mean over all data sets (Wieting et al. 2019, section 3.2).
    """
    figures: Figures = {}
    names: list[str] = []
    for year in YEARS:
        scored = {name: _scored(encoder, each, ENGLISH) for name, each in _datasets(testsets, year).items()}
        for name, each in scored.items():
            figures |= each.figures(name)
        whole = _joined([each for name, each in scored.items() if name != "/".join(LICENSED)])
        figures[f"spearman {year}"] = whole.figures(year)[f"spearman {year}"]
        figures[f"pearson {year}"] = mean_of([figures[f"pearson {name}"] for name in scored])
        names += scored
    for statistic in ("pearson", "spearman"):
        for mean, parts in (("avg", YEARS), ("datasets", names)):
            figures[f"{statistic} {mean}"] = mean_of([figures[f"{statistic} {part}"] for part in parts])
    return figures


def evaluate_tracks(encoder: Encoder, testsets: Path, *, tracks: Sequence[str]) -> Figures:
    """Evaluate on tracks of STS 2017, such as `2017/ar-en`, from the file of `prepare_sts`."""
    datasets = _datasets(testsets, "2017")
    figures: Figures = {}
    for track in tracks:
        name = f"2017/{track}"
        if name not in datasets:
            raise InputError(f"{testsets}: STS 2017 has no track {track}; there are {', '.join(datasets)}")
        figures |= _scored(encoder, datasets[name], TRACKS[track].languages).figures(name)
    return figures


def evaluate_benchmark(encoder: Encoder, testsets: Path) -> Figures:
    """Evaluate on STS Benchmark: `stsb/dev` and `stsb/test`, from the file of `prepare_sts`.

    Their parts are `stsb/test captions` and `stsb/test others` (Wieting and Gimpel 2018, section 6.5). If
    there are training and development data, there is also `stsb/test trained`, with the same two parts. Its
    scores are not cosines: a softmax over five scores predicts them from the vectors (`predict_scores`).
    """
    datasets = _datasets(testsets, BENCHMARK)
    names = {part: f"{BENCHMARK}/{part}" for part in BENCHMARK_PARTS}
    missing = [part for part, name in names.items() if name not in datasets]
    if "test" in missing:
        raise InputError(f"{testsets}: the archive of the STS test sets lacks STS Benchmark")
    figures: Figures = {}
    for name in (names[part] for part in ("dev", "test") if part not in missing):
        figures |= _with_genres(_scored(encoder, datasets[name], ENGLISH), name)
    if missing:
        log.info("%s: STS Benchmark lacks %s", testsets, " and ".join(missing))
    else:
        parts = {part: datasets[name] for part, name in names.items()}
        figures |= _with_genres(_trained(encoder, parts), f"{names['test']} trained")
    return figures


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs with gold scores and, once they have one, a system's `score`; and the data sets they are of."""

    testsets: Path
    rows: pd.DataFrame
    data: Sequence[Data]

    def figures(self, name: str) -> Figures:
        scores, gold = self.rows.score.to_numpy(), self.rows.gold.to_numpy()
        return correlations(name, scores, gold, data=self.data, at=f"{self.testsets}: STS {name}")

    def vectors(self, encoder: Encoder, languages: tuple[str, str]) -> tuple[Vectors, Vectors]:
        """Vectors of both sentences, [n, d] each; an `InputError` if one is not finite."""
        name = f"{self.testsets}: STS {self.data[0].name}"
        sides = zip((self.rows.sentence1, self.rows.sentence2), languages, strict=True)
        first, second = (finite_vectors(encoder, list(side), language, name=name) for side, language in sides)
        return first, second


def _datasets(testsets: Path, year: str) -> dict[str, _Pairs]:
    """The data sets of a year by their names, such as `2012/MSRpar`, without the pairs that have no gold."""
    everything = read_testsets(testsets)
    found = {}
    for dataset, rows in everything[everything.year == year].groupby("dataset", sort=False):
        name, scored = f"{year}/{dataset}", rows.dropna(subset="gold")
        about = {"n": len(scored), "without_gold": len(rows) - len(scored)}
        data = Data(name=name, digest=content_digest(year, str(dataset), scored), about=about)
        found[name] = _Pairs(testsets, scored, [data])
    return found


def _scored(encoder: Encoder, pairs: _Pairs, languages: tuple[str, str]) -> _Pairs:
    scores = cosines(*pairs.vectors(encoder, languages))
    return _Pairs(pairs.testsets, pairs.rows.assign(score=scores), pairs.data)


def _joined(parts: Sequence[_Pairs]) -> _Pairs:
    return _Pairs(
        parts[0].testsets, pd.concat([part.rows for part in parts]), [part.data[0] for part in parts]
    )


def _with_genres(pairs: _Pairs, name: str) -> Figures:
    """The figures of all pairs, of captions, and of all other pairs, as far as there are any."""
    figures = pairs.figures(name)
    is_caption = pairs.rows.genre == CAPTION_GENRE
    for genre, rows in (("captions", pairs.rows[is_caption]), ("others", pairs.rows[~is_caption])):
        if len(rows):
            figures |= _Pairs(pairs.testsets, rows, pairs.data).figures(f"{name} {genre}")
    return figures


def _trained(encoder: Encoder, parts: Mapping[str, _Pairs]) -> _Pairs:
    """The test pairs of STS Benchmark, with scores that a trained network predicts from their vectors."""
    # Imported here: it takes seconds to import torch, and STS Benchmark alone needs it.
    from paraphrastic_pipeline.evaluation.networks import pair_features, predict_scores, toolkit_order

    at = f"{parts['test'].testsets}: STS {BENCHMARK}/test trained"
    ordered, features = {}, {}
    for part, pairs in parts.items():
        if len(pairs.rows) < MIN_PAIRS:
            raise InputError(
                f"{at}: part {part!r} has {len(pairs.rows)} pairs; at least {MIN_PAIRS} are needed"
            )
        rows = pairs.rows.iloc[toolkit_order(pairs.rows, pairs.rows.gold.to_numpy())]
        ordered[part] = _Pairs(pairs.testsets, rows, pairs.data)
        features[part] = pair_features(*ordered[part].vectors(encoder, ENGLISH))
    train, dev = ((features[part], ordered[part].rows.gold.to_numpy()) for part in ("train", "dev"))
    predicted, _ = predict_scores(train, dev, features["test"], at=at)
    scored = ordered["test"].rows.assign(score=predicted)
    return _Pairs(parts["test"].testsets, scored, [pairs.data[0] for pairs in parts.values()])
