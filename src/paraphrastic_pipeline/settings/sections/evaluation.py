"""Evaluation, and other people's encoders."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from paraphrastic_pipeline.settings.places import Place
from paraphrastic_pipeline.settings.sections.corpora import OtherEncoder
from paraphrastic_pipeline.settings.sections.fields import (
    DISTINCT,
    Label,
    LanguageCode,
    Number,
    PairCode,
    Whole,
    section,
    setting,
)


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
class Polish:
    """The data sets of the eight Polish tasks (Dadas 2022); null for none of them."""

    ppc: str
    """The Polish Paraphrase Corpus."""
    cr_h: str
    """Sentiment of reviews of hotels."""
    cr_m: str
    """Sentiment of reviews of doctors."""
    cds: str
    """Pairs of captions with relatedness and entailment (CDSC-R, CDSC-E)."""
    sick: str
    """SICK in Polish (SICK-R, SICK-E)."""
    tags8: str = setting(alias="8tags")
    """Topics of headlines."""


@section
class Evaluation:
    """On what the models are evaluated, and how."""

    sts: str | None = "sts"
    """The data set with the STS archive; null for none, with which English is not tested on STS."""
    bootstrap_samples: Annotated[Whole, Field(ge=100, le=100000)] = 1000
    """The number of bootstrap resamples for the 95 % intervals."""
    tracks: Annotated[
        list[Literal["ar-ar", "ar-en", "es-es", "es-en", "es-en-4b", "en-en", "tr-en"]], DISTINCT
    ] = setting(["ar-ar", "ar-en", "es-es", "es-en", "es-en-4b", "en-en", "tr-en"])
    """The tracks of STS 2017 on which systems that know their languages are evaluated. `es-en-4b`, about the
    quality of translations, has its own table.
    """
    untrained: bool = True
    """Whether every model is also evaluated before training."""
    speed: Speed | None = setting(Speed)
    only: Mapping[str, Annotated[list[str], DISTINCT]] = setting({})
    """Restricts a task to the systems that are named. For `senteval` and `polish` these may also be systems
    of other languages.
    """
    tatoeba: Tatoeba | None = None
    bucc: Bucc | None = None
    probes: str | None = None
    """The data set with sentences that differ in a negation, a number, a name, the roles, or a typing error,
    such as `probes`; null for none.
    """
    senteval: str | None = None
    """The data set with an archive of SentEval's `data/downstream`; null for none of its tasks."""
    polish: Polish | None = None
    retrieval: Annotated[list[str], Field(min_length=1), DISTINCT] | None = None
    """Definitions by whose held-out pairs all systems that know their languages are compared; null for none.
    A model takes part if it has a definition's data, or no corpus in common with it. A definition that is not
    among `models` keeps its corpora with `licences: commercial`, since it is only compared by.
    """


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
    published_as: list[str] = setting([])
    """The published systems that it stands for in the ledger, by their names in `config/published`."""
