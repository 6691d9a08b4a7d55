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
from paraphrastic.opus import OpusCorpus, list_command, read_list
from paraphrastic.registry import Dataset
from paraphrastic.sources import complete_entry, corpus_name, file_faults, named_datasets

Json = dict[str, Any]

# Kinds of data sets that hold training pairs.
CORPUS_KINDS = ("opus", "manythings", "aligned", "paranmt", "captions", "tsv", "jsonl", "parquet", "tmx")
# Sections that a definition can override for its model.
OVERRIDABLE = ("selection", "duplicates", "max_pairs", "vocabulary", "training", "sweep")


def check_config(config: Mapping[str, Any], *, schema: Path, registry: Mapping[str, Dataset]) -> Json:
    """The configuration with defaults filled in, and every definition completed with the global sections.

    In a completed definition all `corpora` are names; `files` describes those that are given by a path.

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
        faults = list(_name_files(checked, registry))
    if not faults:
        datasets = {**registry, **named_datasets(checked, registry)}
        faults = list(dict.fromkeys(_semantic_faults(checked, written, datasets)))
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
    for model, definition in config["definitions"].items():
        corpora = definition["corpora"]
        yield from file_faults(f"definitions.{model}.corpora", corpora, known, registry)
        files = {corpus_name(entry): complete_entry(entry) for entry in corpora if not isinstance(entry, str)}
        definition["corpora"] = [corpus_name(entry) for entry in corpora]
        definition["files"] = files
        known |= files


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
        if name is not None and (fault := _dataset_fault(name, registry, corpus=False)):
            yield f"{key}: {fault}"
    for model, definition in config["definitions"].items():
        for fault in _corpora_faults(definition, registry, config["mirror"]):
            yield f"definitions.{model}.corpora: {fault}"
        # A fault of a global section, found again in every definition, is told once, where it stands.
        path = {key: f"definitions.{model}.{key}" if key in written[model] else key for key in OVERRIDABLE}
        for name in definition["max_pairs"]:
            if fault := _dataset_fault(name, registry, corpus=True):
                yield f"{path['max_pairs']}: {fault}"
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


def _corpora_faults(definition: Json, registry: Mapping[str, Dataset], mirror: str | None) -> Iterator[str]:
    languages = tuple(definition["languages"])
    listed = read_list(languages) if len(languages) == 2 else {}
    for name in definition["corpora"]:
        fault = _dataset_fault(name, registry, corpus=True, listed=listed or {})
        in_opus = name not in registry or registry[name].kind == "opus"
        if fault is None:
            try:
                registry[name].select(languages)
                continue
            except InputError as error:
                fault = str(error)
        if listed is None and in_opus:
            fault += f"; what OPUS has can be used once it is listed: {list_command(languages, mirror)}"
        elif same := next((other for other in listed or () if other.lower() == name.lower()), None):
            fault += f"; OPUS has it as {same!r}"
        yield fault


def _dataset_fault(
    name: str,
    registry: Mapping[str, Dataset],
    *,
    corpus: bool,
    listed: Mapping[str, OpusCorpus] | None = None,
) -> str | None:
    """What is wrong with a name that should be one of a corpus, or of another data set."""
    if name not in registry:
        guess = difflib.get_close_matches(name, [*(listed or ()), *registry], n=1)
        where = "the registry of data sets" + (" or in OPUS's list" if listed else "")
        return f"{name!r} is not in {where}" + (f"; did you mean {guess[0]!r}?" if guess else "")
    if corpus != (registry[name].kind in CORPUS_KINDS):
        return f"{name!r} is {'not ' if corpus else ''}a corpus (its kind is {registry[name].kind!r})"
    return None
