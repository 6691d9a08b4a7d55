"""Statistics and studies of models."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from paraphrastic_pipeline.settings.sections.fields import DISTINCT, Whole, section, setting


@section
class Statistics:
    """How the statistics of the corpora are measured."""

    sentences: Annotated[Whole, Field(ge=1, le=10000000)] = 100000
    """The number of random sentences of each corpus on which IDF and entropies are measured."""


Varied = (
    Annotated[list[Any], Field(min_length=1), DISTINCT] | Annotated[Mapping[str, Any], Field(min_length=1)]
)


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


@section
class Study:
    """Models that are compared in a table."""

    model: Annotated[
        list[str],
        BeforeValidator(_as_list, json_schema_input_type=str | list[str]),
        Field(min_length=1),
        DISTINCT,
    ]
    """The definition that the study's models share, or a list of several."""
    vary: Mapping[
        str,
        Annotated[list[Any], Field(min_length=1), DISTINCT]
        | Annotated[Mapping[str, Any], Field(min_length=1)],
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

    models: Annotated[list[str], DISTINCT] = setting([])
    """One definition for each language; none for no study."""
    prefixed: bool = False
    """Whether each model is also trained with the other language's tokens prefixed, as `{model}-prefixed`."""
    uriel: str | None = None
    """The data set with distances between languages (`uriel`), which is downloaded; null for none."""
