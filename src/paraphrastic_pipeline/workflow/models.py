"""Models with their training pairs, vocabularies, runs and studies, for the rules of the pipeline.

As in `corpora`, a method that takes `wildcards` serves a rule as an input or params function.
"""

import json
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.files import Json
from paraphrastic_pipeline.corpus.counts import WITHOUT_PAIRS
from paraphrastic_pipeline.registry.datasets import KINDS
from paraphrastic_pipeline.registry.download import MANUAL
from paraphrastic_pipeline.settings.datasets import pairs_of
from paraphrastic_pipeline.settings.definitions import variants
from paraphrastic_pipeline.settings.places import hub_name
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition, Measure
from paraphrastic_pipeline.settings.sections.fields import as_json
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.workflow.corpora import Corpora, OfWildcards, Wildcards, folder_files, languages_of

# The settings that determine training data and vocabularies.
_DATA = (
    "languages", "corpora", "selection", "allow_few", "duplicates", "max_pairs", "weights",
    "vocabulary", "held_out",
)  # fmt: skip
# The kinds of contaminated pairs that are left out of training, by setting.
_DROPPED = {"none": [], "exact": ["exact"], "near": ["exact", "near"]}
# Most threads of a training run; more have not been measured.
_THREADS = 8
# Licences of teachers that allow commercial use, by their names in SPDX.
OPEN_LICENCES = ("Apache-2.0", "BSD-3-Clause", "CC-BY-4.0", "CC0-1.0", "MIT")


def data_models(config: Configuration) -> dict[str, str]:
    """For each model, the model whose training data and vocabularies it uses.

    It is the first one with the same data settings, among the models to build and then among all definitions.
    A study's definition therefore never takes over the data of a model.
    """
    order = dict.fromkeys([*config.models, *config.definitions])
    return first_alike({model: _data_of(config.definitions[model]) for model in order})


def first_alike(keys: Mapping[str, Hashable]) -> dict[str, str]:
    """For each name, the first one with the same key."""
    first: dict[Hashable, str] = {}
    return {name: first.setdefault(key, name) for name, key in keys.items()}


def _data_of(definition: Definition) -> str:
    """All that determines the training data and the vocabularies of a model, as text."""
    data = {key: as_json(getattr(definition, key)) for key in _DATA}
    if definition.vocabulary.only_initial_vectors:
        data["initial_vectors"] = definition.training.initial_vectors
    if transformer := definition.architecture.transformer:
        data["tokens"] = transformer.place
    return json.dumps([data, definition.vocabularies, definition.architecture.tables], sort_keys=True)


class Models(Corpora):
    """What a checked configuration says about its models, besides their corpora; see `Corpora`."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        config, definitions = self.config, self.config.definitions
        # The models that are Transformers, and those with tables of pieces.
        self.transformers = [model for model in definitions if definitions[model].encoder.transformer]
        self.soups = [model for model in definitions if definitions[model].training.soup > 1]
        self.piece_models = [model for model in definitions if model not in self.transformers]
        # For each model, the one whose training data and vocabularies it uses; often the model itself.
        self.data_models = data_models(config)
        # The corpora of each model, with the languages of their sides, the same twice for paraphrases.
        self.corpus_pairs = {
            model: [
                (name, pair)
                for name in definitions[model].names
                for pair in pairs_of(definitions[model], name, self.datasets)
            ]
            for model in definitions
        }
        # The models in the tables of corpora, and a pair of model and corpus for each row about a corpus.
        self.model_corpora = [
            (model, name) for model in config.models for name in self.names_in_tables(model)
        ]
        # The models that hold out pairs of their corpora.
        self.held_out_models = [model for model in definitions if definitions[model].held_out]
        # The counts of their merged corpora.
        merged = (self.data_models[model] for model in config.models)
        self.merged_counts = [f"results/corpora/{model}/counts.json" for model in merged]
        # Study, setting and model of each row in the table of studies, and the models that studies leave out,
        # with the file that each of them lacks.
        self.study_models: list[tuple[str, str, str]] = []
        self.left_out: dict[str, str] = {}
        for study, entry in config.studies.items():
            for model, variant in variants(study, entry.model, entry.vary).items():
                if model not in config.models and (file := self._lacking_file(model)):
                    self.left_out[model] = file
                else:
                    self.study_models.append((study, variant.name, model))
        # For each model that begins from a teacher, the first one that begins in the same way.
        trainings = {model: definitions[model].training for model in definitions}
        begins = {model: (each.teacher, each.teacher_sentences) for model, each in trainings.items()}
        self.beginnings = first_alike({model: (self.data_models[model], begins[model]) for model in begins})
        # The models that a whole run trains.
        self.trained_models = {*config.models, *(model for _, _, model in self.study_models)}
        # The kinds of contaminated pairs that are left out of training.
        self.dropped_kinds = _DROPPED[config.contamination.drop]
        # What follows from each model's definition; rules look it up by the model's name.
        self.derived = {model: self._derived(model, definition) for model, definition in definitions.items()}

    def _derived(self, model: str, definition: Definition) -> Json:
        data, names = self.data_models[model], {}
        pairs = self.corpus_pairs.get(model, [])
        vectors = self.downloads(definition.training.initial_vectors)
        units: dict[str, Json] = {}
        for name, (unit, sides) in definition.vocabularies.items():
            vocabulary = definition.vocabulary.of_unit(unit)
            names[name] = {"unit": unit, "sides": list(sides)} | {
                key: getattr(vocabulary, key)
                for key in ("size", "character_coverage", "unknown", "max_sentences")
            }
            limits = {"max_pieces": vocabulary.max_pieces, "shared_unknown": vocabulary.unknown == "shared"}
            of_unit = units.setdefault(unit, {"unit": unit, "models": [], **limits})
            of_unit["models"].append(f"results/vocabulary/{data}/{name}.model")
        return {
            # The most pairs of each corpus, and of each pair of languages in it; None is all.
            "max_pairs": [definition.max_pairs.get(corpus) for corpus, _ in pairs],
            # How often these are written into the training data.
            "weights": [definition.weights.get(corpus) or 1 for corpus, _ in pairs],
            # The corpora without pairs, by their numbers.
            "texts": [number for number, (corpus, _) in enumerate(pairs) if self.is_text(corpus)],
            # Whether sentences from the same line of a corpus all mean the same.
            "grouped": any(
                kind == "mined" or KINDS[kind].grouped
                for kind in (self.datasets[corpus].kind for corpus in definition.names)
            ),
            "training_data": f"results/datasets/{data}/train.h5",
            # Training settings of each vocabulary, except the seed.
            "vocabularies": names,
            # In the order of units and languages.
            "vocabulary_files": [path for unit in units.values() for path in unit["models"]],
            # How to tokenize sentences in each unit, in the form that `dataset.UnitVocabulary` takes.
            "units": list(units.values()),
            # Empty if the embeddings do not begin from a teacher.
            "tables": [f"results/teachers/{self.beginnings[model]}/{definition.training.teacher}/tables.h5"]
            if definition.training.teacher
            else [],
            "pairs": f"results/corpora/{data}/pairs.parquet",
            # Empty if the embeddings begin at random.
            "initial_vectors": vectors,
            # Empty if words without such a vector are in the vocabulary, too.
            "vocabulary_vectors": vectors if definition.vocabulary.only_initial_vectors else [],
            "architecture": definition.architecture.to_json(),
        }

    def _lacking_file(self, model: str) -> str | None:
        """Return a file of a model's corpora that is given on request and not here; None if there is none."""
        for corpus, pair in self.corpus_pairs.get(model, []):
            for file in self.datasets[corpus].select(tuple(dict.fromkeys(pair))):
                # A finished download is enough, and so is a file by hand.
                places = (file.on_request or "", file.location, MANUAL / corpus / file.name)
                if file.on_request and not any(Path(place).is_file() for place in places):
                    return f"{file.on_request} ({corpus})"
        return None

    def of(self, key: str) -> OfWildcards:
        """Return a function that looks up a key of `derived` for the job's model."""
        return lambda wildcards: self.derived[wildcards.model][key]

    def transformer_files(self, wildcards: Wildcards) -> list[str]:
        """Return the files of the Transformer that the job's model begins with, if it is a folder."""
        place = self.definition(wildcards).encoder.transformer
        return folder_files(place) if place and Path(place).is_dir() else []

    def definition(self, wildcards: Wildcards) -> Definition:
        """Return the definition of the job's model."""
        return self.config.definitions[wildcards.model]

    def selection(self, wildcards: Wildcards) -> Json:
        """Return the filters of the job's model for pairs in the job's languages."""
        # Filters that compare the sides of a paraphrase would drop all lines of a text.
        is_paraphrase = len(languages_of(wildcards.pair)) == 1 and not self.is_text(wildcards.corpus)
        selection = self.definition(wildcards).selection
        return as_json(selection.paraphrase if is_paraphrase else selection.bitext)

    def merging(self, wildcards: Wildcards) -> Json:
        """Return how the corpora of the job's model are merged, in the form of `merge.Merging`."""
        derived = self.derived[wildcards.model]
        return {
            "duplicates": self.definition(wildcards).duplicates,
            "allow_few": self.definition(wildcards).allow_few,
            "drop": self.dropped_kinds,
            **{key: derived[key] for key in ("max_pairs", "weights", "grouped", "texts")},
        }

    def names_in_tables(self, model: str) -> list[str]:
        """Return names of a model's corpora, with the languages where it has several pairs of a corpus."""
        corpora = [corpus for corpus, _ in self.corpus_pairs[model]]
        return [
            (corpus if corpora.count(corpus) == 1 else f"{corpus} {'-'.join(pair)}")
            + (WITHOUT_PAIRS if self.is_text(corpus) else "")
            for corpus, pair in self.corpus_pairs[model]
        ]

    def corpus_files(self, model: str, path: str) -> list[str]:
        """Return one file per corpus and pair of languages of a model, in order."""
        named = {"model": model, "data": self.data_models[model]}
        return [
            path.format(**named, corpus=corpus, pair="-".join(pair))
            for corpus, pair in self.corpus_pairs[model]
        ]

    def of_corpora(self, path: str) -> OfWildcards:
        """Return a function for one file per corpus and pair of languages of the job's model, in order."""
        return lambda wildcards: self.corpus_files(wildcards.model, path)

    def contaminated(self, wildcards: Wildcards) -> list[str]:
        """Return the contaminated pairs of the job's model, if any pairs are left out because of them."""
        is_wanted = self.dropped_kinds or wildcards.model in self.held_out_models
        path = "results/contamination/{model}/{corpus}/{pair}.parquet"
        return self.corpus_files(wildcards.model, path) if is_wanted else []

    def held_out(self, wildcards: Wildcards) -> list[str]:
        """Return the file of the pairs that the job's model is not trained on, if there are any."""
        model = wildcards.model
        return (
            [f"results/held_out/{self.data_models[model]}.parquet"] if model in self.held_out_models else []
        )

    def of_model_corpora(self, path: str) -> list[str]:
        """Return the files of the `model_corpora`.

        In the path, `{data}` is the model whose training data are used.
        """
        return [file for model in self.config.models for file in self.corpus_files(model, path)]

    def training_settings(self, wildcards: Wildcards) -> TrainingSettings:
        """Return the settings of a training run, or of the first one for a model before training."""
        definition = self.definition(wildcards)
        # Snakemake also asks `train_model` for a run that is the average of several trainings.
        runs = {**definition.trainings, **definition.runs}
        return runs[getattr(wildcards, "run", next(iter(runs)))]

    def run(self, wildcards: Wildcards) -> Json:
        """Return what a training run makes, in the form of `initialization.TrainingInputs.of_definition`."""
        return {
            "settings": as_json(self.training_settings(wildcards)),
            "architecture": self.derived[wildcards.model]["architecture"],
            "config": self._about(wildcards),
        }

    def of_runs(self, name: str = "") -> OfWildcards:
        """Return a function for a file of every run of the job's model, or for all files of the runs."""
        return lambda wildcards: [
            path
            for run in self.definition(wildcards).runs
            for path in self._run_files(wildcards.model, run, name)
        ]

    def of_members(self, name: str = "") -> OfWildcards:
        """Return the same for every training that the job's run is the average of."""
        return lambda wildcards: [
            path
            for training in self.definition(wildcards).trainings
            if training.startswith(f"{wildcards.run}-member-")
            for path in self._run_files(wildcards.model, training, name)
        ]

    def _run_files(self, model: str, run: str, name: str) -> list[str]:
        folder = f"results/training/{model}/{run}"
        return [f"{folder}/{name}"] if name else self.model_files(model, folder)

    def sts2017(self, wildcards: Wildcards) -> list[str]:
        """Return the test sets with STS 2017, if the job's model knows English and there are any."""
        known = "en" in self.definition(wildcards).languages and self.config.evaluation.sts
        return ["results/testsets/sts.parquet"] if known else []

    def development(self, measure: Measure) -> OfWildcards:
        """Return a function for the data of a measure on which the job's model is scored in training.

        Their times are no reason to train again, since the scores are mostly just shown.
        """
        files = self.held_out if measure == "held_out" else self.sts2017
        return lambda wildcards: (
            [self.ancient(path) for path in files(wildcards)]
            if self.definition(wildcards).choose_by in ("mean", measure)
            else []
        )

    def uncounted_modules(self, wildcards: Wildcards) -> tuple[str, ...]:
        """Return the modules whose changes are no reason to train again.

        These are the module of Transformers, unless the job's model is one, and what scores a model in
        training, unless the scores decide when to stop.
        """
        others = () if wildcards.model in self.transformers else ("training.transformer",)
        stops = self.training_settings(wildcards).early_stopping
        scoring = () if stops else ("evaluation.development", "evaluation.held_out")
        return tuple(f"paraphrastic_pipeline.{module}" for module in (*scoring, *others))

    def _about(self, wildcards: Wildcards) -> Json:
        """Return the content of a model's config.json besides training."""
        definition = self.definition(wildcards)
        return {
            "model": wildcards.model,
            "languages": definition.languages,
            "corpora": {name: version for name, (version, _) in self._corpora_of(wildcards).items()},
            **self._permission(wildcards),
            "unit": definition.architecture.units[0],
            **self.preparation(definition.languages),
        }

    def _permission(self, wildcards: Wildcards) -> Json:
        """Return a model's teachers with their licences, and whether its data allow commercial use.

        A teacher's licence is known to allow it only if it is one of `OPEN_LICENCES`.
        """
        teachers = {}
        for teacher in self.definition(wildcards).teachers:
            system = self.config.systems.get(teacher)
            # A path on this machine would say nothing elsewhere.
            on_hub = system and hub_name(system.sentence_transformers or "")
            teachers[on_hub or (system and system.label) or teacher] = (system and system.licence) or "-"
        uses = {self.datasets[corpus].commercial for corpus in self._corpora_of(wildcards)}
        uses |= {"yes" if licence in OPEN_LICENCES else "unknown" for licence in teachers.values()}
        use = "forbidden" if "no" in uses else "allowed" if uses == {"yes"} else "unknown"
        return {"commercial_use": use} | ({"teachers": teachers} if teachers else {})

    def counted_corpora(self, wildcards: Wildcards) -> list[tuple[str, str, str]]:
        """Return name, version and licence of all that a model's counts of pairs have a row for, in order.

        These are its corpora or, where it has several pairs of languages of a corpus, these pairs. A licence
        of `-` is an unknown one.
        """
        corpora = self._corpora_of(wildcards)
        names = self.names_in_tables(wildcards.model)
        pairs = self.corpus_pairs[wildcards.model]
        return [(name, *corpora[corpus]) for name, (corpus, _) in zip(names, pairs, strict=True)]

    def unknown_text(self, wildcards: Wildcards) -> dict[str, str]:
        """Return what becomes of text without a piece, by unit."""
        definition = self.definition(wildcards)
        if definition.encoder.transformer:
            # What becomes of unknown text is the business of the Transformer's own tokenizer.
            return {}
        return {
            unit: str(definition.vocabulary.of_unit(unit).unknown) for unit in definition.architecture.units
        }

    def _corpora_of(self, wildcards: Wildcards) -> dict[str, tuple[str, str]]:
        """Return version and licence of each corpus that a model is trained on."""
        return {
            corpus: (
                self.datasets[corpus].select(tuple(dict.fromkeys(pair)))[0].version,
                self.datasets[corpus].licence,
            )
            for corpus, pair in self.corpus_pairs[wildcards.model]
        }

    def training_threads(self, wildcards: Wildcards, cores: int) -> int:
        """Return the threads of a training run if the runs of all models share the cores.

        Autograd has one, since its digits depend on the number of threads.
        """
        settings = self.training_settings(wildcards)
        if not settings.trains_fused(self.definition(wildcards).architecture):
            return 1
        runs = sum(len(self.config.definitions[model].trainings) for model in self.trained_models)
        return min(max(1, cores // runs), _THREADS)
