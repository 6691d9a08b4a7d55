"""Which language to pair with English: how models' scores correlate with properties of the other language.

This is the study of Wieting et al. 2019, section 4.2: Table 5 and Figure 1.
"""

import logging
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from paraphrastic.base.arrays import Float64
from paraphrastic.base.files import read_json
from paraphrastic.quality.correlation import spearman
from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.figures import bootstrap, interval, row_spearman
from paraphrastic_pipeline.evaluation.percentages import percent
from paraphrastic_pipeline.evaluation.system_tables import sts_cells
from paraphrastic_pipeline.evaluation.uriel import DISTANCES, distances_to_english

log = logging.getLogger(__name__)

OVERLAP = "sp_overlap"
LANGUAGE_COLUMNS = [
    "system", "source", "data", "language", "pairs", OVERLAP, *DISTANCES,
    "sts", "sts_low", "sts_high", "prefixed", "prefixed_low", "prefixed_high",
]  # fmt: skip
CORRELATION_COLUMNS = [
    "source", "data", "embeddings", "languages", "predictor", "n", "spearman", "low", "high", "p", "datasets",
]  # fmt: skip
# The paper splits the languages at "approximately 0.3", where its plot suggests two groups.
THRESHOLD = 0.3
# The names in the paper's Table 5.
SUBSETS = ("All Lang.", "Lang. (SP Ovl. ≤ 0.3)", "Lang. (SP Ovl. > 0.3)")
MIN_LANGUAGES = 3
# The names of the published columns: "language distance" in the paper is the featural distance.
PREDICTORS = {kind: "language_distance" if kind == "featural" else f"{kind}_distance" for kind in DISTANCES}
# Largest number of pairings of a permutation test; if there are more, random ones are drawn.
_PERMUTATIONS = 9999


def tabulate_language_choice(
    overlaps: Sequence[Path],
    sts: Sequence[Path],
    prefixed: Sequence[Path],
    uriel: Sequence[Path],
    published: Path,
    table: Path,
    correlations: Path,
    *,
    bootstrap_samples: int,
) -> None:
    """Write a row for each language, and Spearman's correlations over the languages.

    `table` has the overlap of the pieces, from 0 to 1; the distances from English, from 0 to 1 or empty if
    URIEL has none; and the average Pearson's r × 100 on STS 2012–2016 with its 95 % interval over test pairs.

    `correlations` compares each predictor with that average. `embeddings` is `shared` for models in which
    pieces spelled alike share an embedding, and `separate` for models with prefixed tokens. The rows cover
    all languages, those with an overlap up to 0.3, and those above. They give ρ × 100, its 95 % interval by
    the bootstrap over languages, and the probability p of a ρ at least as far from 0 under random pairing.
    These cells are empty for fewer than three languages, or if the predictor or the score is constant.
    `datasets` counts the data sets of STS that are in all averages.
    The paper's figures precede the measured ones if all test data are official.

    Args:
        overlaps: JSON files of `measure_overlap`, one per language.
        sts: JSON files of `evaluate_sts`, in the same order.
        prefixed: JSON files of `evaluate_sts` for the models with prefixed tokens, in the same order; empty
            if there are no such models.
        uriel: files of the data set with the distances; if empty, distances are left out.
        published: CSV file of the paper's figures.
        table: the CSV file with the languages.
        correlations: the CSV file with the correlations.
        bootstrap_samples: resamples of the languages.
    """
    languages = pd.DataFrame([read_json(path) for path in overlaps]).set_index("language", drop=False)
    distances = pd.DataFrame(index=languages.index)
    if uriel:
        distances = distances_to_english(uriel, list(languages.index))
    cells = [sts_cells(path) for path in sts]
    if prefixed:
        cells = [sts_cells(path, "prefixed") | cell for path, cell in zip(prefixed, cells, strict=True)]
    rows = [
        {
            **cell,
            "language": language.language,
            "pairs": language.pairs,
            OVERLAP: f"{language.sp_overlap:.4f}",
            **distances.loc[str(language.Index)].dropna().map("{:g}".format),
        }
        for language, cell in zip(languages.itertuples(), cells, strict=True)
    ]
    write_csv(table, LANGUAGE_COLUMNS, rows)
    predictors = languages[[OVERLAP]].join(distances.rename(columns=PREDICTORS))
    files = {"shared": sts, "separate": prefixed}
    results = {name: list(map(read_json, paths)) for name, paths in files.items() if paths}
    write_csv(
        correlations, CORRELATION_COLUMNS, _with_published(results, predictors, published, bootstrap_samples)
    )


def _with_published(
    results: Mapping[str, Sequence[Mapping[str, Any]]],
    predictors: pd.DataFrame,
    published: Path,
    samples: int,
) -> Iterator[dict[str, Any]]:
    """The rows of correlations by kind of embeddings, each below the paper's if all data are official."""
    is_official = all(result["data"] == "official" for scored in results.values() for result in scored)
    printed = {
        (row["embeddings"], row["languages"], predictor): figure
        for row in (read_csv(published) if is_official else ())
        for predictor, figure in row.items()
        if figure
    }
    for embeddings, scored in results.items():
        scores = np.array([result["measurements"]["pearson avg"]["value"] for result in scored])
        datasets = min(len(result["datasets"]) for result in scored)
        about = {"embeddings": embeddings, "data": "official" if is_official else "sample"}
        for row in _correlations(predictors, scores, embeddings, samples):
            named = {key: row[key] for key in ("languages", "predictor")}
            if figure := printed.get((embeddings, *named.values())):
                yield {**about, **named, "source": "published", "spearman": figure}
            yield {**about, **row, "source": "measured", "datasets": datasets}


def _correlations(
    predictors: pd.DataFrame, scores: Float64, embeddings: str, samples: int
) -> Iterator[dict[str, Any]]:
    overlap = predictors.sp_overlap
    members = (overlap == overlap, overlap <= THRESHOLD, overlap > THRESHOLD)
    for languages, among in zip(SUBSETS, members, strict=True):
        for predictor, values in predictors.items():
            some = (among & values.notna()).to_numpy()
            name = f"{embeddings}, {languages}, {predictor}"
            correlation = _correlation(values.to_numpy()[some], scores[some], name, samples)
            yield {"languages": languages, "predictor": predictor, "n": int(some.sum()), **correlation}


def _correlation(values: Float64, scores: Float64, name: str, samples: int) -> dict[str, str]:
    """The cells of a correlation; none if it is not defined."""
    if len(values) < MIN_LANGUAGES:
        log.info("%s: no correlation over %d languages; %d are needed", name, len(values), MIN_LANGUAGES)
        return {}
    for what, same in (("predictor", values), ("score", scores)):
        if np.ptp(same) == 0:
            log.info("%s: no correlation: the %s is %g for all %d languages", name, what, same[0], len(same))
            return {}
    low, high = interval(bootstrap(row_spearman, values, scores, seed=name)(samples))
    return {
        "spearman": percent(spearman(values, scores, name=name)),
        "low": percent(low),
        "high": percent(high),
        "p": f"{permutation_p(values, scores, name=name):.3f}",
    }


def permutation_p(x: Float64, y: Float64, *, name: str) -> float:
    """Two-sided p of a permutation test of Spearman's ρ between x and y, [n] each.

    All pairings are tried, or 9,999 random ones, seeded by `name`, if there are more.
    """
    ranks, others = (stats.zscore(stats.rankdata(values)) for values in (x, y))
    result = stats.permutation_test(
        (ranks,),
        lambda ranks, axis: (ranks * others).mean(axis=axis),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=_PERMUTATIONS,
        rng=np.random.default_rng(zlib.crc32(name.encode())),
    )
    return float(result.pvalue)
