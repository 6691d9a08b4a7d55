"""Evaluation, other people's encoders, and studies of models."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from paraphrastic_pipeline.settings.places import Place
from paraphrastic_pipeline.settings.sections.corpora import OtherEncoder
from paraphrastic_pipeline.settings.sections.fields import (
    DISTINCT,
    Label,
    LanguageCode,
    Number,
    PairCode,
    Several,
    Whole,
    section,
    setting,
)

PolishTask = Literal["ppc", "cr_h", "cr_m", "cds", "sick", "8tags"]
Track = Literal["ar-ar", "ar-en", "es-es", "es-en", "en-en", "tr-en"]
# A single name may stand for a list of one.
_OF_ONE = BeforeValidator(lambda value: [value] if isinstance(value, str) else value, str | Several[str])
Names = Annotated[Several[str], _OF_ONE]


@section
class Speed:
    """How speed is measured; null does not measure it."""

    sentences: Annotated[Whole, Field(ge=1, le=10000000)] = 120000
    """The number of different sentences of the models' corpora, at most."""
    seconds: Annotated[Number, Field(gt=0, le=86400)] = 1.0
    """How long a repeat may take; slow systems embed fewer sentences."""
    repeats: Annotated[Whole, Field(ge=1, le=100)] = 3
    """The number of repeats, of which the median is taken."""


@section
class Tatoeba:
    """Similarity search on Tatoeba; null for none."""

    testsets: str
    """The data set with two files for each language, its own and the English one."""
    languages: Annotated[list[LanguageCode], DISTINCT] | None = None
    """The languages that are tested with English; null means the models' languages."""


@section
class Bucc:
    """Mining of translations from BUCC's sentences; null for none."""

    testsets: str
    """The data set with an archive for each pair of languages."""
    pairs: Annotated[list[PairCode], DISTINCT] | None = None
    """Pairs such as `de-en`; null means all pairs of the models' languages."""


@section
class Evaluation:
    """On what the models are evaluated, and how."""

    sts: str | None = "sts"
    """The data set with the STS archive; null for none, with which English is not tested on STS."""
    bootstrap_samples: Annotated[Whole, Field(ge=100, le=100000)] = 1000
    """The number of bootstrap resamples for the 95 % intervals."""
    tracks: Annotated[list[Track], DISTINCT] = setting(get_args(Track))
    """The tracks of STS 2017 on which systems are evaluated."""
    untrained: bool = True
    """Whether every model is also evaluated before training."""
    speed: Speed | None = setting(Speed)
    only: Mapping[str, Annotated[list[str], DISTINCT]] = setting({})
    """Restricts a task to the systems that are named."""
    tatoeba: Tatoeba | None = None
    bucc: Bucc | None = None
    senteval: str | None = None
    """The data set with an archive of SentEval's `data/downstream`; null for none of its tasks."""
    polish: Annotated[Mapping[PolishTask, str], Field(min_length=6)] | None = None
    """The data sets of the eight Polish tasks (Dadas 2022); null for none of them."""
    retrieval: Several[str] | None = None
    """Definitions by whose [held-out pairs](../docs/evaluation.md#held-out-pairs) systems are compared."""


@section
class System(OtherEncoder):
    """Somebody else's encoder, with one of `path`, `sentence_transformers` and `model2vec`."""

    model2vec: Place | None = None
    """A folder, or a name on the Hugging Face Hub, `OWNER/NAME` or `hf://OWNER/NAME`."""
    languages: Annotated[list[LanguageCode], Field(min_length=1)] | None = None
    """The languages on which it is evaluated; null for all."""
    licence: Label | None = None
    """Its licence, as the cards of models that learn from it state it; null if it is unknown."""
    label: Label | None = None
    """Its name in tables; null for the name of the entry."""


@section
class Study:
    """Models that are compared in a table."""

    model: Names
    """The definition that the study's models share, or a list of several."""
    vary: Mapping[str, Annotated[list[Any] | Mapping[str, Any], Field(min_length=1)]] = setting({})
    """Values by path, such as `sweep.megabatch: [1, 20, 40]`, or named ones; all are combined."""


@section
class LanguageChoice:
    """A study of [languages to pair with English](../docs/papers.md#which-language-to-pair-with-english)."""

    models: Annotated[list[str], DISTINCT] = setting([])
    """One definition for each language; none for no study."""
    prefixed: bool = False
    """Whether each model is also trained with the other language's tokens prefixed, as `{model}-prefixed`."""
    uriel: str | None = None
    """The data set with distances between languages (`uriel`), which is downloaded; null for none."""
