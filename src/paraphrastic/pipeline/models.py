"""Models: their training pairs, vocabularies, runs and studies, as the rules of the pipeline ask for them.

As in `corpora`, a method that takes `wildcards` serves a rule as an input or params function.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.config.architecture import architecture_of, vocabularies, vocabulary_settings
from paraphrastic.config.definitions import (
    pair_of,
    selection_kind,
    sweep_runs,
)
from paraphrastic.config.local_files import dataset_versions
from paraphrastic.config.studies import data_models, prefixed_name, setting_name, variants
from paraphrastic.pipeline.corpora import Corpora, Json, OfWildcards, Wildcards


@dataclass(frozen=True)
class Models:
    """What a checked configuration says of its models, whose corpora are `corpora`."""

    corpora: Corpora

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration."""
        return self.corpora.config

    @cached_property
    def dataset_models(self) -> list[str]:
        """The models that have training data of the original code in place of corpora."""
        return [model for model, definition in self.config["definitions"].items() if definition["dataset"]]

    @cached_property
    def corpus_models(self) -> list[str]:
        """All other models."""
        return [model for model in self.config["definitions"] if model not in self.dataset_models]

    @cached_property
    def data_models(self) -> dict[str, str]:
        """For each model, the one whose training data and vocabularies it shares; often itself."""
        return data_models(self.config)

    @cached_property
    def table_models(self) -> list[str]:
        """The models in the tables of corpora."""
        return [model for model in self.config["models"] if model in self.corpus_models]

    @cached_property
    def model_corpora(self) -> list[tuple[str, str]]:
        """Each of these models with each of its corpora."""
        definitions = self.config["definitions"]
        return [(model, corpus) for model in self.table_models for corpus in definitions[model]["corpora"]]

    @cached_property
    def study_models(self) -> list[tuple[str, str, str]]:
        """Study, setting and model of each row in the table of studies."""
        return [
            (study, setting_name(settings), model)
            for study, entry in self.config["studies"].items()
            for model, settings in variants(study, entry).items()
        ]

    def definition(self, wildcards: Wildcards) -> Json:
        """The definition of the job's model."""
        found: Json = self.config["definitions"][wildcards.model]
        return found

    def pair_languages(self, wildcards: Wildcards) -> tuple[str, str]:
        """The languages of the two sides of a model's training pairs, the same twice for paraphrases."""
        return pair_of(self.definition(wildcards))

    def selection(self, wildcards: Wildcards) -> Json:
        """The filters of a model's training pairs."""
        definition = self.definition(wildcards)
        found: Json = definition["selection"][selection_kind(definition)]
        return found

    def of_corpora(self, path: str) -> OfWildcards:
        """A function for a file of each corpus of a job's model, in their order."""
        return lambda wildcards: [
            path.format(model=wildcards.model, corpus=corpus)
            for corpus in self.definition(wildcards)["corpora"]
        ]

    def if_dropped(self, path: str) -> OfWildcards:
        """The same; none if contaminated pairs stay in the training data."""
        return self.of_corpora(path) if self.dropped_kinds else lambda wildcards: []

    def of_model_corpora(self, path: str) -> list[str]:
        """A file of each corpus of each model in the tables of corpora.

        `{data}` in the path is the model whose training data are meant, `{pair}` their languages.
        """
        definitions = self.config["definitions"]
        return [
            path.format(
                data=self.data_models[model], corpus=corpus, pair="-".join(pair_of(definitions[model]))
            )
            for model, corpus in self.model_corpora
        ]

    @cached_property
    def merged_counts(self) -> list[str]:
        """The counts of the merged corpora of each model in the tables of corpora."""
        return [f"results/corpora/{self.data_models[model]}/counts.json" for model in self.table_models]

    @cached_property
    def dropped_kinds(self) -> list[str]:
        """The kinds of contaminated pairs that are left out of training."""
        kinds = {"none": [], "exact": ["exact"], "near": ["exact", "near"]}
        return kinds[self.config["contamination"]["drop"]]

    def max_pairs(self, wildcards: Wildcards) -> list[int | None]:
        """The most pairs of each corpus of a model; None is all."""
        definition = self.definition(wildcards)
        return [definition["max_pairs"].get(corpus) for corpus in definition["corpora"]]

    def training_data(self, wildcards: Wildcards) -> str:
        """The encoded training data of a model."""
        return f"results/datasets/{self.data_models[wildcards.model]}/train.h5"

    def vocabulary_files(self, wildcards: Wildcards) -> list[str]:
        """The sentencepiece models of a model, in the order of units and languages."""
        names = vocabularies(self.definition(wildcards))
        return [f"results/vocabulary/{self.data_models[wildcards.model]}/{name}.model" for name in names]

    def vocabulary_training(self, wildcards: Wildcards) -> Json:
        """What a vocabulary is trained with, but for the seed."""
        definition = self.definition(wildcards)
        unit, sides = vocabularies(definition)[wildcards.vocabulary]
        settings = vocabulary_settings(definition, unit)
        settings.pop("max_pieces")
        return {"unit": unit, "sides": list(sides), **settings}

    def units(self, wildcards: Wildcards) -> list[Json]:
        """How sentences are cut into each unit, as `dataset.UnitVocabulary` takes it."""
        definition = self.definition(wildcards)
        models: dict[str, list[str]] = {}
        names = vocabularies(definition).values()
        for (unit, _), path in zip(names, self.vocabulary_files(wildcards), strict=True):
            models.setdefault(unit, []).append(path)
        return [
            {
                "unit": unit,
                "models": paths,
                "max_pieces": vocabulary_settings(definition, unit)["max_pieces"],
            }
            for unit, paths in models.items()
        ]

    def dataset_versions(self, wildcards: Wildcards) -> dict[str, str]:
        """The digests of these files."""
        return dataset_versions(wildcards.model, self.definition(wildcards)["dataset"])

    def initial_vectors(self, wildcards: Wildcards) -> list[str]:
        """The word vectors that a model's embeddings begin with; none if they begin at random."""
        return self.corpora.downloads(self.definition(wildcards)["training"]["initial_vectors"])

    def runs(self, wildcards: Wildcards) -> dict[str, Json]:
        """The training settings of every run of a model's sweep."""
        return sweep_runs(self.config, wildcards.model)

    def run(self, wildcards: Wildcards) -> Json:
        """The training settings of one of them; without a run in the wildcards, of the filter study."""
        runs = self.runs(wildcards)
        if hasattr(wildcards, "run"):
            return runs[wildcards.run]
        # The study has the first run of the model's sweep, with settings of its own.
        return {**next(iter(runs.values())), **self.config["filter_study"]["training"]}

    def of_runs(self, *paths: str) -> OfWildcards:
        """A function for files of every run of a model."""
        return lambda wildcards: [
            path.format(model=wildcards.model, run=run) for run in self.runs(wildcards) for path in paths
        ]

    def development_testsets(self, wildcards: Wildcards) -> str:
        """The test sets with the development data, which training is scored on.

        Other test sets are a reason to train again only if the scores decide when to stop.
        """
        path = "results/testsets/sts.parquet"
        return path if self.run(wildcards)["early_stopping"] else self.corpora.ancient(path)

    def uncounted_modules(self, wildcards: Wildcards) -> list[str]:
        """The module that scores a model in training, unless its scores decide when to stop."""
        return [] if self.run(wildcards)["early_stopping"] else ["paraphrastic.evaluation.development"]

    def architecture(self, wildcards: Wildcards) -> Json:
        """The architecture of a model's encoder."""
        return architecture_of(self.definition(wildcards)).to_json()

    def about(self, wildcards: Wildcards) -> Json:
        """What a model's config.json says beside its training; a part of the filter study says which."""
        definition, config = self.definition(wildcards), self.config
        part: Json = {}
        if hasattr(wildcards, "part"):
            part = {"rank_by": wildcards.measure, "part": int(wildcards.part)}
        return {
            "model": wildcards.model,
            "languages": definition["languages"],
            "corpora": {name: version for name, (version, _) in self._sources(wildcards).items()},
            "lowercase": config["text"]["lowercase"],
            "unit": architecture_of(definition).units[0],
            "segmentation": self.corpora.modes("segmentation", definition["languages"]),
            "folding": self.corpora.modes("folding", definition["languages"]),
            **part,
        }

    def licences(self, wildcards: Wildcards) -> dict[str, str]:
        """The licence of each corpus that a model is trained on; `-` is an unknown one."""
        return {name: licence for name, (_, licence) in self._sources(wildcards).items()}

    def _sources(self, wildcards: Wildcards) -> dict[str, tuple[str, str]]:
        """Version and licence of each corpus that a model is trained on."""
        definition = self.definition(wildcards)
        if definition["dataset"]:
            versions = dataset_versions(self.data_models[wildcards.model], definition["dataset"])
            return {name: (version, "-") for name, version in list(versions.items())[:1]}
        languages = tuple(definition["languages"])
        sets = {name: self.corpora.datasets[name] for name in definition["corpora"]}
        return {name: (corpus.select(languages)[0].version, corpus.licence) for name, corpus in sets.items()}

    def filter_study_files(self, name: str) -> OfWildcards:
        """A function for a file of each measure of the filter study, and of each part if it says `{part}`."""

        def files(wildcards: Wildcards) -> list[str]:
            study = self.config["filter_study"]
            if study["model"] is None:
                raise InputError("config: filter_study.model: is null, so that there is no filter study")
            parts = range(1, study["parts"] + 1) if "{part}" in name else [0]
            return [
                f"results/filter_study/{study['model']}/{measure}/{name.format(part=part)}"
                for measure in study["rank_by"]
                for part in parts
            ]

        return files

    def choice_files(self, path: str, *, prefixed: bool = False) -> OfWildcards:
        """A function for a file of each model of the study of languages, or of its variant with prefixes."""

        def files(wildcards: Wildcards) -> list[str]:
            study = self.config["language_choice"]
            if not study["models"]:
                raise InputError(
                    "config: language_choice.models: is empty, so that there is no study of languages"
                )
            if prefixed:
                return [
                    path.format(model=prefixed_name(model)) for model in study["models"] if study["prefixed"]
                ]
            return [path.format(model=model) for model in study["models"]]

        return files
