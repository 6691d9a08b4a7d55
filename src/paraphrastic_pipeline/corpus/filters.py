"""Filters for scored pairs; each keeps a pair's scores separate from the bounds that it accepts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.arrays import Bool, Float32, Float64
from paraphrastic_pipeline.registry.language_labels import labels_of

TOKENS = ("source_tokens", "target_tokens")
Scores = Float32 | Float64
Mask = Bool


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition that the selection puts on a pair.

    Attributes:
        reason: why a pair is dropped if this filter does not accept it.
        score: scores of each pair of a block, [pairs, values], float64 or float32 as the column; NaN for
            null, which no filter accepts.
        accept: whether pairs with such scores are kept, bool [pairs]. Bounds are inclusive, and are compared
            in the type of the scores, so that 0.7 in float32 reaches a bound of 0.7.
        needs: columns that must have values for the filter to make sense.
        missing: what the corpus lacks if one of these columns is empty, and what to do about it.
    """

    reason: str
    score: Callable[[pa.RecordBatch], Scores]
    accept: Callable[[Scores], Mask]
    needs: tuple[str, ...] = ()
    missing: str = ""


def build_filters(settings: Mapping[str, Any], languages: tuple[str, str]) -> Sequence[Filter]:
    """The filters of a selection, in the order in which they are applied.

    Args:
        settings: bounds by filter; a filter that is null or left out is not applied.
            `length: {min, max, count}` bounds the token counts of `both` sides, of the `first` side (the
            sources), or their `mean`. The original code requires 3 to 100 tokens on the English side of
            bitext, which comes first there, and a mean of 5 to 40 in ParaNMT. For `max`, two characters of a
            script without spaces are one token.
            `language: {rule, min_probability}` requires that each side's language has at least this
            probability and, with the rule `best`, that no other language has a higher one.
            `trigram_overlap: {min, max}` and `paraphrase_score: {min, max}` bound these scores.
            `rank: {by, min, max}` keeps the pairs whose place in the ranking of their whole corpus by a score
            is at least `min` and less than `max`, where 0 is the lowest place, or up to the highest if `max`
            is 1. ParaNMT-50M takes the tenths of the ranking that teach a model most.
            `near_copy: {max_changed_words, min_trigram_overlap}` drops a pair with no more changed words and
            no less overlap, since it is nearly a copy. Overlap alone misses short copies: if the last of five
            words differs, two of three trigrams are shared, which is below the papers' 0.7. Changed words
            alone would mistake synonyms for copies.
        languages: the languages that the sources and the targets must be in.
    """
    language, paraphrase = f"{selection_key(languages)}.language", "selection.paraphrase"
    filters = [Filter("empty", partial(_columns, TOKENS), _within(1))]
    if bounds := settings.get("rank"):
        score = bounds["by"].replace("_", " ")
        missing = f"{score} to rank by; set {paraphrase}.rank to null"
        missing += ", or give word vectors" if bounds["by"] == "paraphrase_score" else ""
        # `select_pairs` adds this column, since a block does not know the whole corpus.
        filters.append(Filter("rank", partial(_columns, ("rank",)), _within(1), (bounds["by"],), missing))
    if bounds := settings.get("length"):
        counts = partial(_token_counts, bounds.get("count", "both"))
        filters.append(Filter("length", counts, partial(_has_length, bounds["min"], bounds["max"])))
    if bounds := settings.get("language"):
        missing = f"language identification; set {language} to null, or give a language identifier"
        score = partial(_probabilities, languages, bounds.get("rule") == "best")
        accept, needs = _within(bounds["min_probability"]), ("source_language", "target_language")
        filters.append(Filter("language", score, accept, needs, missing))
    if bounds := settings.get("trigram_overlap"):
        missing = (
            f"trigram overlap, as its sides differ in language; set {paraphrase}.trigram_overlap to null"
        )
        accept = _within(bounds.get("min", -1.0), bounds["max"])
        filters.append(_of_columns("trigram_overlap", ("trigram_overlap",), accept, missing))
    if bounds := settings.get("near_copy"):
        missing = f"changed words, as its sides differ in language; set {paraphrase}.near_copy to null"
        accept = partial(_is_no_copy, bounds["max_changed_words"], bounds["min_trigram_overlap"])
        filters.append(_of_columns("near_copy", ("changed_words", "trigram_overlap"), accept, missing))
    if bounds := settings.get("paraphrase_score"):
        missing = f"paraphrase score; set {paraphrase}.paraphrase_score to null, or give word vectors"
        accept = _within(bounds["min"], bounds.get("max", 1.0))
        filters.append(_of_columns("paraphrase_score", ("paraphrase_score",), accept, missing))
    return filters


def selection_key(languages: tuple[str, str]) -> str:
    """The section of the configuration with the bounds for pairs in these languages."""
    return "selection.paraphrase" if languages[0] == languages[1] else "selection.bitext"


def _of_columns(
    reason: str, columns: tuple[str, ...], accept: Callable[[Scores], Mask], missing: str
) -> Filter:
    return Filter(reason, partial(_columns, columns), accept, columns, missing)


def _columns(names: Sequence[str], block: pa.RecordBatch) -> Scores:
    exact = any(pa.types.is_float64(block[name].type) for name in names)
    columns = [block[name].to_numpy(zero_copy_only=False) for name in names]
    return np.stack([column.astype(np.float64 if exact else np.float32) for column in columns], axis=1)


def _token_counts(count: str, block: pa.RecordBatch) -> Scores:
    """Token counts, and then the same with two characters of a script without spaces as one token.

    A sentence with 100 words in English has about 140 characters in Chinese and 215 in Japanese.
    """
    counts = _columns(TOKENS, block)
    both = np.stack([counts, counts - _columns(("source_characters", "target_characters"), block) / 2])
    if count == "first":
        both = both[:, :, :1]
    elif count == "mean":
        both = both.mean(axis=2, keepdims=True)
    return np.concatenate(list(both), axis=1)


def _has_length(least: int, most: int, scores: Scores) -> Mask:
    sides = scores.shape[1] // 2
    return np.asarray((scores[:, :sides] >= least).all(axis=1) & (scores[:, sides:] <= most).all(axis=1))


def _probabilities(languages: tuple[str, str], best: bool, block: pa.RecordBatch) -> Scores:
    """Probability of the language of each side, or -1 if it has to be the most likely one and is not."""
    probabilities = _columns(("source_probability", "target_probability"), block)
    for number, (side, language) in enumerate(zip(("source", "target"), languages, strict=True)):
        if best:
            labels = pa.array(labels_of(language) or (language,))
            expected = pc.is_in(block[f"{side}_language"], labels)
            probabilities[~expected.to_numpy(zero_copy_only=False), number] = -1
    return probabilities


def _within(low: float, high: float = np.inf) -> Callable[[Scores], Mask]:
    """Whether all of a pair's scores are within these bounds."""

    def accept(scores: Scores) -> Mask:
        least, most = np.array([low, high], scores.dtype)
        return np.asarray(((scores >= least) & (scores <= most)).all(axis=1))

    return accept


def _is_no_copy(max_changed_words: int, min_trigram_overlap: float, scores: Scores) -> Mask:
    changed, overlap = scores.T
    return np.asarray((changed > max_changed_words) | (overlap < np.float32(min_trigram_overlap)))
