"""Systems and the tasks that they are evaluated on, for the rules of the pipeline.

`evaluation.tasks.TASKS` defines the tasks. As in `corpora`, a method that takes `wildcards` serves a rule
as an input or params function.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.errors import did_you_mean
from paraphrastic_pipeline.evaluation.tasks import TASKS
from paraphrastic_pipeline.evaluation.testset_names import TRACKS
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.settings.sections.configuration import Definition
from paraphrastic_pipeline.settings.sections.evaluation import System
from paraphrastic_pipeline.settings.sections.fields import as_json
from paraphrastic_pipeline.workflow.corpora import Wildcards, folder_files, languages_of
from paraphrastic_pipeline.workflow.models import Models


class Evaluations(Models):
    """What a checked configuration says about evaluating its models and other people's encoders.

    Raises:
        InputError: `evaluation.only` names unknown tasks or systems; the message has one line for each.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        definitions = self.config.definitions
        # Models by the names of the systems that they are before training.
        self.untrained = {f"{model}-untrained": model for model in definitions}
        # All systems that are evaluated, in the order of the tables' rows.
        self.systems = self._evaluated_systems(self.config.models)
        self._check_only()
        # Speed is measured on these models' English sentences, as in the papers; empty if it is not measured.
        self.speed_models = [
            model
            for model in self.config.models
            if self.config.evaluation.speed and any("en" in pair for _, pair in self.corpus_pairs[model])
        ]

    def _check_only(self) -> None:
        chosen = self.config.evaluation.only
        # Models that this run does not build may be named, too.
        systems = self._evaluated_systems(self.config.definitions)
        named = [(task, task, [*TASKS, "speed"]) for task in chosen]
        named += [(task, system, systems) for task in chosen for system in chosen[task]]
        faults = [
            f"config: evaluation.only.{task}: {name!r} is unknown"
            + did_you_mean(name, known, otherwise=f"there are {', '.join(known)}")
            for task, name, known in named
            if name not in known
        ]
        if faults:
            raise InputError(*faults)

    # Systems: our models, before and after training, and other people's encoders.

    def _evaluated_systems(self, models: Iterable[str]) -> list[str]:
        """Return the systems that are evaluated if these models are built."""
        systems = [*self.config.systems]
        for model in models:
            # A model that trains for no epochs is its own untrained version.
            twice = self.config.evaluation.untrained and self.config.definitions[model].training.epochs > 0
            systems += [f"{model}-untrained", model] if twice else [model]
        return systems

    def model_of(self, system: str) -> str:
        """Return the model that a system is, before training or after; other systems keep their names."""
        return self.untrained.get(system, system)

    def entry(self, system: str) -> System | Definition:
        """Return a system's part of the configuration: its entry in `systems`, or its model's definition."""
        external = self.config.systems.get(system)
        return external or self.config.definitions[self.model_of(system)]

    def place(self, system: str) -> Any:
        """Return where a system is, in the form that `open_encoder` takes."""
        if entry := self.config.systems.get(system):
            return {entry.kind: entry.place, "label": entry.label or system}
        model = self.untrained.get(system)
        return f"results/untrained/{model}" if model else f"results/models/{system}"

    def system_files(self, system: str) -> list[str]:
        """Return the files of a system; none if it has only a name."""
        place = self.place(system)
        if isinstance(place, str):
            return self.model_files(self.model_of(system), place)
        return folder_files(next(iter(place.values())))

    def knows(self, system: str, *languages: str) -> bool:
        """Whether a system knows languages; other people's know all unless the configuration says which."""
        known = self.entry(system).languages
        return known is None or set(languages) <= set(known)

    def sample(self, wildcards: Wildcards) -> Json:
        """Return which sentences of the job's model its teacher embeds, in the form of `teacher.Sample`."""
        return {
            "sentences": self.definition(wildcards).training.teacher_sentences,
            "languages": self._languages_of_corpora(wildcards.model),
            "known": self.entry(wildcards.system).languages,
            "texts": self.derived[wildcards.model]["texts"],
        }

    # Tasks.

    def about_result(self, wildcards: Wildcards) -> Json:
        """Return what results tell besides figures, in the form of `results.write_result`."""
        return {
            "task": wildcards.task,
            "source": "untrained" if wildcards.system in self.untrained else "measured",
            "bootstrap_samples": self.config.evaluation.bootstrap_samples,
            "sample": self.config.sample,
        }

    def task_arguments(self, wildcards: Wildcards) -> Json:
        """Return the arguments of the task's own function."""
        task = TASKS[wildcards.task]
        settings: Json = dict(task.settings)
        if task.parts:
            parts = self.evaluated(wildcards.task, wildcards.system)
            settings[task.parts] = [""] if task.of_models else parts
            if task.parts == "definitions":
                settings["languages"] = list(map(self._languages_of_corpora, parts))
        return settings

    def _languages_of_corpora(self, model: str) -> list[tuple[str, str]]:
        return [pair for _, pair in self.corpus_pairs[model]]

    def task_files(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        """Return the test sets of a task, one per part if parts have their own, and the official digests.

        Held-out pairs have no official digests, but the training data, which have the distractors.
        """
        task = TASKS[wildcards.task]
        if task.pairs:
            parts = self.evaluated(wildcards.task, wildcards.system)
            data = [self.data_models[part] for part in parts]
            named = {"testsets": task.testsets, "pairs": task.pairs}
            return {name: [path.format(part=part) for part in data] for name, path in named.items()}
        files: dict[str, str | list[str]] = {"testsets": task.testsets}
        if task.gold:
            files["gold"] = task.gold
        if "{part}" in task.testsets:
            parts = self.evaluated(wildcards.task, wildcards.system)
            files = {name: [str(path).format(part=part) for part in parts] for name, path in files.items()}
        name = Path(task.testsets).relative_to("results/testsets").parts[0].removesuffix(".parquet")
        return {**files, "official": f"config/published/{name}_digests.json"}

    def systems_of(self, task: str) -> list[str]:
        """Return the systems that are evaluated on a task, in the order of the tables' rows."""
        chosen = self.config.evaluation.only.get(task, self.systems)
        return [system for system in self.systems if system in chosen and self.is_for(task, system)]

    def is_for(self, task: str, system: str) -> bool:
        """Whether the configuration asks for a task and the system knows its languages."""
        if task == "speed":
            # An untrained model is as fast as a trained one.
            return system not in self.untrained and self.knows(system, "en")
        of_task = TASKS[task]
        if of_task.testsets == TASKS["sts"].testsets and self.config.evaluation.sts is None:
            return False
        if of_task.parts:
            return bool(self.parts(task, system))
        named = of_task.related and system in self.config.evaluation.only.get(task, [])
        # A task without its own test data has no key in the configuration.
        wanted = getattr(self.config.evaluation, task, "") is not None
        return wanted and (named or self.knows(system, *of_task.languages))

    def parts(self, task: str, system: str) -> list[str]:
        """Return the tracks, languages, pairs or definitions of a task that a system is evaluated on."""
        if TASKS[task].of_models:
            return [self.model_of(system)] if self.model_of(system) in self.held_out_models else []
        return [
            name
            for name, codes in self._languages_of_parts(task).items()
            if self.knows(system, *codes)
            and (TASKS[task].parts != "definitions" or self._is_fair(name, system))
        ]

    def _is_fair(self, definition: str, system: str) -> bool:
        """Return whether a system can be judged by the pairs that a definition holds out.

        A model of the configuration has not been trained on them if it has the same data, without these
        pairs, or other corpora.
        """
        if system in self.config.systems:
            return True
        own = self.model_of(system)
        corpora = [set(self.config.definitions[name].names) for name in (own, definition)]
        return self.data_models[own] == self.data_models[definition] or corpora[0].isdisjoint(corpora[1])

    def _languages_of_parts(self, task: str) -> Mapping[str, tuple[str, ...]]:
        """Return a task's chosen parts, or else those in the data set whose languages the models know."""
        kind, settings = TASKS[task].parts, getattr(self.config.evaluation, task, None)
        if kind == "tracks":
            return {name: TRACKS[name].languages for name in self.config.evaluation.tracks}
        if settings is None:
            return {}
        if kind == "definitions":
            return {name: tuple(self.config.definitions[name].languages) for name in settings}
        chosen, pairs = getattr(settings, kind), self.datasets[settings.testsets].pairs
        definitions = [self.config.definitions[model] for model in self.config.models]
        known = dict.fromkeys(code for definition in definitions for code in definition.languages)
        if kind == "languages":
            codes = [code for code in known if {code, "en"} in map(set, pairs)] if chosen is None else chosen
            return {code: (code, "en") for code in codes}
        named = None if chosen is None else [set(pair.split("-")) for pair in chosen]
        return {
            "-".join(pair): pair
            for pair in pairs
            if (set(pair) <= known.keys() if named is None else set(pair) in named)
        }

    def evaluated(self, task: str, system: str) -> list[str]:
        """Return the parts of a task that a system is evaluated on; having none is an `InputError`."""
        parts = self.parts(task, system)
        if not parts and TASKS[task].parts == "definitions":
            raise InputError(f"{system}: cannot be judged by any of the definitions of evaluation.retrieval")
        if not parts and TASKS[task].parts != "tracks":
            raise InputError(f"{system}: knows none of the evaluated languages of {self.testset_name(task)}")
        return parts

    def testset_name(self, task: str) -> Any:
        """Return the data set of a task's prepared files, or its data sets by name.

        It is the one of the evaluation, or if nothing is evaluated on the task, the one of the contamination
        check.
        """
        settings = getattr(self.config.evaluation, task)
        if settings is None:
            if checked := getattr(self.config.contamination.testsets, task, None):
                return checked
            raise InputError(f"config: evaluation.{task}: is null, so nothing is evaluated on it")
        return settings.testsets if TASKS[task].parts else as_json(settings)

    # Test sets.

    def bucc_file(self, wildcards: Wildcards) -> RemoteFile:
        """Return BUCC's archive of the job's pair."""
        name = self.testset_name("bucc")
        (file,) = self.datasets[name].select(languages_of(wildcards.pair))
        return file

    def suite_files(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """Return the files of a suite of transfer tasks, by data set."""
        named = self.testset_name(wildcards.suite)
        by_name = named if isinstance(named, Mapping) else {wildcards.suite: named}
        return {dataset: self.downloads(name) for dataset, name in by_name.items()}

    def contamination_files(self, wildcards: Wildcards) -> dict[str, Json]:
        """Return the files with sentences that a model must not train on, and their test sets and languages.

        A file in two languages counts only if the model knows both and, if the evaluation chooses languages
        or pairs, only if it is among these. Other models do not matter: they are no reason to train again.
        These are prepared test sets, but Tatoeba's files are read as they are, because sentences without an
        English translation count, too.
        """
        known = set(self.definition(wildcards).languages)
        # If two test sets use one data set, it is read once.
        testsets = as_json(self.config.contamination.testsets).items()
        by_name = {name: testset for testset, name in testsets if name is not None}
        files = {}
        for name, testset in by_name.items():
            chosen = None
            if testset in TASKS and (parts := TASKS[testset].parts):
                settings = getattr(self.config.evaluation, testset)
                chosen = getattr(settings, parts) if settings and settings.testsets == name else None
            # A language stands for its pair with English.
            named = [{*part.split("-"), *([] if "-" in part else ["en"])} for part in chosen or ()]
            # All files of STS are prepared in one.
            for file in self.datasets[name].files[: 1 if testset == "sts" else None]:
                pair = set(file.languages)
                if len(pair) < 2 or (pair <= known and (chosen is None or pair in named)):
                    prepared = TASKS[testset].testsets.format(part="-".join(file.languages))
                    path = self.locations([file])[0] if testset == "tatoeba" else prepared
                    files[path] = {"testset": testset, "languages": file.languages}
        return files

    # Model cards.

    def card_results(self, wildcards: Wildcards) -> list[str]:
        """Return the results that a model's card shows, in languages that the model knows."""
        tasks = (task for task in ("sts", "xling_sts") if self.is_for(task, wildcards.model))
        return [f"results/eval/{wildcards.model}/{task}.json" for task in tasks]

    def card_held_out(self, wildcards: Wildcards) -> list[str]:
        """Return the results on held-out pairs that a model's card tells, after training and before."""
        model = wildcards.model
        systems = [name for name in (model, f"{model}-untrained") if name in self.systems_of("held_out")]
        return [f"results/eval/{system}/held_out.json" for system in systems] if model in systems else []

    def tokenizer_files(self, wildcards: Wildcards) -> list[str]:
        """Return the files with which other libraries load a model; none if only this library can."""
        architecture = self.definition(wildcards).architecture
        if architecture.transformer:
            return self.model_files(wildcards.model, f"results/models/{wildcards.model}")
        loads = architecture.averaged and not architecture.separate and architecture.units != ("trigram",)
        names = ("tokenizer", "modules") if loads else ()
        return [f"results/models/{wildcards.model}/{name}.json" for name in names]

    def speed_columns(self) -> dict[str, list[str]]:
        """Return a corpus of each model whose English sentences are embedded, and its English columns."""
        if not self.speed_models:
            raise InputError("config: evaluation.speed: is null, or no model knows English")
        columns = {}
        for model in self.speed_models:
            corpus, pair = next((corpus, pair) for corpus, pair in self.corpus_pairs[model] if "en" in pair)
            path = f"results/selected/{self.data_models[model]}/{corpus}/{'-'.join(pair)}.parquet"
            sides = zip(("source", "target"), pair, strict=True)
            columns[path] = [column for column, language in sides if language == "en"]
        return columns
