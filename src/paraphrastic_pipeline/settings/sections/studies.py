"""Statistics and studies of models."""

from collections.abc import Mapping
from typing import Annotated, Any

from paraphrastic_pipeline.base.limits import Length, Overrides, Range
from paraphrastic_pipeline.settings.declared import section, setting
from paraphrastic_pipeline.settings.sections.names import LanguageCode, Measure, SettingPath, Words
from paraphrastic_pipeline.settings.sections.training import Training


@section
class Statistics:
    """How the statistics of the corpora are measured."""

    sentences: Annotated[int, Range(1, 10000000)] = 100000
    """The number of random sentences of each corpus on which IDF and entropies are measured."""
    idf: str | None = setting(None, original="Wikipedia")
    """The data set of kind `file` with text, one document per line, from which document frequencies are
    counted; null counts them in the samples of the corpora.
    """
    parsers: Mapping[LanguageCode, Words] = setting({})
    """For each language, a program that reads one sentence per line and writes its bracketed parse on one
    line; see [statistics](../docs/corpora.md#statistics).
    """


@section
class FilterStudy:
    """A study of what a model learns from each part of its corpora, ranked by a score (ParaNMT-50M, section
    6.3).
    """

    model: str | None = None
    """The paraphrase model whose corpora, vocabulary and settings are used; null for no study."""
    rank_by: Annotated[list[Measure], Length(1, distinct=True)] = setting(
        ["paraphrase_score", "trigram_overlap"]
    )
    """The scores to rank by."""
    parts: Annotated[int, Range(2, 100)] = 10
    """The number of equal parts into which a ranking is cut."""
    sample: Annotated[int, Range(1)] = 1000000
    """The number of random pairs of each part on which a model is trained, at most."""
    training: Annotated[Mapping[str, Any], Overrides(lambda: Training)] = setting({"epochs": 1})
    """Overrides the model's training, key by key."""


@section
class Study:
    """Models that are compared in a table."""

    model: str | Annotated[list[str], Length(1, distinct=True)]
    """The definition that the study's models share, or a list of several."""
    vary: Mapping[
        SettingPath, Annotated[list[Any], Length(1, distinct=True)] | Annotated[Mapping[str, Any], Length(1)]
    ] = setting({})
    """Values by the path of a setting in the definition, such as `sweep.megabatch: [1, 20, 40]`, or with a
    name for each, such as `corpora: {News: [news], Europarl: [europarl]}`. All combinations are trained with
    each definition. If nothing is varied, the definitions themselves are compared.
    """


@section
class Negatives:
    """A table of the negatives that training would choose with a model (ParaNMT-50M, Table 6), in
    `results/tables/negatives.csv`.
    """

    model: str | None = None
    """The definition of the model; null for no such table."""
    megabatch: Annotated[list[Annotated[int, Range(1)]], Length(1, distinct=True)] = setting([1, 20, 40])
    """The sizes M of the mega-batch."""
    sentences: Annotated[list[Words], Length(1, distinct=True)] | None = None
    """The sentences to find negatives for, best from the training pairs; null for the sources of the first
    five pairs.
    """


@section
class Inspection:
    """What a model has learned, for the report: neighbours of sentences before and after training, a map of
    sentences, and the pieces that it listens to; see [look at a model](../docs/report.md#look-at-a-model).
    """

    model: str | None = None
    """The definition of the model, which is a single average; null looks at none."""
    sentences: Annotated[list[Words], Length(1, distinct=True)] | None = None
    """The sentences whose neighbours are shown; null for some of the training sentences."""
    candidates: Annotated[int, Range(2, 100000)] = 1000
    """The number of sentences of each source that are looked at."""


@section
class LanguageChoice:
    """A study of what predicts the scores of models of English and another language (Wieting et al. 2019,
    section 4.2); see [language choice](../docs/papers.md#which-language-to-pair-with-english).
    """

    models: Annotated[list[str], Length(distinct=True)] = setting([])
    """One definition for each language; none for no study."""
    prefixed: bool = False
    """Whether each model is also trained with the other language's tokens prefixed, as `{model}-prefixed`."""
    uriel: str | None = None
    """The data set with distances between languages (`uriel`), which is downloaded; null for none."""
