"""The configuration's schema: errors in plain words, one form for equal settings, and defaults."""

import copy
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from paraphrastic.base.errors import did_you_mean, shown
from paraphrastic.base.files import Json
from paraphrastic.base.numbers import with_point
from paraphrastic_pipeline.settings.declared import schema_of

# A number with an exponent but no point, which people read as a number and YAML as text.
_EXPONENT = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+")

# The types of JSON in words.
_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping with `key: value` lines",
    "string": "text",
}

# Keys of former versions, and what to write instead.
_FORMER = {
    "min_confidence": "is now min_probability, that of the expected language; write {min_probability: 0.1} "
    "or, for the best guess alone, as before, {rule: best, min_probability: 0.5}",
}

_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")


def _is_number(value: object) -> bool:
    """Whether `value` is a number within the range of a float; NaN and booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


# jsonschema accepts NaN as a number, but our functions cannot use it.
_TYPE_CHECKER = Draft202012Validator.TYPE_CHECKER.redefine("number", lambda _, value: _is_number(value))


def _pattern(_validator: Any, pattern: str, value: Any, schema: Json) -> Iterator[ValidationError]:
    # Make `$` match only at the end of the text; in Python it also matches before a final newline.
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        words = schema["words"]
        # YAML reads some keys, such as `no`, as booleans, which have become text by now.
        hint = _boolean_hint(value == "True") if value in ("False", "True") else ""
        yield ValidationError(f"{shown(value)} is not {words}{hint}")


_Validator = extend(Draft202012Validator, {"pattern": _pattern}, type_checker=_TYPE_CHECKER)


class Schema:
    """The rules for a section, as a JSON Schema."""

    def __init__(self, section: type) -> None:
        self.root: Json = schema_of(section)

    def errors(self, value: Json) -> list[str]:
        """The errors that the schema finds, each on one line that begins with the path of the key."""
        errors = _Validator(self.root).iter_errors(value)
        return sorted(line for error in errors for line in _described(error))

    def normalize(self, value: Any, rule: Json | None = None) -> Any:
        """Give `value` the number types and the order of keys of its rule.

        Keys that the rule does not name, such as names of definitions, come last, in their own order.
        """
        rule = self.root if rule is None else rule
        if isinstance(value, dict):
            known = (key for key in rule.get("properties", {}) if key in value)
            order = dict.fromkeys([*known, *value])
            return {key: self.normalize(value[key], entry(rule, key)) for key in order}
        if isinstance(value, list):
            return [self.normalize(item, rule.get("items", {})) for item in value]
        if _is_number(value):
            types = rule.get("type", [])
            if "number" in types:
                return value + 0.0  # also turns -0.0 into 0.0
            if "integer" in types and value == int(value):
                return int(value)
        return value

    def fill_defaults(self, value: Json, rule: Json | None = None) -> None:
        """Fill in keys that `value` leaves out; a section without a default gets its entries' defaults."""
        for key, inner in (self.root if rule is None else rule).get("properties", {}).items():
            if key not in value and "default" in inner:
                value[key] = copy.deepcopy(inner["default"])
            elif key not in value and "properties" in inner:
                value[key] = {}
            if isinstance(value.get(key), dict) and inner.get("fill", True):
                self.fill_defaults(value[key], inner)


def entry(rule: Json, key: str) -> Json:
    """The rule for an entry of an object; empty if the object's rule has none for it."""
    return rule.get("properties", {}).get(key, rule.get("additionalProperties") or {})


def plain(value: Any) -> Any:
    """Copy `value` into plain dictionaries with string keys, lists and scalars."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _described(error: ValidationError) -> Iterator[str]:
    keys = [*map(str, error.absolute_path)]
    path = ".".join(keys)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        for key in sorted(set(error.instance) - set(known)):
            if key in _FORMER:
                yield f"{'.'.join([*keys, key])}: {_FORMER[key]}"
                continue
            hint = did_you_mean(key, known, otherwise=f"known keys are {', '.join(known)}")
            yield f"{'.'.join([*keys, key])}: unknown key{hint}"
    elif error.validator == "required":
        for key in error.schema["required"]:
            if key not in error.instance:
                yield f"{'.'.join([*keys, key])}: is missing"
    elif error.validator == "minItems" and not error.instance:
        yield f"{path}: is empty"
    elif error.validator == "minItems":
        yield f"{path}: has {len(error.instance)} entry, at least {error.validator_value} are needed"
    elif error.validator == "maxItems":
        yield f"{path}: has {len(error.instance)} entries, at most {error.validator_value} are allowed"
    elif error.validator == "uniqueItems":
        items = error.instance
        twice = next((item for place, item in enumerate(items) if item in items[:place]), items)
        yield f"{path}: {shown(twice)} is named twice"
    elif error.validator == "type":
        types = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
        expected = " or ".join(_TYPES[name] for name in types)
        if error.instance is None:
            yield f"{path or 'configuration'}: has no value; {expected} is needed"
        else:
            hint = _type_hint(error.instance, types, keys[-1] if keys else "")
            yield f"{path or 'configuration'}: {shown(error.instance)} is not {expected}{hint}"
    else:
        yield f"{path or 'configuration'}: {error.message}"


def _type_hint(value: Any, types: list[str], key: str) -> str:
    if isinstance(value, bool) and "string" in types and "null" not in types:
        return _boolean_hint(value)
    if isinstance(value, str) and _EXPONENT.fullmatch(value):
        number = float(value)
        whole = "integer" in types and number.is_integer()
        if whole or ("number" in types and _is_number(number)):
            written = int(number) if whole else number
            return f"; write {written}, because YAML reads an exponent without a point as text"
    if isinstance(value, str) and {"integer", "number"} & {*types} and (point := with_point(value)):
        return f"; write {point}, with a decimal point"
    if key == "languages" and isinstance(value, str) and (pair := _PAIR.fullmatch(value)):
        return f"; write [{pair[1]}, {pair[2]}]"
    return f"; write [{value}]" if "array" in types else ""


def _boolean_hint(value: bool) -> str:
    if value:
        return "; YAML reads yes and on as true; write the word in quotes"
    return "; YAML reads no as false; write 'no' in quotes"
