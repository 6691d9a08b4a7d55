"""Statistics and studies of models."""

from collections.abc import Mapping
from typing import Annotated, Any

from paraphrastic_pipeline.base.limits import Length, Range
from paraphrastic_pipeline.settings.declared import section, setting
from paraphrastic_pipeline.settings.sections.names import SettingPath


@section
class Statistics:
    """How the statistics of the corpora are measured."""

    sentences: Annotated[int, Range(1, 10000000)] = 100000
    """The number of random sentences of each corpus on which IDF and entropies are measured."""


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
