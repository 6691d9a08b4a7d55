"""What jobs ask for: the figures of `resources`, for the sizes of their inputs and models."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraphrastic.evaluation.layouts import TASKS
from paraphrastic.pipeline.corpora import Wildcards
from paraphrastic.pipeline.evaluations import Evaluations
from paraphrastic.pipeline.resources import (
    NEEDS,
    WEIGHTS,
    WORD_VECTORS,
    Need,
    bucc_need,
    memory_mb,
    minutes,
    speed_measuring_need,
    training_need,
    vocabulary_need,
    weights_mb,
)

# The MB of files, one or many.
Megabytes = Callable[[str | Iterable[str]], float]

# Steps that load one model, whose weights come on top.
_WITH_MODEL = {"initialise_model", "evaluate_run", "choose_model", *(f"evaluate_{task}" for task in TASKS)}
# The paper's dimension, for other people's encoders, whose dimension is not known before they are opened.
_DIMENSION = 1024


def megabytes_on_disk(paths: str | Iterable[str]) -> float:
    """MB of files, one or many."""
    return sum(Path(path).stat().st_size for path in ([paths] if isinstance(paths, str) else paths)) / 1e6


@dataclass(frozen=True, slots=True)
class Needs:
    """The resources of the rules, by the names of their steps."""

    evaluations: Evaluations

    def __call__(self, step: str, *, shared: bool = True) -> dict[str, Callable[..., int]]:
        """The resources `mem_mb` and `runtime` (in minutes) of a rule.

        Args:
            step: its name in `NEEDS`, or one of those whose need depends on the model; wildcards in it, such
                as `evaluate_{task}`, are filled in.
            shared: whether the threads share the work, and the time.
        """

        def need(wildcards: Wildcards, input: Any, megabytes: Megabytes = megabytes_on_disk) -> Need:
            return self.of(step.format(**dict(wildcards)), wildcards, input, megabytes)

        def mem_mb(wildcards: Wildcards, input: Any, attempt: int) -> int:
            return memory_mb(need(wildcards, input), attempt=attempt)

        def runtime(wildcards: Wildcards, input: Any, attempt: int, threads: int) -> int:
            return minutes(need(wildcards, input), attempt=attempt, threads=threads if shared else 1)

        # For a plan, which knows the sizes of files that are not there yet.
        mem_mb.need = need  # type: ignore[attr-defined]
        return {"mem_mb": mem_mb, "runtime": runtime}

    def of(self, step: str, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        """The need of a job; sizes are asked for only if they matter, since in a group they are not known."""
        special = {
            "score_pairs": self._scoring,
            "merge_pairs": self._merging,
            "measure_similarity": self._similarity,
            "train_vocabulary": self._vocabulary,
            "train_model": self._training,
            "evaluate_bucc": self._bucc,
            "measure_speed": self._speed,
        }
        if step in special:
            return special[step](wildcards, input, megabytes)
        if step in _WITH_MODEL:
            system = wildcards.system if hasattr(wildcards, "system") else wildcards.model
            return NEEDS[step] + WEIGHTS.of(self.weights_mb(system))
        return NEEDS[step].of(megabytes(input)) if NEEDS[step].sized else NEEDS[step]

    def weights_mb(self, system: str) -> float:
        """MB of a system's weights; as the configuration has them, since a model need not be there yet."""
        if system in self._config["systems"]:
            return megabytes_on_disk(self.evaluations.system_files(system))
        return weights_mb(self._config["definitions"][self.evaluations.trained_name(system)])

    @property
    def _config(self) -> Mapping[str, Any]:
        return self.evaluations.config

    def _definition(self, wildcards: Wildcards) -> Mapping[str, Any]:
        return self.evaluations.models.definition(wildcards)

    def _scoring(self, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        """Of a shard, which reads its part of the pairs; one tokenizer is slower than the other."""
        treebank = self.evaluations.corpora.overlap_tokenizer(wildcards) == "treebank"
        scoring = NEEDS["score_pairs_treebank" if treebank else "score_pairs"]
        words = WORD_VECTORS.of(megabytes(input.word_vectors))
        return scoring.of(megabytes(input.pairs) / self._config["shards"]) + words

    def _merging(self, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        """More if near duplicates are looked for."""
        near = self._definition(wildcards)["near_duplicates"]
        need = NEEDS["merge_near_duplicates" if near else "merge_pairs"]
        return need.of(megabytes(input))

    def _similarity(self, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        """Of a shard, by the size of the encoder and of its part of the pairs."""
        pairs_mb = megabytes(input.pairs) / self._config["shards"]
        return NEEDS["measure_similarity"].of(pairs_mb) + WEIGHTS.of(megabytes(input.encoder))

    def _vocabulary(self, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        return vocabulary_need(self._definition(wildcards), megabytes(input))

    def _training(self, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        """Of a run of a sweep, or of a part of the filter study."""
        settings = self.evaluations.models.run(wildcards)
        return training_need(self._definition(wildcards), settings, megabytes(input))

    def _bucc(self, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        definition = self._config["definitions"].get(self.evaluations.trained_name(wildcards.system))
        dimension = definition["training"]["dimension"] if definition else _DIMENSION
        weights = WEIGHTS.of(self.weights_mb(wildcards.system))
        return bucc_need(dimension, megabytes(input.sentences)) + weights

    def _speed(self, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        """All systems, one after the other; the largest decides on the memory."""
        systems = self.evaluations.systems_of("speed")
        sizes = [self.weights_mb(system) for system in systems]
        settings = self._config["evaluation"]["speed"]
        return speed_measuring_need(settings, len(systems)) + WEIGHTS.of(max(sizes))
