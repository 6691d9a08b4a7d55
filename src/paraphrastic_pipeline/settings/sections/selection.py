"""How corpora are read, how their text is prepared, and which pairs are kept."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from paraphrastic_pipeline.settings.sections.fields import (
    Count,
    Number,
    Positive,
    Score,
    Share,
    Whole,
    section,
    setting,
)


@section
class Extraction:
    """How corpora are read."""

    max_unreadable: Mapping[str, Share] = setting({})
    """By the name of the corpus, the largest share of its rows that may be unreadable; others have 0.01."""
    score_range: Mapping[str, Annotated[list[Number], Field(min_length=2, max_length=2)]] = setting({})
    """By the name of the corpus, the lowest and the highest score on its scale, if it is not 0 to 1."""


@section
class Segmentation:
    """Whether and how text without spaces is split into words, by language."""

    zh: Literal["accurate", "full", "none"] = setting("none", original="full")
    """The mode of jieba: `accurate`, `full` (its `cut_all`), or `none`, since subwords need no spaces."""


@section
class Folding:
    """Which characters are written alike, by language; see [scripts](../docs/corpora.md#scripts)."""

    ar: Literal["marks", "none"] = setting("marks", original="none")
    """`marks` removes vowel and Quranic marks and the tatweel."""
    ru: Literal["yo", "none"] = setting("yo", original="none")
    """`yo` writes ё as е."""
    tr: Literal["dotted", "dotless", "none"] = setting("dotted", original="none")
    """`dotted` lower-cases İ to i; `dotless` also writes ı and I as i."""


@section
class Text:
    """How text is prepared, counted and identified."""

    lowercase: bool = True
    """Whether all text is lower-cased, in training and in use."""
    words: Literal["script", "white_space"] = setting("script", original="white_space")
    """What a word is: in scripts without spaces a character (`script`), or what `white_space` separates."""
    identify: Literal["model", "original"] = setting("model", original="original")
    """The text whose language is identified: as the `model` sees it, or the `original`."""
    overlap_tokenizer: Literal["word", "treebank"] = setting("word", original="treebank")
    """What a word is for the trigram overlap: split at punctuation (`word`), or as NLTK does (`treebank`)."""
    segmentation: Segmentation = setting(Segmentation)
    folding: Folding = setting(Folding)


@section
class LengthFilter:
    """The number of [words or characters](../docs/corpora.md#lengths) from `min` to `max`; null keeps all."""

    min: Count = 1
    max: Positive = 1000
    count: Literal["both", "first", "mean"] = "both"
    """What must be in this range: both sides, the first one, or their mean."""


@section
class LanguageFilter:
    """The language of each side must have this probability and, with `best`, the highest; null keeps all."""

    rule: Literal["probability", "best"] = "probability"
    """Whether the `probability` decides, or the language must also be the `best` guess."""
    min_probability: Share = 0.1


@section
class Rank:
    """Keeps pairs whose place in their corpus by a score is from `min`, 0 the lowest, to `max`."""

    by: Score
    """The score."""
    min: Share
    max: Share


@section
class Span:
    """Pairs from `min` to `max` are kept; null keeps all."""

    min: Annotated[Number, Field(ge=-1, le=1)] = -1
    max: Annotated[Number, Field(ge=-1, le=1)] = 1


@section
class NearCopy:
    """Drops pairs with few changed words between common ends and a high overlap; null keeps them."""

    max_changed_words: Annotated[Whole, Field(ge=0, le=1000)] = 1
    min_trigram_overlap: Share = 0.65


@section
class BitextSelection:
    """Which pairs of bitext are kept."""

    length: LengthFilter | None = setting({"max": 100}, original="min: 3, count: first")
    language: LanguageFilter | None = setting(LanguageFilter, original=None)
    paraphrase_score: Span | None = setting({"min": 0.4, "max": 1})
    """The score or label of a pair, if the corpus has them; null keeps all."""


@section
class ParaphraseSelection(BitextSelection):
    """Which paraphrases are kept."""

    rank: Rank | None = None
    length: LengthFilter | None = setting({"min": 5, "max": 40}, original="count: mean")
    language: LanguageFilter | None = setting(LanguageFilter, original="rule: best, min_probability: 0")
    trigram_overlap: Span | None = setting({"min": 0, "max": 0.7})
    near_copy: NearCopy | None = setting(NearCopy)


@section
class Selection:
    """Which pairs are kept. With `recipe: paper`, lengths and languages have the papers' values."""

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
class Contamination:
    """Which pairs contain a [test sentence](../docs/corpora.md#test-sentences-in-the-training-data)."""

    testsets: TestsetNames = setting(TestsetNames)
    drop: Literal["none", "exact", "near"] = setting("exact", original="none")
    """Which pairs are dropped: `none`, those with an `exact` match, or also those with a `near` match."""


@section
class HeldOut:
    """The [pairs on which a model is judged](../docs/evaluation.md#held-out-pairs), not trained."""

    pairs: Annotated[Whole, Field(ge=1, le=100000)] = 1000
    """The number of pairs, from each corpus in proportion to its size."""
    share: Annotated[Number, Field(gt=0, le=0.5)] = 0.05
    """The largest share of the pairs, for small corpora."""
