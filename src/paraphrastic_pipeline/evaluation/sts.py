"""Semantic textual similarity: how well cosines agree with human judgements.

Each data set has the figures `pearson {name}` and `spearman {name}`. An `InputError` says if a data set is
missing or a correlation is not defined.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Encoder, Vectors, cosines, finite_vectors
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


class _Pairs(NamedTuple):
    """Pairs with gold scores and, once they have one, a system's `score`; and the data sets they are of."""

    name: str
    rows: pd.DataFrame
    data: Sequence[Data]

    def vectors(self, encoder: Encoder, languages: Sequence[str] = ("en", "en")) -> tuple[Vectors, Vectors]:
        """Vectors of both sentences, [n, d] each; an `InputError` if one is not finite."""
        sides = zip((self.rows.sentence1, self.rows.sentence2), languages, strict=True)
        first, second = (
            finite_vectors(encoder, list(side), language, name=f"STS {self.name}") for side, language in sides
        )
        return first, second

    def scored(self, encoder: Encoder, languages: Sequence[str] = ("en", "en")) -> "_Pairs":
        return self._replace(rows=self.rows.assign(score=cosines(*self.vectors(encoder, languages))))

    def figures(self) -> Figures:
        scores, gold = self.rows.score.to_numpy(), self.rows.gold.to_numpy()
        return correlations(self.name, scores, gold, data=self.data, at=f"STS {self.name}")

    def figures_by_genre(self) -> Figures:
        """The figures of all pairs, of captions, and of all other pairs, as far as there are any."""
        is_caption = self.rows.genre == CAPTION_GENRE
        figures = self.figures()
        for genre, rows in (("captions", self.rows[is_caption]), ("others", self.rows[~is_caption])):
            if len(rows):
                figures |= self._replace(name=f"{self.name} {genre}", rows=rows).figures()
        return figures


def _datasets(testsets: Path, year: str) -> dict[str, _Pairs]:
    """The data sets of a year by their names, such as `2012/MSRpar`, without the pairs that have no gold."""
    everything = read_testsets(testsets)
    found = {}
    for dataset, rows in everything[everything.year == year].groupby("dataset", sort=False):
        name, scored = f"{year}/{dataset}", rows.dropna(subset="gold")
        digest = content_digest(year, str(dataset), scored)
        data = Data(name=name, digest=digest, about={"n": len(scored)})
        found[name] = _Pairs(name, scored, [data])
    return found


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
        scored = {name: pairs.scored(encoder) for name, pairs in _datasets(testsets, year).items()}
        for pairs in scored.values():
            figures |= pairs.figures()
        joined = [pairs for name, pairs in scored.items() if name != "/".join(LICENSED)]
        rows, data = pd.concat([pairs.rows for pairs in joined]), [pairs.data[0] for pairs in joined]
        figures[f"spearman {year}"] = _Pairs(year, rows, data).figures()[f"spearman {year}"]
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
        if f"2017/{track}" not in datasets:
            raise InputError(f"{testsets}: STS 2017 has no track {track}; there are {', '.join(datasets)}")
        figures |= datasets[f"2017/{track}"].scored(encoder, TRACKS[track].languages).figures()
    return figures


def evaluate_benchmark(encoder: Encoder, testsets: Path) -> Figures:
    """Evaluate on STS Benchmark: `stsb/dev` and `stsb/test`, from the file of `prepare_sts`.

    Their parts are `stsb/test captions` and `stsb/test others` (Wieting and Gimpel 2018, section 6.5). If
    there are training and development data, there is also `stsb/test trained`, with the same two parts. Its
    scores are not cosines: a softmax over five scores predicts them from the vectors (`predict_scores`).
    """
    datasets = _datasets(testsets, BENCHMARK)
    parts = {part: datasets[name] for part in BENCHMARK_PARTS if (name := f"{BENCHMARK}/{part}") in datasets}
    if "test" not in parts:
        raise InputError(f"{testsets}: the archive of the STS test sets lacks STS Benchmark")
    figures: Figures = {}
    for pairs in (parts[part] for part in ("dev", "test") if part in parts):
        figures |= pairs.scored(encoder).figures_by_genre()
    if missing := [part for part in BENCHMARK_PARTS if part not in parts]:
        log.info("%s: STS Benchmark lacks %s", testsets, " and ".join(missing))
        return figures
    return figures | _trained(encoder, parts).figures_by_genre()


def _trained(encoder: Encoder, parts: Mapping[str, _Pairs]) -> _Pairs:
    """The test pairs of STS Benchmark, with scores that a trained network predicts from their vectors."""
    # Imported here: it takes seconds to import torch, and STS Benchmark alone needs it.
    from paraphrastic_pipeline.evaluation.networks import pair_features, predict_scores, toolkit_order

    ordered = {
        part: pairs._replace(rows=pairs.rows.iloc[toolkit_order(pairs.rows, pairs.rows.gold.to_numpy())])
        for part, pairs in parts.items()
    }
    labelled = {
        part: (pair_features(*pairs.vectors(encoder)), pairs.rows.gold.to_numpy())
        for part, pairs in ordered.items()
    }
    name, test = f"{BENCHMARK}/test trained", ordered["test"].rows
    features, _ = labelled["test"]
    predicted = predict_scores(labelled["train"], labelled["dev"], features, at=f"STS {name}")
    return _Pairs(name, test.assign(score=predicted), [pairs.data[0] for pairs in parts.values()])
