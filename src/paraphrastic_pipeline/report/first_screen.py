"""What a reader of the page learns first: what surprised in a run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from paraphrastic_pipeline.corpus.counts import loss
from paraphrastic_pipeline.report.outcome import Outcome
from paraphrastic_pipeline.report.shown_tables import read_rows, readable, words
from paraphrastic_pipeline.report.summary import Headline

# A share of contaminated pairs above which a reader is told, in %.
_CONTAMINATED = 5.0
# A share of held-out sentences that find their partner below which a reader is told, in %.
_LOW = 50.0
# How many times as long as the other side of a corpus one side is, if a reader is told.
_LONGER = 2.0
# Columns of the funnel that are no numbers.
_NO_COUNTS = ("model", "corpus", "read", "kept")
# Values of a sweep that nothing lies beyond.
_NATURAL_ENDS = {"dropout": 0.0, "megabatch": 1.0}
# A sweep of fewer values always has its best one at an edge.
_LEAST_VALUES = 3


def surprises(
    tables: Path,
    headline: Headline | None,
    outcomes: Sequence[Outcome],
    is_there: Callable[[str], bool],
) -> list[str]:
    """Sentences on what a reader would not expect of a run, from its results and those tables that are there.

    Raises:
        InputError: a table is damaged.
        KeyError: a table lacks a column.
        ValueError: an entry is not a number.
    """
    sentences = list(_low(outcomes))
    # English STS says little about a model that is judged by its own pairs.
    sentences += list(_no_better(headline)) if headline and not outcomes else []
    for table, look in _LOOKS.items():
        if is_there(table):
            sentences += look(tables / f"{table}.csv")
    return sentences


def _low(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if outcome.found < _LOW:
            yield (f"{outcome.model} finds the partners of only {outcome.found:.1f} % of held-out sentences.")
        if outcome.before is not None and outcome.before >= outcome.interval[0]:
            yield (
                f"Training has made no clear difference to {outcome.model}: {outcome.before:.1f} % of the "
                f"held-out sentences found their partner before it, and {outcome.found:.1f} % after it."
            )


def _no_better(headline: Headline) -> Iterator[str]:
    gains = [
        f"{gain.system} ({gain.before:.1f} before and {gain.after:.1f} after)"
        for gain in headline.gains
        if gain.before is not None and gain.interval and gain.before >= gain.interval[0]
    ]
    if gains:
        yield (
            f"Training has made no clear difference to {_listed(gains)}: the score before it lies within the "
            "interval of the score after it."
        )


def _contaminated(path: Path) -> Iterator[str]:
    models: dict[tuple[str, str, str, str], list[str]] = {}
    for row in read_rows(path):
        if row["testset"] != "all" and float(row["share"] or 0) > _CONTAMINATED:
            key = row["share"], row["corpus"], row["testset"], row["dropped"] or "0"
            models.setdefault(key, []).append(row["model"])
    for (share, corpus, testset, dropped), names in models.items():
        fate = "They were not dropped." if dropped == "0" else f"{readable(dropped)} pairs were dropped."
        pairs = f"{share} % of the pairs of {corpus} for {_listed(names)}"
        yield f"{pairs} have a sentence of the test set {testset}. {fate}"


def _dropped(path: Path) -> Iterator[str]:
    # Models that share a corpus share a line.
    models: dict[str, list[str]] = {}
    for row in read_rows(path):
        dropped = {name: int(entry) for name, entry in row.items() if name not in _NO_COUNTS and entry}
        if sentence := loss(row["corpus"], int(row["read"]), dropped):
            models.setdefault(sentence, []).append(row["model"])
    for sentence, names in models.items():
        yield f"For {_listed(names)}: {sentence}"


def _lengths(path: Path) -> Iterator[str]:
    sides: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in read_rows(path):
        if row["length"]:
            side = float(row["length"]), row["language"]
            sides.setdefault((row["model"], row["corpus"]), []).append(side)
    for (model, corpus), lengths in sides.items():
        (short, language), (long, other) = min(lengths), max(lengths)
        if long > _LONGER * short:
            yield (
                f"The sentences of {corpus} in {other} are {long / short:.1f} times as long as those in "
                f"{language} for {model}, so many of its pairs may be no translations."
            )


def _edges(path: Path) -> Iterator[str]:
    by_model: dict[str, list[Mapping[str, str]]] = {}
    for row in read_rows(path):
        by_model.setdefault(row["model"], []).append(row)
    for model, rows in by_model.items():
        best = next((row for row in rows if row["chosen"]), None)
        for name in _NATURAL_ENDS if best else ():
            values = {float(row[name]) for row in rows if row[name]}
            if not best or not best[name] or len(values) < _LEAST_VALUES:
                continue
            value = float(best[name])
            if value in (min(values), max(values)) and value != _NATURAL_ENDS[name]:
                end = "smallest" if value == min(values) else "largest"
                yield (
                    f"The best {words(name)} of the model {model} is {best[name]}, the {end} of the "
                    f"{len(values)} values that were tried, so the best one may lie beyond it."
                )


def _listed(names: Sequence[str]) -> str:
    """Names in words: `a`, `a and b`, or `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


# Tables in which something may surprise.
_LOOKS: dict[str, Callable[[Path], Iterator[str]]] = {
    "contamination": _contaminated,
    "corpora": _lengths,
    "funnel": _dropped,
    "sweep": _edges,
}
