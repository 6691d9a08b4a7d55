"""What jobs ask for: the figures of `resources`, for the sizes of their inputs and models."""

from collections.abc import Callable, Iterable
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
        evaluations = self.evaluations
        config, models = evaluations.config, evaluations.models
        match step:
            case "score_pairs":
                # A shard reads its part of the pairs; one tokenizer is slower than the other.
                treebank = evaluations.corpora.overlap_tokenizer(wildcards) == "treebank"
                need = NEEDS["score_pairs_treebank" if treebank else step]
                words = WORD_VECTORS.of(megabytes(input.word_vectors))
                return need.of(megabytes(input.pairs) / config["shards"]) + words
            case "merge_pairs":
                near = models.definition(wildcards)["near_duplicates"]
                return NEEDS["merge_near_duplicates" if near else step].of(megabytes(input))
            case "measure_similarity":
                shard_mb = megabytes(input.pairs) / config["shards"]
                return NEEDS[step].of(shard_mb) + WEIGHTS.of(megabytes(input.encoder))
            case "train_vocabulary":
                return vocabulary_need(models.definition(wildcards), megabytes(input))
            case "train_model":
                settings = models.run(wildcards)
                return training_need(models.definition(wildcards), settings, megabytes(input))
            case "evaluate_bucc":
                definition = config["definitions"].get(evaluations.trained_name(wildcards.system))
                dimension = definition["training"]["dimension"] if definition else _DIMENSION
                weights = WEIGHTS.of(self.weights_mb(wildcards.system))
                return bucc_need(dimension, megabytes(input.sentences)) + weights
            case "measure_speed":
                # All systems run one after the other; the largest decides on the memory.
                sizes = [self.weights_mb(system) for system in evaluations.systems_of("speed")]
                settings = config["evaluation"]["speed"]
                return speed_measuring_need(settings, len(sizes)) + WEIGHTS.of(max(sizes))
        if step in _WITH_MODEL:
            system = wildcards.system if hasattr(wildcards, "system") else wildcards.model
            return NEEDS[step] + WEIGHTS.of(self.weights_mb(system))
        return NEEDS[step].of(megabytes(input)) if NEEDS[step].sized else NEEDS[step]

    def weights_mb(self, system: str) -> float:
        """MB of a system's weights; as the configuration has them, since a model need not be there yet."""
        config = self.evaluations.config
        if system in config["systems"]:
            return megabytes_on_disk(self.evaluations.system_files(system))
        return weights_mb(config["definitions"][self.evaluations.trained_name(system)])
