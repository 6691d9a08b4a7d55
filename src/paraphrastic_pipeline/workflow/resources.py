"""The memory and time that jobs ask for: what their steps take, and a margin."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paraphrastic_pipeline.evaluation.testset_names import OTHERS
from paraphrastic_pipeline.settings.sections.configuration import Definition
from paraphrastic_pipeline.settings.sections.evaluation import Speed
from paraphrastic_pipeline.workflow.corpora import DESCRIBED_SENTENCES, Wildcards
from paraphrastic_pipeline.workflow.evaluations import Evaluations
from paraphrastic_pipeline.workflow.model_needs import (
    embedding_seconds,
    fitting_need,
    model_mb,
    place_mb,
    teaching_seconds,
    training_need,
    translation_need,
    vector_dimension,
    vocabulary_need,
    weights_mb,
)
from paraphrastic_pipeline.workflow.need import NEEDS, SENTENCES, Need

# A function that returns the MB of one or more files.
Megabytes = Callable[[str | Iterable[str]], float]

# The step that reserves all cores, so that nothing disturbs the clock, but uses only one.
MONOLINGUAL = "measure_speed"
# On other machines and data, a job may take this many times what was measured.
_MEMORY_MARGIN, _TIME_MARGIN = 1.5, 4.0
# MB of the program that runs a step on a node, in addition to the step itself.
_RUNNER_MB = 200
# Least minutes of a step, since a cluster's files may be slow. Steps that take seconds get fewer: many of
# them share a job, which gets the sum.
_LEAST_MINUTES, _LEAST_MINUTES_OF_SECONDS, _SECONDS = 10, 3, 10
# The paper's dimension stands for that of other people's encoders, which is unknown until they are opened.
_DIMENSION = 1024
# Sentences per second that a model of the paper's size embeds.
_SPEED = 40_000
# MB of a sentence of the sample that the statistics of a corpus are from.
_SAMPLED = 25e-6


def memory_mb(need: Need, *, attempt: int) -> int:
    """Return the MB to ask for; each further attempt adds half of the first one's."""
    return math.ceil((need.mb * _MEMORY_MARGIN + _RUNNER_MB) * (1 + (attempt - 1) / 2) / 100) * 100


def minutes(need: Need, *, attempt: int, threads: int = 1) -> int:
    """Return the minutes to ask for; each further attempt adds half of the first one's."""
    least = _LEAST_MINUTES_OF_SECONDS if need.seconds < _SECONDS else _LEAST_MINUTES
    minutes = max(least, math.ceil(need.seconds * _TIME_MARGIN / threads / 60))
    return math.ceil(minutes * (1 + (attempt - 1) / 2))


def megabytes_on_disk(paths: str | Iterable[str]) -> float:
    """Return the MB of one or more files."""
    return sum(Path(path).stat().st_size for path in ([paths] if isinstance(paths, str) else paths)) / 1e6


def bucc_need(dimension: int, size_mb: float) -> Need:
    """Return what mining BUCC's sentences adds: vectors of both languages, and all their products."""
    sentences = size_mb * SENTENCES
    return Need(sentences * (650 + 4 * dimension) / 1e6, (sentences / 400_000) ** 2 * dimension / 3)


@dataclass(frozen=True, slots=True)
class Needs:
    """The resources of the rules, by the names of their steps."""

    evaluations: Evaluations

    def __call__(self, step: str) -> dict[str, Callable[..., int]]:
        """Return the resources `mem_mb` and `runtime` (in minutes) of a rule.

        Args:
            step: a name in `NEEDS`; wildcards in it, such as in `evaluate_{task}`, are filled in.
        """

        def need(wildcards: Wildcards, input: Any, megabytes: Megabytes = megabytes_on_disk) -> Need:
            return self.of(step.format(**dict(wildcards)), wildcards, input, megabytes)

        def mem_mb(wildcards: Wildcards, input: Any, attempt: int) -> int:
            return memory_mb(need(wildcards, input), attempt=attempt)

        def runtime(wildcards: Wildcards, input: Any, attempt: int, threads: int) -> int:
            sharing = 1 if step == MONOLINGUAL else threads
            return minutes(need(wildcards, input), attempt=attempt, threads=sharing)

        # A plan calls this with sizes of files that do not exist yet.
        mem_mb.need = need  # type: ignore[attr-defined]
        return {"mem_mb": mem_mb, "runtime": runtime}

    def of(self, step: str, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        """Return a job's need; sizes are asked for only if they matter, since in a group they are unknown."""
        config, models = self.evaluations.config, self.evaluations.models
        match step:
            case "score_pairs":
                treebank = self.evaluations.corpora.overlap_tokenizer(wildcards) == "treebank"
                need = NEEDS["score_pairs_treebank" if treebank else step]
                return need.of(megabytes(input.pairs) / config.shards)
            case "measure_similarity":
                weights = NEEDS["weights"].of(megabytes(input.system))
                return NEEDS[step].of(megabytes(input.pairs) / config.shards) + weights
            case "translate_corpus" if translator := config.mined[wildcards.mined].translator:
                return translation_need(translator, megabytes(input.pairs) / config.shards)
            case "select_pairs" if getattr(models.filters(wildcards), "rank", None):
                step = "select_pairs_ranked"
            case "describe_corpus":
                size, sampled = megabytes(input), 2 * DESCRIBED_SENTENCES * _SAMPLED
                return replace(NEEDS[step].of(size), disk_mb=min(size, sampled))
            case "embed_pieces" | "embed_sample" | "fit_tables":
                return self._beginning(step, models.definition(wildcards), wildcards.system)
            case "encode_dataset" | "tokenize_pairs":
                need = NEEDS[step].of(megabytes(input.pairs))
                # Every unit has training data of its own.
                units = len(models.definition(wildcards).architecture.units)
                return replace(need, disk_mb=units * need.disk_mb)
            case "measure_speed":
                return self._measuring()
            case "average_runs" | "choose_model":
                return NEEDS[step] + Need(0, 0, model_mb(models.definition(wildcards)))
            case "initialize_model":
                definition = models.definition(wildcards)
                return NEEDS[step] + self._loading(wildcards.model) + Need(0, 0, model_mb(definition))
            case "train_vocabulary":
                return vocabulary_need(models.definition(wildcards), megabytes(input.pairs))
            case "train_model":
                run, size = models.settings(wildcards), megabytes(input.dataset)
                return training_need(models.definition(wildcards), run, size)
            case _ if step.startswith("evaluate_"):
                return self._evaluating(step, wildcards, input, megabytes)
        return NEEDS[step].of(megabytes(input)) if NEEDS[step].sized else NEEDS[step]

    def _beginning(self, step: str, definition: Definition, system: str) -> Need:
        """Return the need of a step between a teacher and the tables that begin from it."""
        pieces, sentences = definition.vocabulary.size, definition.training.teacher_sentences
        if step == "fit_tables":
            return NEEDS[step] + fitting_need(pieces, sentences)
        texts = pieces if step == "embed_pieces" else sentences
        return NEEDS[step] + self._loading(system) + Need(0, teaching_seconds(self.weights_mb(system), texts))

    def _evaluating(self, step: str, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        system = wildcards.system if hasattr(wildcards, "system") else wildcards.model
        entry, need = self.evaluations.entry(system), NEEDS[step] + self._loading(system)
        dimension, others = _DIMENSION, 0
        if step == "evaluate_retrieval":
            others = 2 * OTHERS * len(self.evaluations.parts("retrieval", system))
        if isinstance(entry, Definition):
            architecture = entry.architecture
            dimension = vector_dimension(architecture, entry.training.dimension)
            if architecture.recurrent or architecture.transformer:
                need += Need(0, embedding_seconds(entry, megabytes(input.testsets) * SENTENCES + others))
        elif entry.sentence_transformers:
            need += Need(0, teaching_seconds(self.weights_mb(system), others))
        return need + bucc_need(dimension, megabytes(input.testsets)) if step == "evaluate_bucc" else need

    def _measuring(self) -> Need:
        """Return the need of measuring systems one after the other, each in eight ways."""
        speed = self.evaluations.config.evaluation.speed or Speed()
        systems = self.evaluations.systems_of("speed")
        seconds = 8 * speed.repeats * min(speed.seconds, speed.sentences / _SPEED)
        largest = max(map(self.weights_mb, systems), default=0.0)
        need = NEEDS[MONOLINGUAL]
        return Need(need.mb, len(systems) * (need.seconds + seconds)) + NEEDS["weights"].of(largest)

    def _loading(self, system: str) -> Need:
        return NEEDS["weights"].of(self.weights_mb(system))

    def weights_mb(self, system: str) -> float:
        """Return the MB of a system's weights, from a model's settings because it may not exist yet."""
        is_teacher = system in self.evaluations.models.teacher_places
        if not is_teacher and isinstance(entry := self.evaluations.entry(system), Definition):
            return weights_mb(entry)
        return megabytes_on_disk(self.evaluations.files(system)) or place_mb(self.place(system))

    def place(self, system: str) -> str:
        """Return the folder or the name of another encoder."""
        return str(next(iter(self.evaluations.place(system).values())))

    def is_guessed(self, system: str) -> bool:
        """Return whether a system is a Transformer whose size is not known before it is downloaded."""
        entry, teachers = self.evaluations.config.systems.get(system), self.evaluations.models.teacher_places
        is_transformer = entry.sentence_transformers if entry else system in teachers
        return bool(is_transformer) and not self.weights_mb(system)
