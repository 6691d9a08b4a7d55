"""The configuration: checked in one go before anything runs, completed with its schema's defaults."""

import copy
import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from paraphrastic.errors import InputError
from paraphrastic.evaluation_faults import evaluation_faults
from paraphrastic.ingredients import encoder_faults, mined_datasets
from paraphrastic.language_choice import add_prefixed, choice_faults
from paraphrastic.opus import OpusCorpus, list_command, read_list
from paraphrastic.recipes import RECIPES
from paraphrastic.registry import Dataset, read_registry
from paraphrastic.sources import (
    complete_entry,
    corpus_name,
    file_faults,
    looks_like_a_path,
    named_datasets,
)
from paraphrastic.structure import structure_faults
from paraphrastic.studies import add_seeds, add_variants
from paraphrastic.testset_faults import testset_faults

Json = dict[str, Any]

# A number to people, and text to YAML.
_EXPONENT = re.compile(r"[-+]?\d+[eE][-+]?\d+")
# Kinds of data sets that hold training pairs.
CORPUS_KINDS = (
    "opus",
    "manythings",
    "aligned",
    "paranmt",
    "captions",
    "tsv",
    "jsonl",
    "parquet",
    "tmx",
    "mined",
)
# Those of them that never come with paraphrase scores.
UNSCORED_KINDS = ("opus", "manythings", "aligned", "captions", "tmx", "mined")
# Those that never come with translation scores.
UNTRANSLATED_KINDS = (*UNSCORED_KINDS, "paranmt")
# Scores of pairs that a filter study can rank by.
MEASURES = ("paraphrase_score", "trigram_overlap", "translation_score")
LANGUAGE_ID_KINDS = ("fasttext", "labelled", "file")
# Sections that a definition can override for its model.
OVERRIDABLE = (
    "selection",
    "duplicates",
    "near_duplicates",
    "max_pairs",
    "vocabulary",
    "encoder",
    "recipe",
    "training",
    "sweep",
)

# Settings of training that no figure depends on: a change of them is no reason to train again.
WATCHING = ("checkpoint_minutes", "tensorboard")


def check_config(config: Mapping[str, Any], *, schema: Path) -> tuple[Json, dict[str, Dataset]]:
    """The configuration with defaults filled in, and every definition completed with the global sections.

    What `training` leaves out is as the recipe has it. In a completed definition all `corpora` are names;
    `files` describes those that are given by a path.

    Returns:
        The configuration, and the data sets by name: the registry's, and those that only it names.

    Raises:
        InputError: one line for each fault, with the path of the key.
    """
    rules = yaml.safe_load(schema.read_text(encoding="utf-8"))
    checked = _plain(config)
    errors = _Validator(rules).iter_errors(checked)
    _refuse(sorted(fault for error in errors for fault in _schema_faults(error)))
    _refuse(add_variants(checked))
    _refuse(add_prefixed(checked))
    _refuse(add_seeds(checked))
    errors = _Validator(rules).iter_errors(checked)
    _refuse(sorted(fault for error in errors for fault in _schema_faults(error)))
    _fill_defaults(checked, rules, rules)
    registry = read_registry(checked["registry"])
    written = copy.deepcopy(checked["definitions"])
    for model, definition in checked["definitions"].items():
        completed = {section: checked[section] for section in OVERRIDABLE}
        completed = _merge(copy.deepcopy(completed), definition)
        _fill_defaults(completed, rules["$defs"]["definition"], rules)
        completed["training"] = {**RECIPES[completed["recipe"]], **completed["training"]}
        for part in completed["encoder"]["parts"]:
            _fill_defaults(part, rules["$defs"]["part"], rules)
            part["unit"] = part["unit"] or completed["vocabulary"]["unit"]
        checked["definitions"][model] = completed
    checked["training"] = {**RECIPES[checked["recipe"]], **checked["training"]}
    for section, kind in (("mined", "mined"), ("systems", "system")):
        for entry in checked[section].values():
            _fill_defaults(entry, rules["$defs"][kind], rules)
    _refuse(_name_files(checked, registry))
    datasets = {**registry, **named_datasets(checked, registry)}
    datasets |= mined_datasets(checked, datasets)
    _refuse(_semantic_faults(checked, written, datasets))
    return checked, datasets


def _refuse(faults: Iterable[str]) -> None:
    if lines := [f"config: {fault}" for fault in dict.fromkeys(faults)]:
        raise InputError("\n".join(lines))


# JSON Schema takes 5.0 for an integer and NaN for a number; Python's functions do not.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {
        "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
        "number": lambda _, value: (
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        ),
    }
)
_Validator = extend(Draft202012Validator, type_checker=_TYPES)


def sweep_runs(config: Mapping[str, Any], model: str) -> dict[str, Json]:
    """Training settings of every run of a model's sweep, by the name of the run."""
    definition = config["definitions"][model]
    return {
        f"dropout-{dropout}-megabatch-{megabatch}": {
            **{key: value for key, value in definition["training"].items() if key not in WATCHING},
            "dropout": float(dropout),
            "megabatch": megabatch,
            "seed": definition.get("seed", config["seed"]),
        }
        for dropout, megabatch in product(definition["sweep"]["dropout"], definition["sweep"]["megabatch"])
    }


def study_settings(config: Mapping[str, Any], model: str) -> Json:
    """Training settings of the filter study: of the first run of the model's sweep, with the study's own."""
    run = next(iter(sweep_runs(config, model).values()))
    return {**run, **config["filter_study"]["training"]}


def dropped_kinds(config: Mapping[str, Any]) -> list[str]:
    """The kinds of contaminated pairs that are left out of training."""
    return {"none": [], "exact": ["exact"], "near": ["exact", "near"]}[config["contamination"]["drop"]]


def pair_of(definition: Mapping[str, Any]) -> tuple[str, str]:
    """Languages of the two sides of a definition's pairs; the same one twice for paraphrases."""
    languages = definition["languages"]
    return languages[0], languages[-1]


def selection_kind(definition: Mapping[str, Any]) -> str:
    """Which section of the selection holds for a definition."""
    return "bitext" if len(definition["languages"]) == 2 else "paraphrase"


def _name_files(config: Json, registry: Mapping[str, Dataset]) -> Iterator[str]:
    """Put names in the place of corpora with a path, described under `files`; faults of these entries."""
    known: Json = {}
    orders: Json = {}
    for section in ("definitions", "mined"):
        for key, definition in config[section].items():
            corpora = definition["corpora"]
            yield from file_faults(f"{section}.{key}.corpora", corpora, known, registry)
            files = {corpus_name(each): complete_entry(each) for each in corpora if not isinstance(each, str)}
            definition["corpora"] = [corpus_name(entry) for entry in corpora]
            definition["files"] = files
            known |= files
            languages = definition["languages"]
            for name in files:
                first = orders.setdefault(f"{name} {sorted(languages)}", languages)
                # Columns that are named by the languages need no order.
                ordered = files[name]["kind"] == "tsv" or files[name]["columns"]
                if ordered and first != languages:
                    elsewhere = f"the columns of {name!r} are {'-'.join(first)} elsewhere"
                    yield f"{section}.{key}.corpora: {elsewhere}: give it another name and its columns here"
    for name in config["mined"]:
        if name in registry or name in known:
            owner = "the registry of data sets" if name in registry else "a file"
            yield f"mined.{name}: the name is taken by {owner}: give it another name"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _merge(base: Json, override: Mapping[str, Any]) -> Json:
    for key, value in override.items():
        if isinstance(value, Mapping) and isinstance(base.get(key), dict):
            _merge(base[key], value)
        else:
            base[key] = copy.deepcopy(value)
    return base


def _fill_defaults(value: Json, schema: Json, rules: Json) -> None:
    """Fill in what `value` leaves out; an object without a default of its own gets its entries' defaults."""
    for key, rule in schema.get("properties", {}).items():
        rule = {**_referenced(rule, rules), **rule}
        if key not in value and "default" in rule:
            value[key] = copy.deepcopy(rule["default"])
        elif key not in value and "properties" in rule:
            value[key] = {}
        if isinstance(value.get(key), dict):
            _fill_defaults(value[key], rule, rules)


def _referenced(rule: Json, rules: Json) -> Json:
    reference = rule.get("$ref")
    definition: Json = rules["$defs"][reference.removeprefix("#/$defs/")] if reference else {}
    return definition


def _schema_faults(error: ValidationError) -> Iterator[str]:
    path = ".".join(map(str, error.absolute_path))
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        for key in sorted(set(error.instance) - set(known)):
            guess = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {guess[0]!r}?" if guess else f"known keys are {', '.join(known)}"
            yield f"{_join(path, key)}: unknown key; {hint}"
    elif error.validator == "required":
        for key in error.schema["required"]:
            if key not in error.instance:
                yield f"{_join(path, key)}: is missing"
    elif error.validator == "minItems" and not error.instance:
        yield f"{path}: is empty"
    elif error.validator == "minItems":
        yield f"{path}: has {len(error.instance)} entry, at least {error.validator_value} are needed"
    else:
        hint = ""
        if (
            error.validator == "type"
            and isinstance(error.instance, str)
            and _EXPONENT.fullmatch(error.instance)
        ):
            hint = f"; write {float(error.instance)!r}, since YAML takes an exponent without a point for text"
        yield f"{path or 'configuration'}: {error.message}{hint}"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _semantic_faults(config: Json, written: Json, registry: Mapping[str, Dataset]) -> Iterator[str]:
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
        yield from encoder_faults(name, config)
    yield from _study_faults(config, registry)
    yield from choice_faults(config)
    distances = config["language_choice"]["uriel"]
    yield from _dataset_faults("language_choice.uriel", distances, registry, ("uriel",))
    yield from evaluation_faults(config)
    for model, definition in config["definitions"].items():
        yield from _corpora_faults(f"definitions.{model}.corpora", definition, registry, config["mirror"])
        # A fault of a global section, found again in every definition, is told once, where it stands.
        path = {key: f"definitions.{model}.{key}" if key in written[model] else key for key in OVERRIDABLE}
        yield from _training_faults(path["training"], definition["training"])
        yield from structure_faults(path, definition)
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
            needed = kind == selection_kind(definition)
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
    if "initial_vectors" in study["training"]:
        yield "filter_study.training.initial_vectors: those of the model serve its study; leave the key out"
    if study["training"]:
        path = {key: f"definitions.{model}.{key}" for key in OVERRIDABLE} | {
            "training": "filter_study.training"
        }
        training = {**definition["training"], **study["training"]}
        # The model's own faults are told where they stand.
        if not any(structure_faults(path, definition)):
            yield from structure_faults(path, {**definition, "training": training})
    if selection_kind(definition) != "paraphrase":
        yield f"filter_study.model: {model!r} is a model of bitext; needed is one of paraphrases"
        return
    unscored: dict[str, tuple[str, ...]] = {"translation_score": UNTRANSLATED_KINDS}
    if config["word_vectors"] is None:
        unscored["paraphrase_score"] = UNSCORED_KINDS
    for measure in study["rank_by"]:
        for name in definition["corpora"]:
            if name in registry and registry[name].kind in unscored.get(measure, ()):
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
            if name in registry and registry[name].kind in UNSCORED_KINDS:
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
