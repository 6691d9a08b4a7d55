"""Which pairs of a corpus are kept."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from paraphrastic_pipeline.settings.sections.fields import (
    Count,
    Number,
    Positive,
    Score,
    Share,
    Whole,
    in_order,
    section,
    setting,
)


@section
class LengthFilter:
    """The number of [words or characters](../docs/corpora.md#lengths) from `min` to `max`, which `both`
    sides, the `first`, or their mean (`count`) must have; null keeps all lengths.
    """

    min: Count = 1
    max: Positive = 1000
    count: Literal["both", "first", "mean"] = "both"
    """What must be in this range: both sides, the first one, or their mean."""
    _in_order = model_validator(mode="after")(in_order)


@section
class LanguageFilter:
    """The language of each side must have at least this probability and, with `rule: best`, also a higher one
    than any other language; null does not check it.
    """

    rule: Literal["probability", "best"] = "probability"
    """Whether the `probability` decides, or the language must also be the `best` guess."""
    min_probability: Share = 0.1


@section
class Rank:
    """Keeps the pairs whose place in the ranking of their whole corpus by a score is from `min` to `max`,
    where 0 is the lowest place and 1 the highest; null keeps all. ParaNMT-50M took the two best tenths.
    """

    by: Score
    """The score."""
    min: Share
    max: Share
    _in_order = model_validator(mode="after")(in_order)


@section
class Span:
    """Pairs from `min` to `max` are kept; null keeps all."""

    min: Annotated[Number, Field(ge=-1, le=1)] = -1
    max: Annotated[Number, Field(ge=-1, le=1)] = 1
    _in_order = model_validator(mode="after")(in_order)


@section
class NearCopy:
    """Drops pairs with at most this many changed words between their common beginning and end and at least
    this trigram overlap; null keeps them.
    """

    max_changed_words: Annotated[Whole, Field(ge=0, le=1000)] = 1
    min_trigram_overlap: Share = 0.65


@section
class BitextSelection:
    """Which pairs of bitext are kept."""

    length: LengthFilter | None = setting({"max": 100}, original="min: 3, count: first")
    language: LanguageFilter | None = setting(LanguageFilter, original=None)


@section
class ParaphraseSelection(BitextSelection):
    """Which paraphrases are kept."""

    rank: Rank | None = None
    length: LengthFilter | None = setting({"min": 5, "max": 40}, original="count: mean")
    language: LanguageFilter | None = setting(LanguageFilter, original="rule: best, min_probability: 0")
    trigram_overlap: Span | None = setting({"min": 0, "max": 0.7})
    near_copy: NearCopy | None = setting(NearCopy)
    paraphrase_score: Span | None = setting({"min": 0.4, "max": 1})


@section
class Selection:
    """Which pairs are kept, for bitext and for paraphrases. If the configuration's `recipe` is `paper`,
    lengths and languages have the papers' values by default.
    """

    bitext: BitextSelection = setting(BitextSelection)
    paraphrase: ParaphraseSelection = setting(ParaphraseSelection)


@section
class TestsetNames:
    """The data sets whose sentences are searched for, by their kind; null for none."""

    sts: str | None = None
    tatoeba: str | None = None
    bucc: str | None = None
    senteval: str | None = None


@section
class NearMatches:
    """Sentences that share at least `min_similarity` of their word n-grams are near matches; null searches
    for exact ones only.
    """

    ngram: Annotated[Whole, Field(ge=1, le=10)] = 3
    min_similarity: Annotated[Number, Field(gt=0, le=1)] = 0.6


@section
class Contamination:
    """Which training pairs contain a sentence of a test set; see [test
    sentences](../docs/corpora.md#test-sentences-in-the-training-data).
    """

    testsets: TestsetNames = setting(TestsetNames)
    near_duplicates: NearMatches | None = setting(NearMatches)
    drop: Literal["none", "exact", "near"] = setting("exact", original="none")
    """Which pairs are dropped: `none`, those with an `exact` match, or also those with a `near` match."""


@section
class HeldOut:
    """The pairs on which a model is not trained, so that it can be judged by them: how often the sentence
    that is nearest to another one is its partner. Sentences that are the same, that share 60 % of their
    trigrams of words or, if they are short, 75 % of those of letters, or that come from the same line leave
    the training data, too. Null holds out none; see [held-out
    pairs](../docs/evaluation.md#held-out-pairs).
    """

    pairs: Annotated[Whole, Field(ge=1, le=100000)] = 1000
    """The number of pairs, from each corpus in proportion to its size."""
    share: Annotated[Number, Field(gt=0, le=0.5)] = 0.05
    """The largest share of the pairs, for small corpora."""
