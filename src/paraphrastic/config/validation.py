"""Faults of a configuration that its schema cannot find, each in one line with the path of the key."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.config.architecture import architecture_of
from paraphrastic.config.definitions import OVERRIDABLE, WATCHING, selection_kind
from paraphrastic.config.dependencies import way
from paraphrastic.config.evaluation_validation import evaluation_faults
from paraphrastic.config.local_files import DATASET_FILES, looks_like_a_path, path_faults
from paraphrastic.config.names import dataset_faults, did_you_mean, undefined
from paraphrastic.registry.datasets import Dataset
from paraphrastic.registry.kinds import CORPUS_KINDS, KINDS
from paraphrastic.registry.opus import list_command, read_list

Json = dict[str, Any]
Registry = Mapping[str, Dataset]

# Scores of pairs that a filter study can rank by.
MEASURES = ("paraphrase_score", "trigram_overlap", "translation_score")
LANGUAGE_ID_KINDS = ("fasttext", "labelled", "file")
VECTOR_KINDS = ("vectors", "file")


def semantic_faults(config: Json, written: Json, registry: Registry) -> Iterator[str]:
    """Faults of a completed configuration; `written` are the definitions before they were completed."""
    mirror = config["mirror"]
    if mirror is not None and not re.match("https?://[^/]", mirror) and not Path(mirror).is_dir():
        yield f"mirror: {mirror!r} is neither a folder nor an http(s) address"
    for model in config["models"]:
        if model not in written:
            yield f"models: {undefined(model, written)}"
    yield from dataset_faults("language_id", config["language_id"], registry, LANGUAGE_ID_KINDS)
    yield from dataset_faults("word_vectors", config["word_vectors"], registry, VECTOR_KINDS)
    for name, mined in config["mined"].items():
        yield from _corpora_faults(f"mined.{name}.corpora", mined, registry, mirror)
        yield from _mining_encoder_faults(name, config)
    if config["filter_study"]["model"] is not None:
        yield from _filter_study_faults(config, registry)
    yield from _language_choice_faults(config, registry)
    yield from evaluation_faults(config, registry)
    for model, definition in config["definitions"].items():
        # A fault of a global section is found again in every definition; it is reported where it stands.
        path = {key: f"definitions.{model}.{key}" if key in written[model] else key for key in OVERRIDABLE}
        yield from _data_faults(f"definitions.{model}", definition)
        yield from _corpora_faults(f"definitions.{model}.corpora", definition, registry, mirror)
        yield from _training_faults(path, definition, registry)
        for name in definition["max_pairs"]:
            yield from dataset_faults(path["max_pairs"], name, registry, CORPUS_KINDS)
        capped = set(written[model].get("max_pairs", {})) & set(registry)
        for name in sorted(capped - set(definition["corpora"])):
            yield f"{path['max_pairs']}: {name!r} is none of this model's corpora"
        yield from _selection_faults(path["selection"], definition, config, registry)


def _data_faults(key: str, definition: Json) -> Iterator[str]:
    """Faults of a definition's `dataset`, or of corpora that are missing."""
    files = definition["dataset"]
    if files is None:
        if not definition["corpora"]:
            yield f"{key}.corpora: is missing"
        return
    if definition["corpora"]:
        yield f"{key}.dataset: takes the place of corpora: leave one of them out"
    for name in DATASET_FILES:
        yield from path_faults(f"{key}.dataset.{name}", files[name])
    architecture = architecture_of(definition)
    if architecture.units != ("subword",) or architecture.separate:
        yield f"{key}.dataset: is of subwords that the languages share, and not for {architecture.name}"


def _corpora_faults(path: str, definition: Json, registry: Registry, mirror: str | None) -> Iterator[str]:
    languages = tuple(definition["languages"])
    listed = read_list(languages) if len(languages) == 2 else {}
    for name in definition["corpora"]:
        faults = list(dataset_faults(path, name, registry, CORPUS_KINDS, listed or {}))
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


def _mining_encoder_faults(name: str, config: Json) -> Iterator[str]:
    """What is wrong with the encoder of a mined corpus; the corpora are all names by now."""
    mined, definitions = config["mined"][name], config["definitions"]
    encoder, at = mined["encoder"], f"mined.{name}.encoder"
    if not isinstance(encoder, str):
        if "path" in encoder:
            yield from path_faults(f"{at}.path", encoder["path"], folder=True)
    elif encoder not in definitions:
        others = "other models are given as {path: …} or {sentence_transformers: …}"
        hint = did_you_mean(encoder, definitions, otherwise=others)
        yield f"{at}: {encoder!r} is not described under definitions{hint}"
    elif needs := way(config, ("definitions", encoder), ("mined", name)):
        told = " needs ".join(each for _, each in needs)
        yield f"{at}: {encoder!r} is itself made of what it is to mine: {told}"
    elif unknown := [code for code in mined["languages"] if code not in definitions[encoder]["languages"]]:
        known = " and ".join(definitions[encoder]["languages"])
        yield f"{at}: {encoder!r} is a model of {known}, and does not know {' and '.join(unknown)}"


def _training_faults(path: Mapping[str, str], definition: Json, registry: Registry) -> Iterator[str]:
    """Faults of a definition's encoder and training; `path` is where their sections stand."""
    at, training = path["training"], definition["training"]
    if training["weight_decay"] > 0 and training["optimizer"] != "adamw":
        yield f"{at}.weight_decay: is for the optimizer adamw, not for {training['optimizer']}"
    yield from architecture_faults(path, definition)
    vectors = training["initial_vectors"]
    yield from dataset_faults(f"{at}.initial_vectors", vectors, registry, VECTOR_KINDS)


def architecture_faults(path: Mapping[str, str], definition: Json) -> Iterator[str]:
    """Faults of a definition's encoder, and of training that cannot be the encoder's."""
    training, encoder, at = definition["training"], definition["encoder"], f"{path['encoder']}.parts"
    architecture = architecture_of(definition)
    dimensions = [part.dimension or training["dimension"] for part in architecture.parts]
    for number, (part, dimension) in enumerate(zip(architecture.parts, dimensions, strict=True)):
        if part.pooling == "max" and not part.recurrent:
            yield f"{at}.{number}.pooling: max is for lstm and bilstm, not for average"
        if part.directions == "concatenate" and part.kind != "bilstm":
            yield f"{at}.{number}.directions: concatenate is for bilstm, not for {part.kind}"
        elif part.directions == "concatenate" and dimension % 2:
            yield f"{at}.{number}.dimension: {dimension} is odd, and a half of it is each direction's"
    if encoder["combine"] == "add" and len(set(dimensions)) > 1:
        sizes = ", ".join(map(str, dimensions))
        yield f"{path['encoder']}.combine: vectors of {sizes} entries cannot be added"
    if len(definition["languages"]) == 1:
        for section in ("encoder", "vocabulary"):
            if (sharing := definition[section]["languages"]) != "shared":
                language = definition["languages"][0]
                yield f"{path[section]}.languages: {sharing} needs two languages; there is only {language}"
    at, engine, penalty = path["training"], training["engine"], training["initial_vectors_penalty"]
    if engine == "fused" and not architecture.averaged:
        yield f"{at}.engine: fused is for one averaged part; auto or autograd trains {architecture.name}"
    lazy = training["optimizer"] == "lazy_adam"
    if lazy and (engine == "autograd" or not architecture.averaged):
        other = "autograd" if engine == "autograd" else f"autograd, which trains {architecture.name}"
        yield f"{at}.optimizer: lazy_adam is for the engine fused, not for {other}"
    if training["initial_vectors"] is not None and "word" not in architecture.units:
        yield f"{at}.initial_vectors: are for words; no part has the unit word"
    if penalty > 0 and training["initial_vectors"] is None:
        yield f"{at}.initial_vectors_penalty: needs initial_vectors, which is null"
    if penalty > 0 and (engine == "fused" or lazy):
        asked = "fused" if engine == "fused" else "fused, which lazy_adam needs"
        yield f"{at}.initial_vectors_penalty: is for the engine autograd, not for {asked}"


def _selection_faults(path: str, definition: Json, config: Json, registry: Registry) -> Iterator[str]:
    for kind, thresholds in definition["selection"].items():
        for name, allowed in thresholds.items():
            if allowed and "max" in allowed and allowed["min"] > allowed["max"]:
                yield f"{path}.{kind}.{name}: min {allowed['min']} is more than max {allowed['max']}"
        if kind != selection_kind(definition) or definition["dataset"] is not None:
            continue
        if thresholds["language"] and config["language_id"] is None:
            yield f"{path}.{kind}.language: needs language_id, which is null"
        if thresholds.get("paraphrase_score"):
            yield from _score_faults(
                f"{path}.{kind}.paraphrase_score", "paraphrase_score", definition, config, registry
            )


def _filter_study_faults(config: Json, registry: Registry) -> Iterator[str]:
    study, definitions = config["filter_study"], config["definitions"]
    model = study["model"]
    if model not in definitions:
        yield f"filter_study.model: {undefined(model, definitions)}"
        return
    for key in sorted(set(study["training"]) & set(WATCHING)):
        yield f"filter_study.training.{key}: the model's own is used"
    definition = definitions[model]
    if definition["dataset"] is not None:
        yield f"filter_study.model: {model!r} has no corpora to rank, but a dataset"
    if "initial_vectors" in study["training"]:
        yield "filter_study.training.initial_vectors: those of the model serve its study; leave the key out"
    if study["training"]:
        path = {key: f"definitions.{model}.{key}" for key in OVERRIDABLE} | {
            "training": "filter_study.training"
        }
        # The model's own faults are reported where they stand.
        if not any(architecture_faults(path, definition)):
            training = {**definition["training"], **study["training"]}
            yield from architecture_faults(path, {**definition, "training": training})
    if selection_kind(definition) != "paraphrase":
        yield f"filter_study.model: {model!r} is a model of bitext; needed is one of paraphrases"
        return
    for score in ("translation_score", "paraphrase_score"):
        if score in study["rank_by"]:
            yield from _score_faults("filter_study.rank_by", score, definition, config, registry)


def _score_faults(path: str, score: str, definition: Json, config: Json, registry: Registry) -> Iterator[str]:
    """The corpora of a definition that have no such score, and get none from word vectors."""
    measured = score == "paraphrase_score"
    if measured and config["word_vectors"] is not None:
        return
    for name in definition["corpora"]:
        kind = KINDS.get(registry[name].kind) if name in registry else None
        if name in registry and not (kind and score in kind.scores):
            why = ", and word_vectors is null" if measured else ""
            yield f"{path}: {name!r} has no {score.replace('_', ' ')} of its own{why}"


def _language_choice_faults(config: Json, registry: Registry) -> Iterator[str]:
    study = config["language_choice"]
    yield from dataset_faults("language_choice.uriel", study["uriel"], registry, ("uriel",))
    models: dict[str, str] = {}
    for number, model in enumerate(study["models"]):
        at = f"language_choice.models.{number}: {model!r}"
        definition = config["definitions"][model]
        languages = definition["languages"]
        if len(languages) != 2 or "en" not in languages:
            yield f"{at} is a model of {' and '.join(languages)}; needed is one of English and another one"
            continue
        (other,) = set(languages) - {"en"}
        if other in models:
            yield f"{at} and {models[other]!r} are both of {other}; each language counts once"
        models.setdefault(other, model)
        if study["prefixed"] and architecture_of(definition).tables == "separate":
            yield f"{at} shares nothing between its languages, so that a prefix would change nothing"
