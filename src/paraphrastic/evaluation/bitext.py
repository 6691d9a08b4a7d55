"""Translations found by their vectors: Tatoeba's by the nearest neighbour, and BUCC's by mining."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.evaluation.bootstrap import bootstrap_sums
from paraphrastic.evaluation.results import Measurement, Source, share, write_result
from paraphrastic.evaluation.testsets import read_testsets, table_digest
from paraphrastic.model.system import System
from paraphrastic.neighbours.bitext import NEIGHBOURS, Margin, MinedPairs, best_pairs, embed_entries, unify
from paraphrastic.neighbours.kernels import Entries
from paraphrastic.neighbours.nearest import nearest_neighbours

Bool = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

# Ways of scoring by the names that figures have.
SCORINGS: dict[str, Margin] = {"cosine": "cosine", "margin": "ratio"}
# Gold pairs below which no share is worth its name.
MIN_GOLD = 2
_ROUNDING = 1e-6
_BLOCK = 4096


def evaluate_tatoeba(
    encoder: System,
    testsets: Mapping[str, Path],
    result: Path,
    *,
    official: Path,
    source: Source,
    bootstrap_samples: int,
) -> None:
    """Evaluate as LASER does (Artetxe and Schwenk 2019): the nearest neighbour by cosine on the other side.

    Measurements: `error de-en`, where a German sentence's nearest English one is not that of its line;
    `error en-de`; and `error de`, which is the first one again, the direction of the figures that Wieting et
    al. (2021), Table 4, compares with. Lines count, not texts: of two lines with the same sentence, at least
    one is an error.

    Args:
        encoder: the system.
        testsets: Parquet files of `prepare_tatoeba`, by language.
        result: the JSON file, see `write_result`; `languages` says of each language how many pairs there
            are, how many of them have a sentence, or an English one, that an earlier line has, and whether
            they are official.
        official: JSON file with the digests of the official test sets, by language.
        source: whether the system was trained.
        bootstrap_samples: resamples of each language's pairs, for the intervals.

    Raises:
        InputError: there is no test set, or a damaged one; vectors that are not finite, or the same for all
            sentences.
    """
    if not testsets:
        raise InputError(f"{encoder.label}: there is no test set of Tatoeba in its languages")
    digests = read_json(official)
    measurements: dict[str, Measurement] = {}
    languages = {}
    for language, path in testsets.items():
        pairs = read_testsets(path).select("sentence", "english")
        texts = pairs["sentence"].to_list(), pairs["english"].to_list()
        x, y = _entries(encoder, texts, (language, "en"), name=f"Tatoeba {language}-en")
        digest = table_digest(pairs)
        for name, neighbours in zip(
            (f"{language}-en", f"en-{language}"), nearest_neighbours(x, y, 1), strict=True
        ):
            measurements[f"error {name}"] = share(
                neighbours.indices[:, 0] != np.arange(len(pairs)),
                name=f"tatoeba {language}",
                digest=digest,
                samples=bootstrap_samples,
                higher_is_better=False,
            )
        measurements[f"error {language}"] = measurements[f"error {language}-en"]
        languages[language] = {
            "n": len(pairs),
            "repeated": {column: len(pairs) - pairs[column].n_unique() for column in pairs.columns},
            "official": digests.get(language) == digest,
        }
    write_result(
        result,
        encoder,
        measurements,
        task="tatoeba",
        source=source,
        official=all(about["official"] for about in languages.values()),
        details={"languages": languages},
    )


def _entries(
    encoder: System, texts: Sequence[Sequence[str]], languages: Sequence[str], *, name: str
) -> Iterator[Entries]:
    """The vectors of each side of the test set `name`, as `embed_entries` scales them, [n, dim].

    Raises:
        InputError: a vector is not finite, or all sentences of a side have the same direction.
    """
    for sentences, language in zip(texts, languages, strict=True):
        entries = embed_entries(encoder, sentences, language, name=name)
        first = entries[0].astype(np.float32)
        # Single precision rounds.
        bound = _ROUNDING * float(np.abs(first).max())
        blocks = (entries[start : start + _BLOCK] for start in range(0, len(entries), _BLOCK))
        if len(entries) > 1 and all(float(np.abs(block - first).max()) <= bound for block in blocks):
            raise InputError(f"{encoder.label}: {name}: all sentences in {language} have the same direction")
        yield entries


def evaluate_bucc(
    encoder: System,
    testsets: Mapping[str, tuple[Path, Path]],
    result: Path,
    *,
    official: Path,
    source: Source,
    bootstrap_samples: int,
    threads: int = 1,
) -> None:
    """Mine each pair of languages as LASER does, and compare with the gold standard.

    Measurements of a pair and a scoring: `precision de-en margin`, `recall de-en margin` and `f1 de-en
    margin`, where the threshold is the one of the highest F1 on the same gold standard, since that of the
    test data is not published (Wieting et al. 2019, Table 3, and Schwenk 2018, with the scoring `cosine`);
    and `f1 de-en margin held-out`, where the pairs of each half of the source sentences are accepted by the
    threshold of the other half.

    Sentences with the same text are one sentence, in the gold standard too. Resamples, for the intervals, are
    of the source sentences; thresholds stay as they are.

    Args:
        encoder: the system.
        testsets: by pair, such as de-en, both Parquet files of `prepare_bucc`.
        result: the JSON file, see `write_result`; `pairs` has the thresholds and counts by pair and scoring,
            `datasets` what each pair's data are.
        official: JSON file with the digests of the official data, by pair.
        source: whether the system was trained.
        bootstrap_samples: resamples.
        threads: of the processor.

    Raises:
        InputError: there is no test set, or a damaged one; vectors that are not finite, or the same for all
            sentences.
    """
    if not testsets:
        raise InputError(f"{encoder.label}: there is no test set of BUCC in its languages")
    digests = read_json(official)
    measurements: dict[str, Measurement] = {}
    scorings: dict[str, dict[str, Any]] = {}
    datasets = {}
    for pair, paths in testsets.items():
        data = _Data(pair, *(read_testsets(path) for path in paths))
        x, y = _entries(encoder, data.texts, data.languages, name=f"BUCC {pair}")
        found = nearest_neighbours(x, y, NEIGHBOURS, threads=threads)
        del x, y  # not needed any more, and large
        scorings[pair] = {}
        for scoring, margin in SCORINGS.items():
            tuned = _Tuned(data, best_pairs(*found, margin))
            scorings[pair][scoring] = tuned.about()
            measurements |= tuned.measurements(scoring, bootstrap_samples)
        datasets[pair] = {**data.about(), "official": digests.get(pair) == data.digest}
    write_result(
        result,
        encoder,
        measurements,
        task="bucc",
        source=source,
        official=all(dataset["official"] for dataset in datasets.values()),
        details={"pairs": scorings, "datasets": datasets},
    )


class _Data:
    """Sentences of two languages, the same text once, and the gold pairs by the sentences' indices."""

    def __init__(self, pair: str, sentences: pl.DataFrame, gold: pl.DataFrame) -> None:
        self.pair = pair
        self.languages = tuple(pair.split("-"))
        self.digest = table_digest(sentences, gold)
        self.lines, self.texts = [], []
        ends = []
        for language, column in zip(self.languages, ("source", "target"), strict=True):
            side = sentences.filter(language=language)
            texts, indices = unify(side["sentence"])
            index_of = dict(zip(side["id"], indices.tolist(), strict=True))
            self.lines.append(len(side))
            self.texts.append(texts)
            ends.append(np.array([index_of[key] for key in gold[column]], np.int64))
        self.gold_lines = len(gold)
        self.gold = np.unique(self.keys(*ends))
        if len(self.gold) < MIN_GOLD:
            raise InputError(
                f"BUCC {pair}: there are {len(self.gold)} gold pairs, at least {MIN_GOLD} are needed"
            )

    def keys(self, sources: Int64, targets: Int64) -> Int64:
        """One number for each pair."""
        return sources * len(self.texts[1]) + targets

    def about(self) -> dict[str, Any]:
        """What the data are."""
        return {
            "sentences": dict(zip(self.languages, self.lines, strict=True)),
            "distinct": dict(zip(self.languages, map(len, self.texts), strict=True)),
            "gold": self.gold_lines,
            "distinct_gold": len(self.gold),
            "digest": self.digest,
        }


class _Tuned:
    """Mined pairs, with the threshold of the highest F1 on all gold pairs, and on half of them each."""

    def __init__(self, data: _Data, pairs: MinedPairs) -> None:
        self.data, self.pairs = data, pairs
        n = len(data.texts[0])
        correct = np.isin(data.keys(pairs.sources, pairs.targets), data.gold)
        gold = np.bincount(data.gold // len(data.texts[1]), minlength=n)
        self.threshold = best_threshold(pairs.scores, correct, len(data.gold))
        self.counts = self._counts(pairs.scores >= self.threshold, correct, gold)
        half = np.zeros(n, np.bool_)
        half[np.random.default_rng(zlib.crc32(data.pair.encode())).permutation(n)[: n // 2]] = True
        # Without gold pairs in a half, no threshold can be learned there.
        self.has_halves = bool(gold[half].any() and gold[~half].any())
        self.held_out_thresholds = []
        accepted = np.zeros(len(correct), np.bool_)
        for side in (half, ~half):
            own = side[pairs.sources]
            threshold = best_threshold(pairs.scores[~own], correct[~own], int(gold[~side].sum()))
            self.held_out_thresholds.append(threshold)
            accepted |= own & (pairs.scores >= threshold)
        self.held_out_counts = self._counts(accepted, correct, gold)

    def _counts(self, accepted: Bool, correct: Bool, gold: Int64) -> Float64:
        """Of each source sentence the pairs that are accepted and correct, accepted, and gold, [n, 3]."""
        sources, n = self.pairs.sources, len(gold)
        hits = np.bincount(sources[accepted & correct], minlength=n)
        return np.stack([hits, np.bincount(sources[accepted], minlength=n), gold], axis=1).astype(np.float64)

    def about(self) -> dict[str, Any]:
        """The threshold and what it leaves."""
        correct, accepted, _ = self.counts.sum(axis=0)
        return {
            "threshold": self.threshold,
            "candidates": len(self.pairs.scores),
            "accepted": int(accepted),
            "correct": int(correct),
            "held_out_thresholds": self.held_out_thresholds,
        }

    def measurements(self, scoring: str, samples: int) -> dict[str, Measurement]:
        """Figures by their names; `f1` alone of held-out pairs, where there are any."""
        found = {}
        for suffix, counts in (("", self.counts), (" held-out", self.held_out_counts))[: 1 + self.has_halves]:
            sums = bootstrap_sums(counts, name=f"bucc {self.data.pair}", samples=samples)
            values, resampled = _figures(counts.sum(axis=0)), _figures(sums)
            for name in ["f1"] if suffix else values:
                found[f"{name} {self.data.pair} {scoring}{suffix}"] = Measurement(
                    value=float(values[name]),
                    samples=resampled[name],
                    n=len(counts),
                    digest=self.data.digest,
                )
        return found


def best_threshold(scores: Float64, correct: Bool, n_gold: int) -> float:
    """The threshold of the highest F1, half-way between the last score above it and the first below.

    Pairs of the same score are accepted or refused together; of equal F1, the highest threshold is taken.
    Without any pairs it is 0.

    Args:
        scores: [p], descending.
        correct: [p].
        n_gold: gold pairs, mined or not.
    """
    if not len(scores):
        return 0.0
    f1 = 2 * np.cumsum(correct) / (np.arange(1, len(scores) + 1) + n_gold)
    ends = np.flatnonzero(np.append(scores[1:] < scores[:-1], True))
    last = int(ends[f1[ends].argmax()])
    between = float(scores[last : last + 2].mean())
    # Of two neighbouring numbers the mean is one of them.
    return between if last + 1 < len(scores) and between > scores[last + 1] else float(scores[last])


def _figures(sums: Float64) -> dict[str, Float64]:
    """Precision, recall and F1 of sums [..., 3]; without a pair to divide by, 0."""
    correct, accepted, gold = np.moveaxis(sums, -1, 0)

    def ratio(part: Float64, whole: Float64) -> Float64:
        return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)

    return {
        "precision": ratio(correct, accepted),
        "recall": ratio(correct, gold),
        "f1": ratio(2 * correct, accepted + gold),
    }
