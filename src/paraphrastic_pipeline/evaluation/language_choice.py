"""Which language to pair with English: how models' scores correlate with properties of the other language.

This is the study of Wieting et al. 2019, section 4.2: Table 5 and Figure 1.
"""

import io
import logging
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse, stats

from paraphrastic.base.arrays import Float64
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.quality.correlation import spearman
from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.figures import interval, resampled_correlations
from paraphrastic_pipeline.evaluation.results import Result, percent
from paraphrastic_pipeline.evaluation.system_tables import sts_cells

log = logging.getLogger(__name__)

# The kinds of distances in URIEL (Littell et al. 2017).
DISTANCES = ("featural", "syntactic", "genetic", "geographic", "phonological", "inventory")
ENGLISH = "eng"
# Codes of macrolanguages, and the single language that corpora are in. URIEL may not know a macrolanguage
# well: for Arabic as a whole, all geographic distances are 1.
_SINGLE = {
    "ara": "arb", "aze": "azj", "fas": "pes", "kur": "kmr", "mlg": "plt", "mon": "khk",
    "msa": "zsm", "sqi": "als", "swa": "swh", "uzb": "uzn", "yid": "ydd", "zho": "cmn",
}  # fmt: skip
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
# The names of the published columns: "language distance" in the paper is the featural distance.
PREDICTORS = {kind: "language_distance" if kind == "featural" else f"{kind}_distance" for kind in DISTANCES}


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

    The files of `measure_overlap` (`overlaps`) and of `evaluate_sts` (`sts`, and `prefixed` for the models
    with prefixed tokens, if there are any) are in the same order. `uriel` are the files of the data set with
    the distances, or none; `published` has the paper's figures.
    """
    languages = pd.DataFrame([read_json(path) for path in overlaps]).set_index("language")
    distances = pd.DataFrame(index=languages.index)
    if uriel:
        distances = distances_to_english(uriel, list(languages.index))
    results = {"shared": list(map(Result.read, sts)), "separate": list(map(Result.read, prefixed))}
    variants = [sts_cells(result, "prefixed") for result in results["separate"]] or [{} for _ in sts]
    rows = [
        {
            **variant,
            **sts_cells(result),
            "language": language.Index,
            "pairs": language.pairs,
            OVERLAP: f"{language.sp_overlap:.4f}",
            **distances.loc[str(language.Index)].dropna().map("{:g}".format),
        }
        for language, result, variant in zip(languages.itertuples(), results["shared"], variants, strict=True)
    ]
    write_csv(table, LANGUAGE_COLUMNS, rows)
    predictors = languages[[OVERLAP]].join(distances.rename(columns=PREDICTORS))
    found = _correlations(results, predictors, read_csv(published), bootstrap_samples)
    write_csv(correlations, CORRELATION_COLUMNS, found)


def distances_to_english(files: Sequence[Path], languages: Sequence[str]) -> pd.DataFrame:
    """Distances from English: a row for each language, a column for each kind, NaN for what URIEL lacks.

    The files are `distances2.zip` with the upper triangle of a sparse matrix for each kind, a list of its
    languages (`.txt`), and a table from two-letter to three-letter codes (`.json`); it is an `InputError` if
    one is missing or another one. `languages` are ISO 639 codes with two or three letters.
    """
    by_kind = {file.suffix: file for file in files}
    try:
        known = read_json(by_kind[".json"])
        codes = [known.get(language, language) for language in languages]
        order = [code.strip() for code in by_kind[".txt"].read_text(encoding="utf-8").split(",")]
        english, columns = order.index(ENGLISH), {}
        with zipfile.ZipFile(by_kind[".zip"]) as archive:
            for kind in DISTANCES:
                content = io.BytesIO(archive.read(f"{kind}_upper_round2_sparse.npz"))
                upper = sparse.triu(sparse.load_npz(content), 1, format="csr")
                columns[kind] = (upper[[english]] + upper[:, [english]].T).toarray()[0]
        table = pd.DataFrame(columns, index=order)
    except (OSError, ValueError, LookupError, AttributeError, zipfile.BadZipFile) as error:
        names = ", ".join(map(str, files))
        raise InputError(f"{names}: are not lang2vec's distances: {' '.join(str(error).split())}") from None
    found = table[~table.index.duplicated()].reindex([_SINGLE.get(code, code) for code in codes])
    return found.where(found >= 0).set_axis(list(languages))


def _correlations(
    results: Mapping[str, Sequence[Result]],
    predictors: pd.DataFrame,
    published: Sequence[Mapping[str, str]],
    samples: int,
) -> Iterator[dict[str, Any]]:
    """The rows of correlations by kind of embeddings, each below the paper's if all data are official."""
    is_official = all(result.data == "official" for scored in results.values() for result in scored)
    printed = {
        (row["embeddings"], row["languages"], predictor): figure
        for row in published
        for predictor, figure in row.items()
        if figure and is_official
    }
    overlap = predictors.sp_overlap
    members = (overlap == overlap, overlap <= THRESHOLD, overlap > THRESHOLD)
    for embeddings, scored in results.items():
        scores = np.array([result.measurements["pearson avg"].value for result in scored])
        subsets = zip(SUBSETS, members, strict=True) if scored else ()
        for (languages, among), (predictor, values) in product(subsets, predictors.items()):
            about = {"embeddings": embeddings, "languages": languages, "predictor": predictor}
            about["data"] = "official" if is_official else "sample"
            if figure := printed.get((embeddings, languages, str(predictor))):
                yield {**about, "source": "published", "spearman": figure}
            some = (among & values.notna()).to_numpy()
            name = f"{embeddings}, {languages}, {predictor}"
            cells = _correlation(values.to_numpy()[some], scores[some], name, samples)
            datasets = min(len(result.datasets) for result in scored)
            yield {**about, **cells, "source": "measured", "n": some.sum(), "datasets": datasets}


def _correlation(values: Float64, scores: Float64, name: str, samples: int) -> dict[str, str]:
    """The cells of a correlation; none if it is not defined."""
    try:
        rho = spearman(values, scores, name=name)
    except InputError as error:
        log.info("%s", error)
        return {}
    low, high = interval(resampled_correlations(values, scores, seed=name)["spearman"](samples))
    # All pairings are tried, or 9,999 random ones if there are more.
    ranks, of_scores = (stats.zscore(stats.rankdata(column)) for column in (values, scores))
    test = stats.permutation_test(
        (ranks,),
        lambda ranks, axis: (ranks * of_scores).mean(axis=axis),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(zlib.crc32(name.encode())),
    )
    return {"spearman": percent(rho), "low": percent(low), "high": percent(high), "p": f"{test.pvalue:.3f}"}
