"""The command `paraphrastic evaluate`: how good systems are on a file of pairs."""

import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic.model.encoder import Encoder
from paraphrastic.quality.correlation import MIN_PAIRS, pearson, spearman
from paraphrastic.quality.labelled_pairs import LabelledPairs
from paraphrastic.quality.retrieval import NEAREST, PairVectors, Retrieval, Z, wilson
from paraphrastic.quality.thresholds import Thresholds, auc


def evaluate_pairs(
    encoder: Encoder,
    pairs: LabelledPairs,
    *,
    model: str,
    languages: tuple[str | None, str | None] = (None, None),
    precision: float | None = None,
    threads: int = 1,
) -> Json:
    """Measure an encoder, which `--model` calls `model`, on pairs; shares are from 0 to 1.

    Returns:
        `model`, `label`, `digest` and `dim` of the encoder; without labels, `forward` and `backward`: the
        share of sentences whose `nearest` sentence on the other side is a partner, its 95 % `interval`
        (Wilson), and the share with a partner among the ten nearest, `among_10`. With labels 0 and 1, `auc`
        (Hanley and McNeil 1982); with other ones, `spearman` (Fisher's transformation) and `pearson`. Unless
        labels are degrees, also `thresholds`; `best`, the one with the highest F1 or, if a `precision` is
        asked for, the lowest that reaches it; and its `threshold`.

    Raises:
        InputError: a vector is not finite, there are too few pairs for a correlation, or no threshold
            reaches the precision.
    """
    vectors = PairVectors(encoder, (pairs.sources, pairs.targets), languages, name=pairs.name)
    measured: Json = {"model": model, "label": encoder.label, "digest": encoder.digest, "dim": encoder.dim}
    if pairs.labels is None:
        found = vectors.retrieve(threads=threads)
        sides = zip(("forward", "backward"), found, strict=True)
        measured |= {name: _shares(retrieval) for name, retrieval in sides}
        scores, right = found[0].cosines[:, 0], found[0].hits
        return measured | _chosen(Thresholds(scores, right, len(right)), precision, encoder)
    scores = vectors.cosines()
    if pairs.are_graded:
        if precision is not None:
            raise InputError(f"{pairs.name}: labels are degrees, so no threshold has a precision")
        rho = spearman(scores, pairs.labels, name=pairs.name)
        room = Z * math.sqrt((1 + rho**2 / 2) / max(1, len(scores) - MIN_PAIRS))
        # Fisher's transformation of 1 is infinite.
        z = math.atanh(max(-1 + 1e-15, min(1 - 1e-15, rho)))
        interval = [math.tanh(z - room), math.tanh(z + room)]
        r = pearson(scores, pairs.labels, name=pairs.name)
        return measured | {"spearman": rho, "interval": interval, "pearson": r}
    right = pairs.labels == 1
    area = auc(scores, right)
    measured |= {"auc": area, "interval": _interval_of_area(area, int(right.sum()), len(right))}
    return measured | _chosen(Thresholds(scores, right, int(right.sum())), precision, encoder)


def _shares(retrieval: Retrieval) -> Json:
    hits, n = int(retrieval.hits.sum()), len(retrieval.hits)
    return {
        "nearest": hits / n,
        "interval": list(wilson(hits, n)),
        f"among_{NEAREST}": float(retrieval.hits_among_nearest.mean()),
    }


def _chosen(thresholds: Thresholds, precision: float | None, encoder: Encoder) -> Json:
    if (best := thresholds.best(precision)) is None:
        raise InputError(f"{encoder.label}: no threshold has a precision of {precision:g}")
    rows = [row._asdict() for row in thresholds.table()]
    return {"thresholds": rows, "best": best._asdict(), "threshold": best.threshold}


def _interval_of_area(area: float, positives: int, n: int) -> list[float]:
    """The 95 % interval of an area under the curve (Hanley and McNeil 1982)."""
    negatives = n - positives
    of_positives, of_negatives = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area)
    variance += (positives - 1) * (of_positives - area**2) + (negatives - 1) * (of_negatives - area**2)
    room = Z * math.sqrt(max(0.0, variance / (positives * negatives)))
    return [max(0.0, area - room), min(1.0, area + room)]


def about(pairs: LabelledPairs) -> Json:
    """What a file of `evaluate` says about its pairs: how many were used, of how many, and their digest."""
    counts = {"n": len(pairs.sources), "of": pairs.all_pairs}
    return {"pairs": pairs.name, "digest": pairs.digest, **counts}


def described(result: Json, pairs: LabelledPairs) -> list[str]:
    """Lines that tell people a result of `evaluate_pairs`: a sentence, and a table of thresholds."""
    found, n = SimpleNamespace(**result), len(pairs.sources)

    def interval(ends: Sequence[float]) -> str:
        return f" (n = {n:,}, 95 % interval {100 * ends[0]:.1f} to {100 * ends[1]:.1f})"

    if "auc" in result:
        lines = [
            f"{found.label}: a pair with the label 1 scores higher than one with the label 0 in "
            f"{_percent(found.auc)} of the cases (AUC){interval(found.interval)}"
        ]
    elif "spearman" in result:
        lines = [
            f"{found.label}: Spearman's ρ with the labels is {100 * found.spearman:.1f} and Pearson's r "
            f"{100 * found.pearson:.1f}{interval(found.interval)}"
        ]
    else:
        forward, backward = (SimpleNamespace(**side) for side in (found.forward, found.backward))
        lines = [
            f"{found.label}: {_percent(forward.nearest)} of the sentences find their partner"
            f"{interval(forward.interval)}, and {_percent(backward.nearest)} in the other direction; "
            f"{_percent(getattr(forward, f'among_{NEAREST}'))} have it among the {NEAREST} nearest"
        ]
    if "thresholds" in result:
        lines += ["", "threshold  precision  recall     F1", *map(_row, found.thresholds)]
        lines.append(f"{_row(found.best)}  chosen")
    return lines


def _row(row: Json) -> str:
    threshold, *shares = (row[name] for name in ("threshold", "precision", "recall", "f1"))
    return f"{threshold:9.3f}  {100 * shares[0]:9.1f}  {100 * shares[1]:6.1f}  {100 * shares[2]:5.1f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def parse_model(text: str) -> str | dict[str, str]:
    """A system as `--model` takes it: a place, or KIND=PLACE for a kind of `systems:`."""
    kind, equals, place = text.partition("=")
    if not equals or Path(text).exists() or kind not in ("path", "sentence_transformers", "model2vec"):
        return text
    return {kind: place, "label": Path(place).name or place}
