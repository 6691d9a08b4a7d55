"""Counts of pairs by the reason for which they are dropped, and a warning about steps that drop many."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.base.files import Json, read_json
from paraphrastic_pipeline.base.tables import write_csv

# What the names of corpora without pairs end with in tables.
WITHOUT_PAIRS = " (text)"
# Why the merge drops a pair, in this order.
MERGE_REASONS = ("duplicates", "contaminated", "held_out", "capped")
# A step that drops a larger share of its pairs says so.
LARGE = 0.3
# Unless `allow_few` is set, filters must leave this share of a corpus, and a model so many pairs.
LEAST, FEWEST = 0.05, 50


def loss(name: str, read: int, dropped: Mapping[str, int]) -> str | None:
    """A sentence on a corpus of which so many pairs are `dropped` for each reason; None if they are few."""
    total = sum(dropped.values())
    if total <= LARGE * read:
        return None
    reason = max(dropped, key=lambda reason: dropped[reason])
    most = f"{dropped[reason]:,} of them because of {reason}"
    return f"{total / read:.0%} of the pairs of {name} are dropped, {total:,} of {read:,}, and {most}."


def warn(sentence: str | None) -> None:
    """Write a sentence, if there is one, into the log of the step; the run shows it on the terminal."""
    if sentence:
        logging.warning("warning: %s", sentence)


def merge_reasons(corpus: Mapping[str, Any]) -> dict[str, int]:
    """The reasons among the counts that `merge_pairs` wrote for a corpus."""
    return {reason: corpus[reason] for reason in MERGE_REASONS if reason in corpus}


def merged_corpora(
    corpora: Sequence[tuple[str, str]], files: Sequence[Path], models: Sequence[str], merged: Sequence[Path]
) -> Iterator[tuple[str, str, Path, Json]]:
    """The model and the name of each corpus, its file, and what `merged`, a file per model, counts of it."""
    counts = {model: iter(read_json(path)["corpora"]) for model, path in zip(models, merged, strict=True)}
    for (model, corpus), path in zip(corpora, files, strict=True):
        yield model, corpus, path, next(counts[model])


def tabulate_funnel(
    selected: Sequence[Path],
    merged: Sequence[Path],
    table: Path,
    *,
    corpora: Sequence[tuple[str, str]],
    models: Sequence[str],
) -> None:
    """Write what became of the pairs of each model's corpora.

    Columns: `model`, `corpus`, `read`, one per filter (pairs that it is the first to reject, empty if it was
    not applied), one per reason of the merge, and `kept`.

    Args:
        selected: JSON files written by `select_pairs`, in the order of the rows.
        merged: JSON files written by `merge_pairs`, one per model.
        table: the CSV file.
        corpora: the model and corpus of each of the selected.
        models: the model of each of the merged.
    """
    rows: list[dict[str, Any]] = []
    filters: dict[str, None] = {}
    for model, corpus, path, then in merged_corpora(corpora, selected, models, merged):
        first = read_json(path)
        about = {"model": model, "corpus": corpus, "read": first["read"], "kept": then["kept"]}
        rows.append({**about, **first["dropped"], **merge_reasons(then)})
        filters |= first["dropped"]
    write_csv(table, ["model", "corpus", "read", *filters, *MERGE_REASONS, "kept"], rows)
