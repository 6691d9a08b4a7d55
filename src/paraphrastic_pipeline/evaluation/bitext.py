"""Finding translations with sentence vectors: nearest neighbours on Tatoeba, mining on BUCC."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.arrays import Bool, Float64, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic.neighbours.bitext import NEIGHBOURS, Margin, MinedPairs, best_pairs
from paraphrastic.neighbours.nearest import nearest_neighbours
from paraphrastic.quality.retrieval import unify
from paraphrastic_pipeline.evaluation.figures import Data, Figures, precision_recall_f1, share
from paraphrastic_pipeline.evaluation.other_sources import gold_digest
from paraphrastic_pipeline.evaluation.testsets import read_testsets, table_digest

# The scorings, under the names that they have in figures.
SCORINGS: dict[str, Margin] = {"cosine": "cosine", "margin": "ratio"}
# With fewer gold pairs than this, a share says nothing.
MIN_GOLD = 2


def evaluate_tatoeba(encoder: Encoder, testsets: Sequence[Path], *, languages: Sequence[str]) -> Figures:
    """Measure how often a sentence's nearest neighbour is not its translation, as LASER does.

    Neighbours are found by cosine (Artetxe and Schwenk 2019). The figure `error de-en` is the share of
    German sentences whose nearest English sentence is on another line, and `error en-de` the reverse.
    `error de` repeats `error de-en`: Table 4 of Wieting et al. (2021) compares with figures in this
    direction. If two lines have the same text, at least one of them is an error. Each data set counts its
    pairs, and those of their sentences that repeat an earlier line's, on either side.

    Args:
        encoder: the encoder.
        testsets: Parquet files of `prepare_tatoeba`.
        languages: the language of each of them.

    Raises:
        InputError: a vector is not finite.
    """
    figures: Figures = {}
    for language, path in zip(languages, testsets, strict=True):
        pairs = read_testsets(path)[["sentence", "english"]]
        repeated = {column: len(pairs) - pairs[column].nunique() for column in pairs}
        about = {"n": len(pairs), "repeated": repeated}
        data = Data(name=language, digest=table_digest(pairs), about=about)
        x, y = (
            finite_vectors(encoder, side, code, name=f"Tatoeba {language}-en")
            for side, code in ((list(pairs.sentence), language), (list(pairs.english), "en"))
        )
        names = f"error {language}-en", f"error en-{language}"
        for name, neighbours in zip(names, nearest_neighbours(x, y, 1), strict=True):
            errors = neighbours.indices[:, 0] != np.arange(len(pairs))
            figures[name] = share(errors, seed=f"tatoeba {language}", data=[data])
        figures[f"error {language}"] = figures[names[0]]
    return figures


def evaluate_bucc(
    encoder: Encoder,
    testsets: Sequence[Path],
    gold: Sequence[Path],
    *,
    pairs: Sequence[str],
    threads: int = 1,
) -> Figures:
    """Mine each pair of languages as LASER does, and compare with the gold standard.

    Each pair and scoring has the figures `precision de-en margin`, `recall de-en margin` and `f1 de-en
    margin`. Their threshold gives the highest F1 on the same gold standard, because the gold standard of the
    test data is not published (Wieting et al. 2019, Table 3, and Schwenk 2018, with the scoring `cosine`).
    Sentences with the same text count as one, in the gold standard too. For the intervals, source sentences
    are resampled, and thresholds stay fixed. Each data set has counts, and thresholds by scoring.

    Args:
        encoder: the encoder.
        testsets: Parquet files with the sentences of `prepare_bucc`.
        gold: Parquet files with the gold pairs, in the same order; official data are recognized by them.
        pairs: the languages of each of them, such as de-en.
        threads: number of CPU threads.

    Raises:
        InputError: there are too few gold pairs, or a vector is not finite.
    """
    figures: Figures = {}
    for pair, sentences, standard in zip(pairs, testsets, gold, strict=True):
        bitext = _Bitext.read(pair, sentences, standard)
        x, y = (
            finite_vectors(encoder, texts, language, name=f"BUCC {pair}")
            for texts, language in zip(bitext.texts, pair.split("-"), strict=True)
        )
        neighbours = nearest_neighbours(x, y, NEIGHBOURS, threads=threads)
        del x, y  # large, and no longer needed
        mined = {scoring: best_pairs(*neighbours, margin) for scoring, margin in SCORINGS.items()}
        thresholds = {scoring: bitext.best_threshold(found) for scoring, found in mined.items()}
        counts = {scoring: bitext.counts(mined[scoring], thresholds[scoring]) for scoring in SCORINGS}
        scorings = {
            scoring: {
                "threshold": thresholds[scoring],
                "candidates": len(mined[scoring].scores),
                "accepted": int(counted[:, 1].sum()),
                "correct": int(counted[:, 0].sum()),
            }
            for scoring, counted in counts.items()
        }
        data = Data(
            name=pair,
            digest=bitext.digest,
            recognized_by=bitext.gold_digest,
            about={**bitext.about, "scorings": scorings},
        )
        for scoring, counted in counts.items():
            found = precision_recall_f1(counted, seed=f"bucc {pair}", data=[data])
            figures |= {f"{kind} {pair} {scoring}": figure for kind, figure in found.items()}
    return figures


@dataclass(frozen=True, slots=True)
class _Bitext:
    """The distinct sentences of two languages, and the gold pairs as numbers made from their indices."""

    texts: Sequence[Sequence[str]]
    gold: Int64
    digest: str
    gold_digest: str
    about: dict[str, Any]

    @classmethod
    def read(cls, pair: str, sentences: Path, gold: Path) -> "_Bitext":
        everything, standard = read_testsets(sentences), read_testsets(gold)
        texts, ends, counts = [], [], []
        for language, ids in zip(pair.split("-"), (standard.source, standard.target), strict=True):
            side = everything[everything.language == language]
            distinct, indices = unify(side.sentence)
            index_of = dict(zip(side.id, indices.tolist(), strict=True))
            texts.append(distinct)
            ends.append(np.array([index_of[key] for key in ids], np.int64))
            counts.append((language, len(side), len(distinct)))
        numbers = np.unique(ends[0] * len(texts[1]) + ends[1])
        if len(numbers) < MIN_GOLD:
            raise InputError(
                f"BUCC {pair}: there are {len(numbers)} gold pairs; at least {MIN_GOLD} are needed"
            )
        about = {
            "sentences": {language: count for language, count, _ in counts},
            "distinct": {language: count for language, _, count in counts},
            "gold": len(standard),
            "distinct_gold": len(numbers),
        }
        known_by = gold_digest(zip(standard.source, standard.target, strict=True))
        return cls(texts, numbers, table_digest(everything, standard), known_by, about)

    def correct(self, mined: MinedPairs) -> Bool:
        """Which of the mined pairs are gold, [p]."""
        return np.isin(mined.sources * len(self.texts[1]) + mined.targets, self.gold)

    def best_threshold(self, mined: MinedPairs) -> float:
        """The threshold with the highest F1; see `best_threshold`."""
        return best_threshold(mined.scores, self.correct(mined), len(self.gold))

    def counts(self, mined: MinedPairs, threshold: float) -> Float64:
        """The pairs of each source sentence that are accepted and gold, accepted, and gold, [n, 3]."""
        accepted = mined.scores >= threshold
        n = len(self.texts[0])
        of_sources = (
            mined.sources[accepted & self.correct(mined)],
            mined.sources[accepted],
            self.gold // len(self.texts[1]),
        )
        counts = [np.bincount(sources, minlength=n) for sources in of_sources]
        return np.stack(counts, axis=1).astype(np.float64)


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
