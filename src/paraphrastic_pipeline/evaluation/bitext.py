"""Finding translations with sentence vectors: nearest neighbours on Tatoeba, mining on BUCC."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic.neighbours.bitext import NEIGHBOURS, Margin, best_pairs
from paraphrastic.neighbours.nearest import nearest_neighbours
from paraphrastic.quality.retrieval import unify
from paraphrastic.quality.thresholds import Thresholds
from paraphrastic_pipeline.evaluation.figures import Data, Figures, precision_recall_f1, share
from paraphrastic_pipeline.evaluation.testsets import gold_digest, read_testsets, table_digest

# The scorings, under the names that they have in figures.
SCORINGS: dict[str, Margin] = {"cosine": "cosine", "margin": "ratio"}


def evaluate_tatoeba(encoder: Encoder, testsets: Sequence[Path], *, languages: Sequence[str]) -> Figures:
    """Measure how often a sentence's nearest neighbour is not its translation, as LASER does.

    Neighbours are found by cosine (Artetxe and Schwenk 2019). The figure `error de-en` is the share of
    German sentences whose nearest English sentence is on another line, and `error en-de` the reverse.
    `error de` repeats `error de-en`: Table 4 of Wieting et al. (2021) compares with figures in this
    direction. If two lines have the same text, at least one of them is an error.

    `testsets` are Parquet files of `prepare_tatoeba`, in these `languages`.
    """
    figures: Figures = {}
    for language, path in zip(languages, testsets, strict=True):
        pairs = read_testsets(path)[["sentence", "english"]]
        data = Data(name=language, digest=table_digest(pairs), about={"n": len(pairs)})
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
    are resampled, and thresholds stay fixed. Each data set has thresholds by scoring.

    `testsets` and `gold` are Parquet files of `prepare_bucc` for these `pairs`, such as de-en; the
    digest of a data set is that of its gold pairs.
    """
    figures: Figures = {}
    for pair, sentences, standard in zip(pairs, testsets, gold, strict=True):
        figures |= _mined(encoder, pair, sentences, standard, threads)
    return figures


def _mined(encoder: Encoder, pair: str, sentences: Path, gold: Path, threads: int) -> Figures:
    """The figures of a pair of languages."""
    everything, standard = read_testsets(sentences), read_testsets(gold)
    languages = pair.split("-")
    counts, texts, ends = {}, {}, []
    for language, ids in zip(languages, (standard.source, standard.target), strict=True):
        side = everything[everything.language == language]
        texts[language], indices = unify(side.sentence)
        index_of = dict(zip(side.id, indices.tolist(), strict=True))
        ends.append(np.array([index_of[key] for key in ids], np.int64))
        counts[language] = len(side)
    n, m = map(len, texts.values())
    # A pair of sentences is a number, made from their indices.
    wanted = np.unique(ends[0] * m + ends[1])
    x, y = (finite_vectors(encoder, texts[code], code, name=f"BUCC {pair}") for code in languages)
    neighbours = nearest_neighbours(x, y, NEIGHBOURS, threads=threads)
    del x, y  # large, and no longer needed
    scorings, of_sources = {}, {}
    for scoring, margin in SCORINGS.items():
        mined = best_pairs(*neighbours, margin)
        right = np.isin(mined.sources * m + mined.targets, wanted)
        best = Thresholds(mined.scores, right, len(wanted)).best()
        threshold = best.threshold if best else 0.0
        accepted = mined.scores >= threshold
        sources = (mined.sources[accepted & right], mined.sources[accepted], wanted // m)
        counted = [np.bincount(rows, minlength=n) for rows in sources]
        of_sources[scoring] = np.stack(counted, axis=1, dtype=np.float64)
        scorings[scoring] = {"threshold": threshold}
    data = Data(
        name=pair,
        digest=gold_digest(zip(standard.source, standard.target, strict=True)),
        about={"sentences": counts, "gold": len(standard), "scorings": scorings},
    )
    return {
        f"{kind} {pair} {scoring}": figure
        for scoring, pairs in of_sources.items()
        for kind, figure in precision_recall_f1(pairs, seed=f"bucc {pair}", data=[data]).items()
    }
