"""Finding translations with sentence vectors: nearest neighbours on Tatoeba, mining on BUCC."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paraphrastic.base.arrays import Bool, Float32, Float64, Int64, unit_rows
from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic.neighbours.bitext import NEIGHBOURS, Margin, MinedPairs, best_pairs
from paraphrastic.neighbours.nearest import nearest_neighbours
from paraphrastic.quality.retrieval import unify
from paraphrastic_pipeline.evaluation.measurement import Measurement, precision_recall_f1, share
from paraphrastic_pipeline.evaluation.other_sources import gold_digest
from paraphrastic_pipeline.evaluation.results import Evaluation
from paraphrastic_pipeline.evaluation.testsets import read_testsets, table_digest

# The scorings, under the names that they have in measurements.
SCORINGS: dict[str, Margin] = {"cosine": "cosine", "margin": "ratio"}
# With fewer gold pairs than this, a share says nothing.
MIN_GOLD = 2
_ROUNDING = 1e-6
_BLOCK = 4096


def evaluate_tatoeba(evaluation: Evaluation, testsets: Sequence[Path], *, languages: Sequence[str]) -> None:
    """Measure how often a sentence's nearest neighbour is not its translation, as LASER does.

    Neighbours are found by cosine (Artetxe and Schwenk 2019). The measurement `error de-en` is the share of
    German sentences whose nearest English sentence is on another line, and `error en-de` the reverse.
    `error de` repeats `error de-en`: Table 4 of Wieting et al. (2021) compares with figures in this
    direction. If two lines have the same text, at least one of them is an error.

    In the result, `languages` gives for each language the number of pairs, how many of their sentences
    repeat an earlier line's (on either side), and whether the pairs are official.

    Args:
        evaluation: the encoder and its settings; the official digests are keyed by language.
        testsets: Parquet files of `prepare_tatoeba`.
        languages: the language of each of them.

    Raises:
        InputError: a damaged test set; vectors that are not finite or all the same.
    """
    encoder = evaluation.encoder
    digests = evaluation.official_digests()
    measurements: dict[str, Measurement] = {}
    about = {}
    for language, path in zip(languages, testsets, strict=True):
        pairs = read_testsets(path)[["sentence", "english"]]
        texts = pairs["sentence"].to_list(), pairs["english"].to_list()
        x, y = _vectors(encoder, texts, (language, "en"), name=f"Tatoeba {language}-en")
        digest = table_digest(pairs)
        for name, neighbours in zip(
            (f"{language}-en", f"en-{language}"), nearest_neighbours(x, y, 1), strict=True
        ):
            measurements[f"error {name}"] = share(
                neighbours.indices[:, 0] != np.arange(len(pairs)),
                name=f"tatoeba {language}",
                digest=digest,
                samples=evaluation.bootstrap_samples,
                higher_is_better=False,
            )
        measurements[f"error {language}"] = measurements[f"error {language}-en"]
        about[language] = {
            "n": len(pairs),
            "repeated": {column: len(pairs) - pairs[column].nunique() for column in pairs.columns},
            "official": digests.get(language) == digest,
        }
    evaluation.write("tatoeba", measurements, about, languages=about)


def _vectors(
    encoder: Encoder, texts: Sequence[Sequence[str]], languages: Sequence[str], *, name: str
) -> Iterator[Float32]:
    """The vectors of each side of the test set `name`, [n, dim].

    Raises:
        InputError: a vector is not finite, or all sentences of a side have the same direction.
    """
    for sentences, language in zip(texts, languages, strict=True):
        vectors = finite_vectors(encoder, sentences, language, name=name)
        first = unit_rows(vectors[:1])
        # Equal vectors can differ by the rounding of single precision.
        bound = _ROUNDING * float(np.abs(first).max())
        blocks = (vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK))
        if len(vectors) > 1 and all(np.abs(unit_rows(block) - first).max() <= bound for block in blocks):
            raise InputError(f"{encoder.label}: {name}: all sentences in {language} have the same direction")
        yield vectors


def evaluate_bucc(
    evaluation: Evaluation, testsets: Sequence[Path], gold: Sequence[Path], *, pairs: Sequence[str]
) -> None:
    """Mine each pair of languages as LASER does, and compare with the gold standard.

    Each pair and scoring has the measurements `precision de-en margin`, `recall de-en margin` and `f1 de-en
    margin`. Their threshold gives the highest F1 on the same gold standard, because the gold standard of the
    test data is not published (Wieting et al. 2019, Table 3, and Schwenk 2018, with the scoring `cosine`).

    Sentences with the same text count as one, in the gold standard too. For the intervals, source sentences
    are resampled, and thresholds stay fixed.

    In the result, `pairs` has thresholds and counts by pair and scoring; `datasets` describes each pair's
    data.

    Args:
        evaluation: the encoder and its settings; the official digests, of the gold pairs alone, are
            keyed by pair.
        testsets: Parquet files with the sentences of `prepare_bucc`.
        gold: Parquet files with the gold pairs, in the same order.
        pairs: the languages of each of them, such as de-en.

    Raises:
        InputError: a damaged test set; vectors that are not finite or all the same.
    """
    encoder = evaluation.encoder
    digests = evaluation.official_digests()
    measurements: dict[str, Measurement] = {}
    scorings: dict[str, dict[str, Any]] = {}
    datasets = {}
    for pair, *paths in zip(pairs, testsets, gold, strict=True):
        data = _Data(pair, *map(read_testsets, paths))
        x, y = _vectors(encoder, data.texts, data.languages, name=f"BUCC {pair}")
        neighbours = nearest_neighbours(x, y, NEIGHBOURS, threads=evaluation.threads)
        del x, y  # large, and no longer needed
        scorings[pair] = {}
        for scoring, margin in SCORINGS.items():
            mined = best_pairs(*neighbours, margin)
            tuned = _tuned(data, mined, f"{pair} {scoring}", evaluation.bootstrap_samples)
            scorings[pair][scoring], figures = tuned
            measurements |= figures
        datasets[pair] = {**data.about, "official": digests.get(pair) == data.gold_digest}
    evaluation.write("bucc", measurements, datasets, pairs=scorings, datasets=datasets)


class _Data:
    """The distinct sentences of two languages, and the gold pairs as numbers made from their indices."""

    def __init__(self, pair: str, sentences: pd.DataFrame, gold: pd.DataFrame) -> None:
        self.pair = pair
        self.languages = pair.split("-")
        self.digest = table_digest(sentences, gold)
        self.gold_digest = gold_digest(zip(gold["source"], gold["target"], strict=True))
        sides = [sentences[sentences["language"] == language] for language in self.languages]
        unified = [unify(side["sentence"].to_list()) for side in sides]
        self.texts = [texts for texts, _ in unified]
        ends = []
        for side, (_, indices), column in zip(sides, unified, ("source", "target"), strict=True):
            index_of = dict(zip(side["id"], indices.tolist(), strict=True))
            ends.append(np.array([index_of[key] for key in gold[column]], np.int64))
        self.gold = np.unique(self.keys(*ends))
        if len(self.gold) < MIN_GOLD:
            raise InputError(
                f"BUCC {pair}: there are {len(self.gold)} gold pairs; at least {MIN_GOLD} are needed"
            )
        self.about = {
            "sentences": dict(zip(self.languages, map(len, sides), strict=True)),
            "distinct": dict(zip(self.languages, map(len, self.texts), strict=True)),
            "gold": len(gold),
            "distinct_gold": len(self.gold),
            "digest": self.digest,
        }

    def keys(self, sources: Int64, targets: Int64) -> Int64:
        """One number for each pair."""
        return sources * len(self.texts[1]) + targets


def _tuned(
    data: _Data, pairs: MinedPairs, name: str, samples: int
) -> tuple[dict[str, Any], dict[str, Measurement]]:
    """The best thresholds of mined pairs with counts, for the result, and the figures at these thresholds."""
    n = len(data.texts[0])
    correct = np.isin(data.keys(pairs.sources, pairs.targets), data.gold)
    gold = np.bincount(data.gold // len(data.texts[1]), minlength=n)

    def counts(accepted: Bool) -> Float64:
        hits = np.bincount(pairs.sources[accepted & correct], minlength=n)
        of_sources = [hits, np.bincount(pairs.sources[accepted], minlength=n), gold]
        return np.stack(of_sources, axis=1).astype(np.float64)

    threshold = best_threshold(pairs.scores, correct, len(data.gold))
    counted = counts(pairs.scores >= threshold)
    measure = partial(precision_recall_f1, name=f"bucc {data.pair}", digest=data.digest, samples=samples)
    measurements = {f"{kind} {name}": figure for kind, figure in measure(counted).items()}
    about = {
        "threshold": threshold,
        "candidates": len(pairs.scores),
        "accepted": int(counted[:, 1].sum()),
        "correct": int(counted[:, 0].sum()),
    }
    return about, measurements


def best_threshold(scores: Float64, correct: Bool, n_gold: int) -> float:
    """The threshold with the highest F1, half-way between the last accepted score and the next one.

    The mined pairs have descending scores [p], some are correct [p], and `n_gold` pairs are gold, mined or
    not. Pairs with the same score are accepted or rejected together. If several thresholds have the same F1,
    the highest is returned; if there are no pairs, 0.
    """
    if not len(scores):
        return 0.0
    f1 = 2 * np.cumsum(correct) / (np.arange(1, len(scores) + 1) + n_gold)
    ends = np.flatnonzero(np.append(scores[1:] < scores[:-1], True))
    last = int(ends[f1[ends].argmax()])
    between = float(scores[last : last + 2].mean())
    # The mean of two adjacent floating-point numbers is one of the two.
    return between if last + 1 < len(scores) and between > scores[last + 1] else float(scores[last])
