"""The memory and time of steps, from the size of their input and from measurements.

The peak memory and usual processor time of each step's process were measured on an AMD EPYC (Zen 4), in runs
of `config/config.yaml` and `config/small.yaml`, and at 10 million pairs with `benchmarks/corpus.py` and
`benchmarks/training.py`. Sizes are those of the files on the disk. A plan uses the figures as they are; jobs
ask for more, to have a margin.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraphrastic.model.architecture import Architecture, Part
from paraphrastic_pipeline.evaluation.layouts import TASKS
from paraphrastic_pipeline.settings.sections.configuration import Definition
from paraphrastic_pipeline.settings.sections.evaluation import Speed
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.workflow.corpora import Wildcards
from paraphrastic_pipeline.workflow.evaluations import Evaluations
from paraphrastic_pipeline.workflow.need import Need
from paraphrastic_pipeline.workflow.transformer_needs import (
    lstm_mb,
    transformer_mb,
    transformer_need,
    transformer_seconds,
    translation_need,
)

# A function that returns the MB of one or more files.
Megabytes = Callable[[str | Iterable[str]], float]

# On other machines and data, a job may take this many times what was measured.
_MEMORY_MARGIN, _TIME_MARGIN = 1.5, 4.0
# MB of the program that runs a step on a node, in addition to the step itself.
_RUNNER_MB = 200
# Least minutes of a step, since a cluster's files may be slow. Steps that take seconds get fewer: many of
# them share a job, which gets the sum.
_LEAST_MINUTES, _LEAST_MINUTES_OF_SECONDS = 10, 3
_SECONDS = 10


# A pair takes about 40 bytes in an archive, 50 in Parquet and 121 in the training data.
NEEDS = {
    "download_file": Need(60, 900),
    # Corpora are streamed, so 10 million pairs take hardly more memory than one million.
    "extract_corpus": Need(415, 0.25, seconds_per_mb=0.12),
    "train_language_id": Need(165, 0.4, seconds_per_mb=3.3),
    "score_pairs": Need(883, 0.1, seconds_per_mb=0.9),
    # NLTK's tokenizer is slow, since it is written in Python.
    "score_pairs_treebank": Need(883, 0.1, seconds_per_mb=4),
    "select_pairs": Need(446, 0.25, seconds_per_mb=0.08),
    # A ranking of the whole corpus holds its scores in memory.
    "select_ranked": Need(446, 0.25, mb_per_mb=0.2, seconds_per_mb=0.1),
    "gather_testsets": Need(290, 0.6),
    "mark_contamination": Need(478, 0.45, seconds_per_mb=0.42),
    "hold_out_pairs": Need(469, 0.3, seconds_per_mb=0.05),
    "merge_pairs": Need(469, 0.2, seconds_per_mb=0.08),
    "merge_near_duplicates": Need(861, 2, mb_per_mb=0.25, seconds_per_mb=1),
    "describe_corpus": Need(438, 0.3, seconds_per_mb=0.1),
    "tabulate_corpora": Need(360, 2),
    "tabulate_negatives": Need(480, 3),
    "inspect_model": Need(600, 5),
    "rank_pairs": Need(800, 0.3, seconds_per_mb=0.1),
    "sample_paraphrases": Need(800, 5, seconds_per_mb=0.2),
    "measure_overlap": Need(95, 0.1, seconds_per_mb=0.05),
    "train_vocabulary": Need(130, 0.35, mb_per_mb=60, seconds_per_mb=0.7),
    "tokenize_pairs": Need(700, 4, seconds_per_mb=0.5),
    "encode_dataset": Need(255, 0.1, seconds_per_mb=0.35),
    "import_dataset": Need(180, 2, seconds_per_mb=0.02),
    # The weights come on top of these.
    "initialise_model": Need(385, 1.3),
    "evaluate_run": Need(270, 0.9),
    **{f"evaluate_{name}": Need(task.memory_mb, task.seconds) for name, task in TASKS.items()},
    # Merged pairs are half as large as those that are measured, and both sides are embedded.
    "embed_teacher": Need(580, 20, seconds_per_mb=22),
    "gather_translations": Need(480, 0.5, seconds_per_mb=0.9),
    "measure_similarity": Need(580, 20, seconds_per_mb=11),
    "convert_tokenizer": Need(120, 0.5),
    # These copy files, or read and write small ones.
    "choose_model": Need(45, 0.2),
    "write_card": Need(45, 0.1),
    "prepare": Need(270, 0.2),
    "tabulate": Need(120, 0.35),
    "plot": Need(105, 0.6),
}
# What a text in which words are counted adds to the table of corpora; 50 ms per MB, here of compressed text.
COUNTED_TEXT = Need(0, 0, seconds_per_mb=0.2)
# What weights and word vectors add to a step that loads them.
LOADED_WEIGHTS = Need(0, 0, mb_per_mb=1.4, seconds_per_mb=0.03)
WORD_VECTORS = Need(0, 0, mb_per_mb=2, seconds_per_mb=0.15)
# Steps that load one model, whose weights come on top.
_WITH_MODEL = {"initialise_model", "evaluate_run", *(f"evaluate_{task}" for task in TASKS)}
# The paper's dimension stands for that of other people's encoders, which is unknown until they are opened.
_DIMENSION = 1024
# Sentences per second that a model of the paper's size embeds.
_SPEED = 40_000
# Pairs per MB of training data; sentences per MB of merged pairs, of BUCC's sentences and of other tests.
_PAIRS, _SENTENCES, _BUCC_SENTENCES, _TEST_SENTENCES = 8_300, 40_000, 40_000, 40_000
# Seconds that an LSTM of 300 dimensions in one direction takes to train on a pair and to embed a sentence.
# LSTMs of 600, 1,200 and 1,800 took 2.7, 9 and 20 times as long; the products with their weights are 3, 10
# and 21 times as large. Two directions take twice as long.
_LSTM_PAIR, _LSTM_SENTENCE = 8.2e-3, 0.4e-3
# Seconds of an average of 300 dimensions for a pair, beside other parts, and of dense Adam for a parameter
# and a step. It updates all rows of all tables, however few of them are in the mini-batch.
_AVERAGE_PAIR, _ADAM_PARAMETER = 20e-6, 2e-9
# Seconds to count what occurs together in a pair, and for a column of the vectors that begin so; and MB of
# the counts of a million pairs or more.
_COUNTED_PAIR, _EIGENVECTOR, _COUNTS = 10e-6, 0.04, 800
# MB of memory for a column of a table that is joined with others.
_JOINED = 0.75
# Tokens of a sentence, and the floats for each token and dimension that LSTMs keep in a step: 8, and 8 more
# for each direction.
_TOKENS, _KEPT_FLOATS = 14, 8


def memory_mb(need: Need, *, attempt: int) -> int:
    """Return the MB to ask for; each further attempt adds half of the first one's."""
    return math.ceil((need.mb * _MEMORY_MARGIN + _RUNNER_MB) * (1 + (attempt - 1) / 2) / 100) * 100


def minutes(need: Need, *, attempt: int, threads: int = 1) -> int:
    """Return the minutes to ask for; each further attempt adds half of the first one's."""
    minutes = math.ceil(need.seconds * _TIME_MARGIN / threads / 60)
    least = _LEAST_MINUTES_OF_SECONDS if need.seconds < _SECONDS else _LEAST_MINUTES
    return math.ceil(max(least, minutes) * (1 + (attempt - 1) / 2))


def weights_mb(definition: Definition) -> float:
    """Return the MB of a model's weights: each part's table, a row per possible piece, and its LSTMs."""
    architecture, dimension = definition.architecture, definition.training.dimension
    if architecture.transformer:
        transformer = architecture.transformer
        return transformer_mb(transformer.place) + lstm_mb(transformer.place, transformer.lstm_size)
    rows = dict.fromkeys(architecture.units, 0)
    for unit, _ in definition.vocabularies.values():
        rows[unit] += definition.vocabulary.of_unit(unit)["size"]
    copies = 1 + (architecture.languages == "separate")
    if architecture.vocabularies == "shared":
        # The languages of one vocabulary have a table each if they share nothing.
        rows = {unit: copies * number for unit, number in rows.items()}
    weights = 0
    for part in architecture.parts:
        width = part.dimension or dimension
        weights += rows[part.unit] * (dimension if part.recurrent else width)
        weights += copies * _lstm_weights(part, dimension)
    return weights * 4 / 1e6


def vector_dimension(architecture: Architecture, dimension: int) -> int:
    """Return the dimension of an encoder's sentence vectors, where embeddings have `dimension`."""
    dimensions = [part.dimension or dimension for part in architecture.parts]
    return max(dimensions) if architecture.combine == "add" else sum(dimensions)


def _lstms(part: Part, dimension: int) -> tuple[int, int]:
    """Return the number of a part's LSTMs, and their width, where embeddings have `dimension`."""
    if not part.recurrent:
        return 0, 0
    directions = 1 + (part.kind == "bilstm")
    shared = directions if part.directions == "concatenate" else 1
    return directions, (part.dimension or dimension) // shared


def _lstm_weights(part: Part, dimension: int) -> int:
    directions, width = _lstms(part, dimension)
    return directions * width * (4 * (dimension + width + 1) + 3 * part.peepholes)


def _lstm_work(architecture: Architecture, dimension: int) -> float:
    """Return how long an encoder's LSTMs take, where one of 300 dimensions in one direction takes 1."""
    lstms = [_lstms(part, dimension) for part in architecture.parts]
    return sum(directions * width * (dimension + width) for directions, width in lstms) / (300 * 600)


def vocabulary_need(definition: Definition, size_mb: float) -> Need:
    """Return the need of training a vocabulary on merged pairs of `size_mb`, which sentencepiece holds."""
    most_mb = definition.vocabulary.max_sentences / _SENTENCES
    return NEEDS["train_vocabulary"].of(min(size_mb, most_mb))


def training_need(definition: Definition, settings: TrainingSettings, size_mb: float) -> Need:
    """Return the need of a training run with `settings` on training data of `size_mb`.

    Memory holds the weights and the optimizer's state; with autograd, the gradients of all weights and in
    the end a copy of them; the pairs that are shuffled together; the vectors of a mega-batch; and the states
    of LSTMs in a mini-batch. The time per pair grows with dimension and mega-batch for an average, and with
    the products with their weights for LSTMs. Autograd updates all weights at every step.
    Counts of what occurs together, with which embeddings may begin, take more for small tables, and joining
    the tables of several vocabularies for wide ones.
    """
    architecture, dimension = definition.architecture, settings.dimension
    if architecture.transformer:
        lstm = architecture.transformer.lstm_size is not None
        return transformer_need(weights_mb(definition), settings, size_mb, lstm=lstm)
    joined = weights_mb(definition)
    weights = joined
    if settings.trained_dimension:
        weights, dimension = joined * settings.trained_dimension / dimension, settings.trained_dimension
    vector = vector_dimension(architecture, dimension)
    fused = settings.trains_fused(architecture)
    pairs, megabatch, batch = size_mb * _PAIRS, settings.megabatch, settings.batch_size
    tables = (3 if fused else 5) + (settings.early_stopping is not None)
    cuts = 1 + len(settings.coarser)
    trainings = settings.soup * cuts
    # The beginning and the sum of each cut's trainings.
    tables += 2 * cuts if trainings > 1 else 0
    window = min(pairs, settings.shuffle_window)
    vectors = 2 * megabatch * batch * vector * 4
    mb = 740 + tables * weights + 260e-6 * window + 2e-6 * vectors
    if cuts > 1:
        # In the end, some sentences' vectors in all tables, which are joined.
        mb = max(mb, 740 + joined + 2 * cuts * weights + _JOINED * cuts * vector)
    lstms = [_lstms(part, dimension) for part in architecture.parts]
    kept = sum((_KEPT_FLOATS * (1 + directions)) * width for directions, width in lstms)
    # A pair has a negative for each side, so four sentences are embedded.
    mb += 4 * batch * _TOKENS * kept * 4e-6
    steps = settings.epochs * pairs / batch
    seconds = 0.75e-9 * mean_megabatch(megabatch, settings.megabatch_anneal, steps) * vector
    if fused:
        seconds += (78e-9 if settings.dropout else 55e-9) * dimension
    else:
        averages = sum(part.dimension or dimension for part in architecture.parts if not part.recurrent)
        seconds += _LSTM_PAIR * _lstm_work(architecture, dimension) + _AVERAGE_PAIR * averages / 300
        seconds += _ADAM_PARAMETER * weights * 1e6 / 4 / batch
    beginning = 0.0
    if settings.init == "cooccurrences":
        beginning = cuts * (_COUNTED_PAIR * pairs + _EIGENVECTOR * vector)
        mb = max(mb, 740 + 2 * cuts * weights + _COUNTS * min(1.0, 1e-6 * pairs))
    return Need(mb, 2.2 + beginning + settings.epochs * trainings * pairs * seconds)


def embedding_seconds(definition: Definition, sentences: float) -> float:
    """Return the seconds that a model's LSTMs take to embed sentences; averages take next to nothing."""
    if definition.encoder.transformer:
        return transformer_seconds(weights_mb(definition), sentences)
    work = _lstm_work(definition.architecture, definition.training.dimension)
    return _LSTM_SENTENCE * work * sentences


def mean_megabatch(megabatch: int, anneal: int, steps: float) -> float:
    """Return the mini-batches per mega-batch, on average over `steps`: 1, and one more every `anneal`.

    If `anneal` is 0, there are `megabatch` in all of them.
    """
    growing = min(steps, anneal * (megabatch - 1))
    if not steps or not growing:
        return float(megabatch)
    return (growing * (1 + growing / anneal / 2) + (steps - growing) * megabatch) / steps


def speed_measuring_need(settings: Speed, systems: int) -> Need:
    """Return the need of measuring the speed of systems in eight ways; `settings` limit the seconds."""
    seconds = min(settings.seconds, settings.sentences / _SPEED)
    return Need(425, systems * (0.9 + 8 * settings.repeats * seconds))


def bucc_need(dimension: int, size_mb: float) -> Need:
    """Return the need of mining BUCC's sentences: vectors of both languages, and all their products."""
    sentences = size_mb * _BUCC_SENTENCES
    mb = sentences * (650 + 4 * dimension) / 1e6
    return NEEDS["evaluate_bucc"] + Need(mb, 98 * (sentences / 400_000) ** 2 * dimension / 300)


def megabytes_on_disk(paths: str | Iterable[str]) -> float:
    """Return the MB of one or more files."""
    return sum(Path(path).stat().st_size for path in ([paths] if isinstance(paths, str) else paths)) / 1e6


@dataclass(frozen=True, slots=True)
class Needs:
    """The resources of the rules, by the names of their steps."""

    evaluations: Evaluations

    def __call__(self, step: str, *, shared: bool = True) -> dict[str, Callable[..., int]]:
        """Return the resources `mem_mb` and `runtime` (in minutes) of a rule.

        Args:
            step: a name in `NEEDS`, or a step whose need depends on the model; wildcards in it, such as in
                `evaluate_{task}`, are filled in.
            shared: whether the threads share the work, and so the time.
        """

        def need(wildcards: Wildcards, input: Any, megabytes: Megabytes = megabytes_on_disk) -> Need:
            return self.of(step.format(**dict(wildcards)), wildcards, input, megabytes)

        def mem_mb(wildcards: Wildcards, input: Any, attempt: int) -> int:
            return memory_mb(need(wildcards, input), attempt=attempt)

        def runtime(wildcards: Wildcards, input: Any, attempt: int, threads: int) -> int:
            return minutes(need(wildcards, input), attempt=attempt, threads=threads if shared else 1)

        # A plan calls this with sizes of files that do not exist yet.
        mem_mb.need = need  # type: ignore[attr-defined]
        return {"mem_mb": mem_mb, "runtime": runtime}

    def of(self, step: str, wildcards: Wildcards, input: Any, megabytes: Megabytes) -> Need:
        """Return a job's need; sizes are asked for only if they matter, since in a group they are unknown."""
        evaluations = self.evaluations
        config, models = evaluations.config, evaluations.models
        match step:
            case "score_pairs":
                # A shard reads its part of the pairs.
                treebank = evaluations.corpora.overlap_tokenizer(wildcards) == "treebank"
                need = NEEDS["score_pairs_treebank" if treebank else step]
                words = WORD_VECTORS.of(megabytes(input.word_vectors))
                return need.of(megabytes(input.pairs) / config.shards) + words
            case "select_pairs":
                ranked = models.selection(wildcards).get("rank")
                return NEEDS["select_ranked" if ranked else step].of(megabytes(input))
            case "merge_pairs":
                near = models.definition(wildcards).near_duplicates
                return NEEDS["merge_near_duplicates" if near else step].of(megabytes(input))
            case "measure_similarity":
                shard_mb = megabytes(input.pairs) / config.shards
                return NEEDS[step].of(shard_mb) + LOADED_WEIGHTS.of(megabytes(input.system))
            case "translate_corpus":
                shard_mb = megabytes(input.pairs) / config.shards
                translator = config.mined[wildcards.mined].translator
                return translation_need(translator, shard_mb) if translator else NEEDS[step]
            case "embed_teacher":
                of_teacher = LOADED_WEIGHTS.of(self.weights_mb(wildcards.system))
                return NEEDS[step].of(megabytes(input.pairs)) + of_teacher
            case "train_vocabulary":
                return vocabulary_need(models.definition(wildcards), megabytes(input))
            case "train_model":
                run = models.settings(wildcards)
                return training_need(models.definition(wildcards), run, megabytes(input))
            case "evaluate_bucc":
                entry, size = evaluations.entry(wildcards.system), megabytes(input.testsets)
                dimension, seconds = _DIMENSION, 0.0
                if isinstance(entry, Definition):
                    dimension = vector_dimension(entry.architecture, entry.training.dimension)
                    seconds = embedding_seconds(entry, size * _BUCC_SENTENCES)
                weights = LOADED_WEIGHTS.of(self.weights_mb(wildcards.system))
                return bucc_need(dimension, size) + weights + Need(0, seconds)
            case "tabulate_corpora":
                return NEEDS[step] + COUNTED_TEXT.of(megabytes(input.documents))
            case "tabulate_negatives":
                return NEEDS[step] + LOADED_WEIGHTS.of(self.weights_mb(config.negatives.model or ""))
            case "measure_speed":
                # Systems run one after the other, so the largest one determines the memory.
                sizes = [self.weights_mb(system) for system in evaluations.systems_of("speed")]
                speed = config.evaluation.speed or Speed()
                return speed_measuring_need(speed, len(sizes)) + LOADED_WEIGHTS.of(max(sizes))
        if step in _WITH_MODEL:
            system = wildcards.system if hasattr(wildcards, "system") else wildcards.model
            need, entry = NEEDS[step] + LOADED_WEIGHTS.of(self.weights_mb(system)), evaluations.entry(system)
            of_model = entry.architecture if isinstance(entry, Definition) else None
            slow = of_model and (of_model.recurrent or of_model.transformer)
            if slow and isinstance(entry, Definition) and step != "initialise_model":
                sentences = megabytes(input.testsets) * _TEST_SENTENCES
                need += Need(0, embedding_seconds(entry, sentences))
            return need
        return NEEDS[step].of(megabytes(input)) if NEEDS[step].sized else NEEDS[step]

    def weights_mb(self, system: str) -> float:
        """Return the MB of a system's weights, from a model's settings because it may not exist yet."""
        entry = self.evaluations.entry(system)
        if isinstance(entry, Definition):
            return weights_mb(entry)
        return megabytes_on_disk(self.evaluations.files(system))
