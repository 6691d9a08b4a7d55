"""Faults of a configuration that its schema cannot find."""

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.config.architecture import architecture_faults
from paraphrastic.config.definitions import OVERRIDABLE, WATCHING, selection_kind
from paraphrastic.config.dependencies import mining_encoder_faults
from paraphrastic.config.evaluation_validation import evaluation_faults
from paraphrastic.config.language_choice import choice_faults
from paraphrastic.config.local_files import dataset_faults, looks_like_a_path
from paraphrastic.config.testset_validation import testset_faults
from paraphrastic.registry.datasets import Dataset
from paraphrastic.registry.kinds import CORPUS_KINDS, may_have
from paraphrastic.registry.opus import OpusCorpus, list_command, read_list

Json = dict[str, Any]

# Scores of pairs that a filter study can rank by.
MEASURES = ("paraphrase_score", "trigram_overlap", "translation_score")
LANGUAGE_ID_KINDS = ("fasttext", "labelled", "file")


def semantic_faults(config: Json, written: Json, registry: Mapping[str, Dataset]) -> Iterator[str]:
    """Faults that a schema cannot find; `written` are the definitions before they were completed."""
    mirror = config["mirror"]
    if mirror is not None and not re.match("https?://[^/]", mirror) and not Path(mirror).is_dir():
        yield f"mirror: {mirror!r} is neither a folder nor an http(s) address"
    for model in config["models"]:
        if model not in written:
            yield f"models: {model!r} is not described under definitions; there are {', '.join(written)}"
    yield from _dataset_faults("language_id", config["language_id"], registry, LANGUAGE_ID_KINDS)
    yield from _dataset_faults("word_vectors", config["word_vectors"], registry, ("vectors", "file"))
    yield from testset_faults(config, registry, _dataset_faults)
    if config["contamination"]["drop"] == "near" and config["contamination"]["near_duplicates"] is None:
        yield "contamination.drop: near needs contamination.near_duplicates, which is null"
    for name, mined in config["mined"].items():
        yield from _corpora_faults(f"mined.{name}.corpora", mined, registry, config["mirror"])
        yield from mining_encoder_faults(name, config)
    yield from _study_faults(config, registry)
    yield from choice_faults(config)
    distances = config["language_choice"]["uriel"]
    yield from _dataset_faults("language_choice.uriel", distances, registry, ("uriel",))
    yield from evaluation_faults(config)
    for model, definition in config["definitions"].items():
        yield from dataset_faults(f"definitions.{model}", definition)
        yield from _corpora_faults(f"definitions.{model}.corpora", definition, registry, config["mirror"])
        # A fault of a global section, found again in every definition, is told once, where it stands.
        path = {key: f"definitions.{model}.{key}" if key in written[model] else key for key in OVERRIDABLE}
        yield from _training_faults(path["training"], definition["training"])
        yield from architecture_faults(path, definition)
        vectors = definition["training"]["initial_vectors"]
        yield from _dataset_faults(
            f"{path['training']}.initial_vectors", vectors, registry, ("vectors", "file")
        )
        for name in definition["max_pairs"]:
            yield from _dataset_faults(path["max_pairs"], name, registry, CORPUS_KINDS)
        for name in sorted(
            set(written[model].get("max_pairs", {})) & set(registry) - set(definition["corpora"])
        ):
            yield f"{path['max_pairs']}: {name!r} is none of this model's corpora"
        for kind, thresholds in definition["selection"].items():
            needed = kind == selection_kind(definition) and definition["dataset"] is None
            yield from _selection_faults(
                f"{path['selection']}.{kind}", thresholds, definition, config, registry, needed=needed
            )


def _study_faults(config: Json, registry: Mapping[str, Dataset]) -> Iterator[str]:
    study = config["filter_study"]
    model = study["model"]
    if model is None:
        return
    if model not in config["definitions"]:
        there = ", ".join(config["definitions"])
        yield f"filter_study.model: {model!r} is not described under definitions; there are {there}"
        return
    for key in sorted(set(study["training"]) & set(WATCHING)):
        yield f"filter_study.training.{key}: the model's own is used"
    definition = config["definitions"][model]
    if definition["dataset"] is not None:
        yield f"filter_study.model: {model!r} has no corpora to rank, but a dataset"
    if "initial_vectors" in study["training"]:
        yield "filter_study.training.initial_vectors: those of the model serve its study; leave the key out"
    if study["training"]:
        path = {key: f"definitions.{model}.{key}" for key in OVERRIDABLE} | {
            "training": "filter_study.training"
        }
        training = {**definition["training"], **study["training"]}
        # The model's own faults are told where they stand.
        if not any(architecture_faults(path, definition)):
            yield from architecture_faults(path, {**definition, "training": training})
    if selection_kind(definition) != "paraphrase":
        yield f"filter_study.model: {model!r} is a model of bitext; needed is one of paraphrases"
        return
    # The pipeline measures the other scores itself, the paraphrase score only by word vectors.
    given = ["translation_score"] if config["word_vectors"] else ["translation_score", "paraphrase_score"]
    for measure in (measure for measure in study["rank_by"] if measure in given):
        for name in definition["corpora"]:
            if name in registry and not may_have(measure, registry[name].kind):
                hint = ", and word_vectors is null" if measure == "paraphrase_score" else ""
                yield f"filter_study.rank_by: {name!r} has no {measure.replace('_', ' ')} of its own{hint}"


def _training_faults(path: str, training: Json) -> Iterator[str]:
    optimizer = training["optimizer"]
    if training["weight_decay"] > 0 and optimizer != "adamw":
        yield f"{path}.weight_decay: is for the optimizer adamw, not for {optimizer}"


def _selection_faults(
    path: str,
    thresholds: Json,
    definition: Json,
    config: Json,
    registry: Mapping[str, Dataset],
    *,
    needed: bool,
) -> Iterator[str]:
    for name, allowed in thresholds.items():
        if allowed and "max" in allowed and allowed["min"] > allowed["max"]:
            yield f"{path}.{name}: min {allowed['min']} is more than max {allowed['max']}"
    if needed and thresholds["language"] and config["language_id"] is None:
        yield f"{path}.language: needs language_id, which is null"
    if needed and thresholds.get("paraphrase_score") and config["word_vectors"] is None:
        for name in definition["corpora"]:
            if name in registry and not may_have("paraphrase_score", registry[name].kind):
                yield f"{path}.paraphrase_score: {name!r} has no score of its own, and word_vectors is null"


def _corpora_faults(
    path: str, definition: Json, registry: Mapping[str, Dataset], mirror: str | None
) -> Iterator[str]:
    languages = tuple(definition["languages"])
    listed = read_list(languages) if len(languages) == 2 else {}
    for name in definition["corpora"]:
        faults = list(_dataset_faults(path, name, registry, CORPUS_KINDS, listed or {}))
        in_opus = name not in registry or registry[name].kind == "opus"
        if not faults:
            try:
                registry[name].select(languages)
                continue
            except InputError as error:
                faults = [f"{path}: {error}"]
        hint = ""
        if name not in registry and looks_like_a_path(name):
            hint = f"; a file is given as {{path: {name}}}"
        elif listed is None and in_opus:
            hint = f"; what OPUS has can be used once it is listed: {list_command(languages, mirror)}"
        elif same := next((other for other in listed or () if other.lower() == name.lower()), None):
            hint = f"; OPUS has it as {same!r}"
        yield from (fault + hint for fault in faults)


def _dataset_faults(
    key: str,
    name: str | None,
    registry: Mapping[str, Dataset],
    kinds: tuple[str, ...],
    listed: Mapping[str, OpusCorpus] | None = None,
) -> Iterator[str]:
    """What is wrong with a data set's name; `listed` are corpora of OPUS that it might have been."""
    if name is None:
        return
    if name not in registry:
        guess = difflib.get_close_matches(name, [*(listed or ()), *registry], n=1)
        where = "the registry of data sets" + (" or in OPUS's list" if listed else "")
        hint = f"; did you mean {guess[0]!r}?" if guess else ""
        yield f"{key}: {name!r} is not in {where}{hint}"
    elif registry[name].kind not in kinds:
        yield f"{key}: {name!r} is of kind {registry[name].kind!r}; needed is {' or '.join(kinds)}"
