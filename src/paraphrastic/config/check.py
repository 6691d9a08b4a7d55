"""The configuration: checked in one go before anything runs, completed with its schema's defaults."""

import copy
import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from paraphrastic.base.errors import InputError
from paraphrastic.config.definitions import OVERRIDABLE
from paraphrastic.config.dependencies import mined_datasets
from paraphrastic.config.language_choice import add_prefixed
from paraphrastic.config.languages import keep_languages
from paraphrastic.config.local_files import complete_entry, corpus_name, file_faults, named_datasets
from paraphrastic.config.recipes import RECIPES
from paraphrastic.config.studies import add_seeds, add_variants
from paraphrastic.config.validation import semantic_faults
from paraphrastic.registry.datasets import Dataset, read_registry
from paraphrastic.registry.kinds import FILE_KINDS

Json = dict[str, Any]

# A number to people, and text to YAML.
_EXPONENT = re.compile(r"[-+]?\d+[eE][-+]?\d+")


def check_config(config: Mapping[str, Any], *, schema: Path) -> tuple[Json, dict[str, Dataset]]:
    """The configuration with defaults filled in, and every definition completed with the global sections.

    What `training` leaves out is as the recipe has it. In a completed definition all `corpora` are names;
    `files` describes those that are given by a path. What means the same in another spelling (`0` for `0.0`,
    another order of keys) is the same to the last character, since Snakemake compares it as it is written.

    Returns:
        The configuration, and the data sets by name: the registry's, and those that only it names.

    Raises:
        InputError: one line for each fault, with the path of the key.
    """
    rules = yaml.safe_load(schema.read_text(encoding="utf-8"))
    rules["$defs"]["corpus"]["properties"]["kind"]["enum"] = list(FILE_KINDS)
    checked = _plain(config)
    errors = _Validator(rules).iter_errors(checked)
    _refuse(sorted(fault for error in errors for fault in _schema_faults(error)))
    checked = _one_spelling(checked, rules, rules)
    _spell_studies(checked, rules)
    _refuse(keep_languages(checked))
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
    checked = _one_spelling(checked, rules, rules)
    _refuse(_name_files(checked, registry))
    datasets = {**registry, **named_datasets(checked, registry)}
    datasets |= mined_datasets(checked, datasets)
    _refuse(semantic_faults(checked, written, datasets))
    return checked, datasets


def _refuse(faults: Iterable[str]) -> None:
    if lines := [f"config: {fault}" for fault in dict.fromkeys(faults)]:
        raise InputError("\n".join(lines))


def _is_number(value: object) -> bool:
    """Whether it is a number that a float can be."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


# JSON Schema takes NaN for a number; Python's functions do not.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine("number", lambda _, value: _is_number(value))


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    # The end of a schema's pattern is the end of the text; Python's `$` lets the end of a line follow.
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


_Validator = extend(Draft202012Validator, {"pattern": _pattern}, type_checker=_TYPES)


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


def _one_spelling(value: Any, rule: Json, rules: Json) -> Any:
    """`value` with the types of numbers and the order of keys that its rule has.

    Keys that the rule does not name, such as those of definitions, stay in the order that they have.
    """
    if isinstance(value, dict):
        known = (key for key in _whole(rule, rules).get("properties", {}) if key in value)
        order = dict.fromkeys([*known, *value])
        return {key: _one_spelling(value[key], _rule_of(key, rule, rules), rules) for key in order}
    if isinstance(value, list):
        items = _whole(rule, rules).get("items", {})
        return [_one_spelling(item, items, rules) for item in value]
    if _is_number(value):
        types = _types(_whole(rule, rules).get("type", []))
        if "number" in types:
            return value + 0.0  # of -0.0, too, is 0.0
        if "integer" in types and value == int(value):
            return int(value)
    return value


def _spell_studies(config: Json, rules: Json) -> None:
    """Spell the varied values of studies as the settings that they are for."""
    for study in config.get("studies", {}).values():
        for path, values in study["vary"].items():
            rule = rules["$defs"]["definition"]
            for key in path.split("."):
                rule = _rule_of(key, rule, rules)
            # A sweep has lists; a study compares their single values.
            single = _whole(rule, rules).get("items", {}) if path.startswith("sweep.") else rule
            study["vary"][path] = [
                _one_spelling(value, rule if isinstance(value, list) else single, rules) for value in values
            ]


def _rule_of(key: str, rule: Json, rules: Json) -> Json:
    """The rule of an entry of an object; an empty one where there is none."""
    whole = _whole(rule, rules)
    others = whole.get("additionalProperties")
    found: Json = whole.get("properties", {}).get(key, others if isinstance(others, dict) else {})
    return found


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


def _whole(rule: Json, rules: Json) -> Json:
    """A rule with those that it refers to."""
    parts = [_referenced(rule, rules), *(_whole(part, rules) for part in rule.get("allOf", []))]
    return {key: value for part in (*parts, rule) for key, value in part.items()}


def _types(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


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
        if error.validator == "type" and error.instance is not None:
            hint = _type_hint(error.instance, _types(error.validator_value))
        yield f"{path or 'configuration'}: {error.message}{hint}"


def _type_hint(value: Any, types: list[str]) -> str:
    if isinstance(value, str) and _EXPONENT.fullmatch(value) and {"integer", "number"} & set(types):
        number = float(value)
        whole = "integer" in types and number.is_integer()
        if whole or ("number" in types and _is_number(number)):
            written = int(number) if whole else number
            return f"; write {written}, since YAML takes an exponent without a point for text"
    return f"; write [{value}]" if "array" in types else ""


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
