"""A whole configuration, and a model's definition in it."""

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cached_property
from itertools import product
from typing import Annotated, Literal

from pydantic import Field, model_validator

from paraphrastic.model.architecture import Architecture, Unit
from paraphrastic_pipeline.settings.sections.corpora import (
    Corpus,
    Mined,
    WithCorpora,
    files_in_languages,
)
from paraphrastic_pipeline.settings.sections.evaluation import Evaluation, LanguageChoice, Study, System
from paraphrastic_pipeline.settings.sections.fields import (
    DISTINCT,
    Count,
    LanguageCode,
    ModelName,
    Number,
    PlainName,
    Positive,
    PublicAddress,
    Several,
    SystemName,
    Whole,
    by_recipe,
    section,
    setting,
)
from paraphrastic_pipeline.settings.sections.selection import (
    Contamination,
    Extraction,
    HeldOut,
    Selection,
    Text,
)
from paraphrastic_pipeline.settings.sections.training import (
    Encoder,
    Hyperparameters,
    Sweep,
    Training,
    TrainingSettings,
    Vocabulary,
)

Measure = Literal["held_out", "sts2017", "mean"]


@section
class ModelSections:
    """The sections of a model. Those of a definition override the global ones key by key."""

    selection: Selection = setting(Selection)
    allow_few: bool = setting(False, original=True)
    """Whether filters may leave less than 5 % of a corpus, or fewer than 50 pairs of it or of all corpora."""
    duplicates: Literal["keep_one", "drop_all", "keep_all"] = setting("keep_one", original="drop_all")
    """Whether equal pairs keep one copy, repeated lines lose all (`drop_all`), or nothing is dropped."""
    held_out: HeldOut | None = by_recipe(paper=None, best={}, transformer={})
    choose_by: Measure = by_recipe(paper="sts2017", best="mean", transformer="mean")
    """What the best run is chosen by: `held_out` pairs, `sts2017` en-en, or the `mean` of those there are."""
    max_pairs: Mapping[str, Positive | None] = setting({}, original="4 million for two corpora")
    """The number of random pairs that are used at most, by the name of the corpus; null for all."""
    weights: Mapping[str, Annotated[Number, Field(ge=1, le=100)] | None] = setting({})
    """How often each pair is in the training data, by the name of the corpus; 2.5 is two or three times."""
    vocabulary: Vocabulary = setting(Vocabulary)
    encoder: Encoder = setting(Encoder)
    recipe: Literal["best", "paper", "transformer"] | None = setting(None, original="paper")
    """The values that `training` leaves out; [better ones](../docs/recipe.md) than the papers' are `best`."""
    training: Training = setting(Training)
    sweep: Sweep = setting(Sweep)


@section
class Definition(ModelSections, WithCorpora):
    """One model, whose sections, such as `training`, override the global ones key by key."""

    seeds: Annotated[Whole, Field(ge=1, le=100)] = 1
    """The number of runs that differ only in their seed; `de` becomes `de`, `de-seed-2` and so on."""
    seed: Count = 1
    """The seed of training, if it is not the global one."""
    languages: Several[LanguageCode]
    """One language for a model of paraphrases, or several, between any two of which a corpus may be."""
    corpora: Annotated[list[Corpus], Field(min_length=1), DISTINCT]
    """Data sets of the registry, corpora of OPUS, mined corpora, or files; the first one's copy is kept."""
    _files = model_validator(mode="before")(files_in_languages)

    @cached_property
    def architecture(self) -> Architecture:
        """The encoder of the model."""
        return self.encoder.architecture(self.vocabulary.unit, self.vocabulary.languages)

    @cached_property
    def vocabularies(self) -> dict[str, tuple[Unit, tuple[str, ...]]]:
        """Unit and sides of each of the model's vocabularies, by name, in the order of units and languages.

        The first is called `sentencepiece`; the names of the others include the unit and the language. A
        Transformer has its own tokenizer, and none of these.
        """
        if self.architecture.transformer:
            return {}
        sides: dict[str, tuple[str, ...]] = {"": ("source", "target")}
        if self.architecture.vocabularies != "shared":
            source, target = self.languages
            sides = {f"-{source}": ("source",), f"-{target}": ("target",)}
        units = dict.fromkeys(part.unit for part in self.architecture.parts)
        made = {f"sentencepiece-{unit}{end}": (unit, of) for unit in units for end, of in sides.items()}
        first, *others = made
        return {"sentencepiece": made[first], **{name: made[name] for name in others}}

    @property
    def teachers(self) -> list[str]:
        """The systems that a model learns from, each once."""
        return [self.training.teacher] if self.training.teacher else []

    @cached_property
    def runs(self) -> dict[str, TrainingSettings]:
        """The settings of every run of the sweep, by the name of the run."""
        shared = {field.name: getattr(self.training, field.name) for field in fields(Hyperparameters)}
        return {
            f"dropout-{dropout}-megabatch-{megabatch}": TrainingSettings(
                **shared, dropout=dropout, megabatch=megabatch, seed=self.seed
            )
            for dropout, megabatch in product(self.sweep.dropout, self.sweep.megabatch)
        }

    @cached_property
    def trainings(self) -> dict[str, TrainingSettings]:
        """The settings of every training by name: the runs, or with `training.soup` what they average."""
        if self.training.soup == 1:
            return self.runs
        return {
            f"{name}-member-{member + 1}": replace(run, member=member)
            for name, run in self.runs.items()
            for member in range(self.training.soup)
        }


@section
class Configuration(ModelSections):
    """A whole configuration."""

    mirror: PublicAddress | None = None
    """A folder or http address where `https://HOST/PATH` is found as `HOST/PATH`; null for none."""
    registry: str = "config/datasets.tsv"
    """The table of data sets; see [data sets and downloads](../docs/download.md)."""
    seed: Annotated[Whole, Field(ge=0, le=1000000)] = 1
    """The seed of every sample, shuffle and initial parameter."""
    sample: bool = False
    """Whether the data are a sample, so that no figure is compared with published ones."""
    licences: Literal["any", "commercial"] = "any"
    """With `commercial`, corpora of the registry that do not clearly allow commercial use are left out."""
    models: Several[str]
    """The names of the models to build. Each is described under `definitions`."""
    languages: Several[str] | None = None
    """Builds only the models and studies of these languages besides English, such as `[fr]`; null for all."""
    definitions: Annotated[Mapping[ModelName, Definition], Field(min_length=1)]
    """What each model is made of, by its name."""
    mined: Mapping[PlainName, Mined] = setting({})
    """[Corpora of paraphrases](../docs/corpora.md#mined-paraphrases) that are mined from bitext, by name."""
    language_id: str | None = "lid176"
    """The data set with the fastText model that identifies languages (`lid176`); null turns that off."""
    shards: Annotated[Whole, Field(ge=1, le=10000)] = 1
    """The number of parts, of at least 65,536 pairs, in which a corpus is scored, to keep a cluster busy."""
    extraction: Extraction = setting(Extraction)
    text: Text = setting(Text)
    contamination: Contamination = setting(Contamination)
    studies: Mapping[PlainName, Study] = setting({})
    """[Models that are compared](../docs/training.md#compare-settings-studies), by the name of the study."""
    language_choice: LanguageChoice = setting(LanguageChoice)
    evaluation: Evaluation = setting(Evaluation)
    systems: Mapping[SystemName, System] = setting({})
    """[Other people's encoders](../docs/evaluation.md#other-peoples-systems), by name."""
