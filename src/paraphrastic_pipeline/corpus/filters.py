"""Filters for scored pairs: each has a score, and says which scores it accepts.

To add a filter, write a class here with the name of its setting in `FILTERS`, and the setting.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.arrays import Bool, Float32, Float64
from paraphrastic_pipeline.registry.language_labels import labels_of

TOKENS = ("source_tokens", "target_tokens")
Scores = Float32 | Float64
# The bounds of filters without a setting.
_SOME = SimpleNamespace(min=1, max=np.inf)


class Filter:
    """A condition on pairs; by default, a score has to be between the settings' `min` and `max`.

    Attributes:
        name: its setting, which is also why a pair is dropped that it does not accept.
        needs: columns that must have values for the filter to make sense.
    """

    name = ""
    needs: tuple[str, ...] = ()

    def __init__(self, settings: Any, languages: Sequence[str]) -> None:
        self.settings, self.languages = settings, languages

    def score(self, block: pa.RecordBatch) -> Scores:
        """Scores of each pair of a block, [pairs, values]; NaN for null, which no filter accepts."""
        return _columns(self.needs, block)

    def accept(self, scores: Scores) -> Bool:
        """Whether pairs with such scores are kept, bool [pairs].

        Bounds are inclusive, and are compared in the type of the scores, so that 0.7 in float32 reaches 0.7.
        """
        least, most = np.array([self.settings.min, self.settings.max], scores.dtype)
        return np.asarray(((scores >= least) & (scores <= most)).all(axis=1))


class Empty(Filter):
    """Both sides have text."""

    name = "empty"
    needs = TOKENS


class Rank(Filter):
    """The pair's place in the ranking of its whole corpus is in a range (ParaNMT-50M, section 6.3)."""

    name = "rank"

    def __init__(self, settings: Any, languages: Sequence[str]) -> None:
        super().__init__(_SOME, languages)
        self.needs = (settings.by,)

    def score(self, block: pa.RecordBatch) -> Scores:
        """Whether the pair is in the range; `select_pairs` adds this column, as it knows the whole corpus."""
        return _columns(("rank",), block)


class Length(Filter):
    """The numbers of tokens are within bounds: of `both` sides, of the `first` (source), or their `mean`."""

    name = "length"

    def score(self, block: pa.RecordBatch) -> Scores:
        """Numbers of tokens, and the same with two characters of a script without spaces as one token.

        A sentence with 100 words in English has about 140 characters in Chinese and 215 in Japanese.
        """
        counts = _columns(TOKENS, block)
        both = np.stack([counts, counts - _columns(("source_characters", "target_characters"), block) / 2])
        if self.settings.count == "first":
            both = both[:, :, :1]
        elif self.settings.count == "mean":
            both = both.mean(axis=2, keepdims=True)
        return np.concatenate(list(both), axis=1)

    def accept(self, scores: Scores) -> Bool:
        """Whether the first half of the scores is at least `min`, and the second at most `max`."""
        tokens, shortened = np.split(scores, 2, axis=1)
        enough, few = tokens >= self.settings.min, shortened <= self.settings.max
        return np.asarray(enough.all(axis=1) & few.all(axis=1))


class Language(Filter):
    """Each side's language is probable enough and, with the rule `best`, no other one is more probable."""

    name = "language"
    needs = ("source_probability", "target_probability")

    def score(self, block: pa.RecordBatch) -> Scores:
        """Probability of the language of each side, or -1 if it has to be the most likely one and is not."""
        probabilities = _columns(self.needs, block)
        for number, (side, language) in enumerate(zip(("source", "target"), self.languages, strict=True)):
            if self.settings.rule == "best":
                labels = pa.array(labels_of(language) or (language,))
                expected = pc.is_in(block[f"{side}_language"], labels)
                probabilities[~expected.to_numpy(zero_copy_only=False), number] = -1
        return probabilities

    def accept(self, scores: Scores) -> Bool:
        """Whether both probabilities are high enough."""
        return np.asarray((scores >= np.array(self.settings.min_probability, scores.dtype)).all(axis=1))


class TrigramOverlap(Filter):
    """The sides of a paraphrase share trigrams of words, but not too many."""

    name = "trigram_overlap"
    needs = ("trigram_overlap",)


class NearCopy(Filter):
    """Few words have changed, and most trigrams have not: one side is nearly a copy of the other.

    Overlap alone misses short copies, and changed words alone would mistake synonyms for copies.
    """

    name = "near_copy"
    needs = ("changed_words", "trigram_overlap")

    def accept(self, scores: Scores) -> Bool:
        """Whether more words have changed, or fewer trigrams are shared."""
        changed, overlap = scores.T
        bounds = self.settings
        return np.asarray(
            (changed > bounds.max_changed_words) | (overlap < np.float32(bounds.min_trigram_overlap))
        )


class ParaphraseScore(Filter):
    """The corpus's own score or label of a pair, if there is one, is within bounds."""

    name = "paraphrase_score"
    needs = ("paraphrase_score",)

    def accept(self, scores: Scores) -> Bool:
        """Whether the score is within bounds, or null."""
        return super().accept(scores) | np.isnan(scores[:, 0])


# The filters in the order in which they are applied; that of pairs without text has no setting.
FILTERS: Sequence[type[Filter]] = (Rank, Length, Language, TrigramOverlap, NearCopy, ParaphraseScore)


def build_filters(selection: Any, languages: Sequence[str]) -> list[Filter]:
    """The filters of a selection, in the order in which they are applied.

    Args:
        selection: a section of the settings with the bounds of each filter by its name; a filter that is null
            or that the section does not have is not applied.
        languages: the languages that the sources and the targets must be in.
    """
    chosen = [(kind, getattr(selection, kind.name, None)) for kind in FILTERS]
    return [
        Empty(_SOME, languages),
        *(kind(bounds, languages) for kind, bounds in chosen if bounds is not None),
    ]


def _columns(names: Sequence[str], block: pa.RecordBatch) -> Scores:
    exact = any(pa.types.is_float64(block[name].type) for name in names)
    columns = [block[name].to_numpy(zero_copy_only=False) for name in names]
    return np.stack([column.astype(np.float64 if exact else np.float32) for column in columns], axis=1)
