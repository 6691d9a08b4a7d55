"""Filters of scored pairs; each tells a pair's score apart from what it accepts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# Why a pair can be dropped, in the order in which filters are asked.
REASONS = ("empty", "length", "language", "trigram_overlap", "near_copy", "paraphrase_score")

Scores = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


class Filter(Protocol):
    """What the selection asks of a filter."""

    @property
    def reason(self) -> str:
        """Why a pair that is not accepted was dropped."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Columns that have to hold values for the filter to mean anything."""
        ...

    @property
    def missing(self) -> str:
        """What the corpus lacks where one of these columns is empty, and what to do about it."""
        ...

    def score(self, block: pa.RecordBatch) -> Scores:
        """Scores of each pair: float32 [pairs, values]."""
        ...

    def accept(self, scores: Scores) -> Mask:
        """Whether the pairs with these scores are kept: bool [pairs]."""
        ...


@dataclass(frozen=True, slots=True)
class NotEmpty:
    """Both sides have a token."""

    reason = "empty"
    needs = ()
    missing = ""

    def score(self, block: pa.RecordBatch) -> Scores:
        """Tokens of both sides."""
        return _columns(block, "source_tokens", "target_tokens")

    def accept(self, scores: Scores) -> Mask:
        """At least one token a side."""
        return np.asarray((scores > 0).all(axis=1))


@dataclass(frozen=True, slots=True)
class Length:
    """Token counts from `min` to `max`: of `both` sides, of the `first` (the sources), or their `mean`.

    The original code asks for 3 to 100 tokens of the English side of bitext, which comes first there, and
    for a mean of 5 to 40 in ParaNMT.
    """

    min: int
    max: int
    count: str = "both"
    reason = "length"
    needs = ()
    missing = ""

    def score(self, block: pa.RecordBatch) -> Scores:
        """The counts that have to be within the bounds."""
        if self.count == "first":
            return _columns(block, "source_tokens")
        counts = _columns(block, "source_tokens", "target_tokens")
        return counts.mean(axis=1, keepdims=True) if self.count == "mean" else counts

    def accept(self, scores: Scores) -> Mask:
        """All counts are within the bounds, which are included."""
        return np.asarray(((scores >= self.min) & (scores <= self.max)).all(axis=1))


@dataclass(frozen=True, slots=True)
class Language:
    """Each side is identified as its language, with `min_confidence` or more."""

    languages: tuple[str, str]
    min_confidence: float
    reason = "language"
    needs = ("source_language", "target_language")
    missing = "language identification; set selection.language to null or give a language identifier"

    def score(self, block: pa.RecordBatch) -> Scores:
        """Confidence of each side where it is in its language, and -1 where it is in another."""
        sides = []
        for side, language in zip(("source", "target"), self.languages, strict=True):
            found = pc.equal(block[f"{side}_language"], language)
            expected = pc.fill_null(found, False).to_numpy(zero_copy_only=False)
            sides.append(np.where(expected, _columns(block, f"{side}_confidence")[:, 0], np.float32(-1)))
        return np.stack(sides, axis=1)

    def accept(self, scores: Scores) -> Mask:
        """Both confidences reach the bound."""
        return np.asarray((scores >= np.float32(self.min_confidence)).all(axis=1))


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """The score in `column` is from `min` to `max`; a pair without a score is not accepted."""

    column: str
    min: float
    max: float
    missing: str

    @property
    def reason(self) -> str:
        """The column's name."""
        return self.column

    @property
    def needs(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def score(self, block: pa.RecordBatch) -> Scores:
        """The column, NaN for null."""
        return _columns(block, self.column)

    def accept(self, scores: Scores) -> Mask:
        """Within the bounds, which are included; in float32, as the scores are stored."""
        low, high = np.float32(self.min), np.float32(self.max)
        return np.asarray((scores[:, 0] >= low) & (scores[:, 0] <= high))


@dataclass(frozen=True, slots=True)
class NearCopy:
    """Not a copy in which hardly a word is changed, by the changed words and the trigram overlap together.

    In short sentences the overlap alone has gaps: of five words with another one at the end, two of three
    trigrams are the same, which is below the papers' 0.7. Changed words alone would take synonyms for copies.
    """

    max_changed_words: int
    min_trigram_overlap: float
    reason = "near_copy"
    needs = ("changed_words", "trigram_overlap")
    missing = "changed words, as its sides differ in language; set selection.near_copy to null"

    def score(self, block: pa.RecordBatch) -> Scores:
        """Changed words and trigram overlap."""
        return _columns(block, "changed_words", "trigram_overlap")

    def accept(self, scores: Scores) -> Mask:
        """More words are changed, or less overlaps; in float32, as the scores are stored."""
        changed, overlap = scores.T
        return np.asarray(
            (changed > self.max_changed_words) | (overlap < np.float32(self.min_trigram_overlap))
        )


def build_filters(settings: Mapping[str, Any], languages: tuple[str, str]) -> Sequence[Filter]:
    """The filters of a selection, in the order in which they are asked.

    Args:
        settings: `length: {min, max, count}`, `language: {min_confidence}`, `trigram_overlap: {min, max}`,
            `near_copy: {max_changed_words, min_trigram_overlap}`, `paraphrase_score: {min, max}`; what is
            null or left out is not asked.
        languages: that the sources and the targets have to be in.
    """
    filters: list[Filter] = [NotEmpty()]
    if bounds := settings.get("length"):
        filters.append(Length(**bounds))
    if bounds := settings.get("language"):
        filters.append(Language(languages, **bounds))
    if bounds := settings.get("trigram_overlap"):
        missing = "trigram overlap, as its sides differ in language; set selection.trigram_overlap to null"
        filters.append(ScoreRange("trigram_overlap", missing=missing, **{"min": -1.0, **bounds}))
    if bounds := settings.get("near_copy"):
        filters.append(NearCopy(**bounds))
    if bounds := settings.get("paraphrase_score"):
        missing = "paraphrase score; set selection.paraphrase_score to null or give word vectors"
        filters.append(ScoreRange("paraphrase_score", missing=missing, **{"max": 1.0, **bounds}))
    return filters


def _columns(block: pa.RecordBatch, *names: str) -> Scores:
    """Columns side by side, NaN for null: float32 [pairs, names]."""
    columns = [block[name].to_numpy(zero_copy_only=False).astype(np.float32) for name in names]
    return np.stack(columns, axis=1)
