"""The configuration: checked in one go before anything runs, completed with its schema's defaults."""

import copy
import difflib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from paraphrastic.errors import InputError
from paraphrastic.registry import Dataset

Json = dict[str, Any]

# Kinds of data sets that hold training pairs.
CORPUS_KINDS = ("opus", "manythings", "aligned", "paranmt", "captions")
# Sections that a definition can override for its model.
OVERRIDABLE = ("selection", "duplicates", "max_pairs", "vocabulary", "training", "sweep")


def check_config(config: Mapping[str, Any], *, schema: Path, registry: Mapping[str, Dataset]) -> Json:
    """The configuration with defaults filled in, and every definition completed with the global sections.

    Raises:
        InputError: one line for each fault, with the path of the key.
    """
    rules = yaml.safe_load(schema.read_text(encoding="utf-8"))
    checked = _plain(config)
    faults = sorted(
        fault for error in Draft202012Validator(rules).iter_errors(checked) for fault in _schema_faults(error)
    )
    if not faults:
        _fill_defaults(checked, rules, rules)
        written = copy.deepcopy(checked["definitions"])
        for model, definition in checked["definitions"].items():
            completed = {section: checked[section] for section in OVERRIDABLE}
            completed = _merge(copy.deepcopy(completed), definition)
            _fill_defaults(completed, rules["$defs"]["definition"], rules)
            checked["definitions"][model] = completed
        faults = list(dict.fromkeys(_semantic_faults(checked, written, registry)))
    if faults:
        raise InputError("\n".join(f"config: {fault}" for fault in faults))
    return checked


def sweep_runs(config: Mapping[str, Any], model: str) -> dict[str, Json]:
    """Training settings of every run of a model's sweep, by the name of the run."""
    definition = config["definitions"][model]
    return {
        f"dropout-{dropout}-megabatch-{megabatch}": {
            **definition["training"],
            "dropout": float(dropout),
            "megabatch": megabatch,
            "seed": config["seed"],
        }
        for dropout, megabatch in product(definition["sweep"]["dropout"], definition["sweep"]["megabatch"])
    }


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
    elif error.validator == "minItems":
        yield f"{path}: is empty"
    else:
        yield f"{path or 'configuration'}: {error.message}"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _semantic_faults(config: Json, written: Json, registry: Mapping[str, Dataset]) -> Iterator[str]:
    """Faults that a schema cannot find; `written` are the definitions before they were completed."""
    for model in config["models"]:
        if model not in written:
            yield f"models: {model!r} is not described under definitions; there are {', '.join(written)}"
    for key in ("language_id", "word_vectors", "evaluation.sts"):
        section, _, entry = key.partition(".")
        name = config[section][entry] if entry else config[section]
        if name is not None:
            yield from _dataset_faults(key, name, registry, corpus=False)
    for testset, name in config["contamination"]["testsets"].items():
        if name is not None:
            yield from _dataset_faults(f"contamination.testsets.{testset}", name, registry, corpus=False)
    if config["contamination"]["drop"] == "near" and config["contamination"]["near_duplicates"] is None:
        yield "contamination.drop: near needs contamination.near_duplicates, which is null"
    for model, definition in config["definitions"].items():
        yield from _corpora_faults(f"definitions.{model}.corpora", definition, registry)
        # A fault of a global section, found again in every definition, is told once, where it stands.
        path = {key: f"definitions.{model}.{key}" if key in written[model] else key for key in OVERRIDABLE}
        for name in definition["max_pairs"]:
            yield from _dataset_faults(path["max_pairs"], name, registry, corpus=True)
        for kind, thresholds in definition["selection"].items():
            for name in ("length", "trigram_overlap", "paraphrase_score"):
                allowed = thresholds[name]
                if allowed and allowed["min"] > allowed["max"]:
                    fault = f"min {allowed['min']} is more than max {allowed['max']}"
                    yield f"{path['selection']}.{kind}.{name}: {fault}"
            if (
                thresholds["language"]
                and config["language_id"] is None
                and kind == selection_kind(definition)
            ):
                yield f"{path['selection']}.{kind}.language: needs language_id, which is null"


def _corpora_faults(path: str, definition: Json, registry: Mapping[str, Dataset]) -> Iterator[str]:
    for name in definition["corpora"]:
        faults = list(_dataset_faults(path, name, registry, corpus=True))
        yield from faults
        if not faults:
            try:
                registry[name].select(tuple(definition["languages"]))
            except InputError as error:
                yield f"{path}: {error}"


def _dataset_faults(key: str, name: str, registry: Mapping[str, Dataset], *, corpus: bool) -> Iterator[str]:
    if name not in registry:
        guess = difflib.get_close_matches(name, registry, n=1)
        hint = f"; did you mean {guess[0]!r}?" if guess else ""
        yield f"{key}: {name!r} is not in the registry of data sets{hint}"
    elif corpus != (registry[name].kind in CORPUS_KINDS):
        yield f"{key}: {name!r} is {'not ' if corpus else ''}a corpus (its kind is {registry[name].kind!r})"
