"""The faults of a configuration as people write it in YAML, one form for equal settings, and defaults."""

import copy
import dataclasses
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, get_args, get_origin

from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.limits import Overrides
from paraphrastic_pipeline.base.numbers import with_point
from paraphrastic_pipeline.base.typed import Form, faults, hints_of, key_of, options_of, parts_of
from paraphrastic_pipeline.settings.declared import as_json

# A number with an exponent but no point, which people read as a number and YAML as text.
_EXPONENT = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+")
_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")
# Keys of former versions, and what to write or run instead.
_FORMER = {
    "min_confidence": "is now min_probability, that of the expected language; write {min_probability: 0.1} "
    "or, for the best guess alone, as before, {rule: best, min_probability: 0.5}",
    "comparison": "is no part of a run any more; remove this key, and compare trainings with python "
    "benchmarks/comparison.py (--help shows how)",
    "front": "is no part of a run any more; remove this key, and measure quality, speed and size with python "
    "benchmarks/front.py (--help shows how)",
}


def errors(value: Json, section: type) -> list[str]:
    """The errors in single settings, each on one line that begins with the path of the key."""
    return sorted(faults(value, section, form=_YAML))


def fill_defaults(value: Json, section: type) -> None:
    """Fill in keys that `value` leaves out; sections inside get the defaults of their entries."""
    for field, kind in _fields(section):
        key, inner = key_of(field), section_in(kind)
        if key not in value:
            if field.default_factory is not dataclasses.MISSING:
                is_section = isinstance(field.default_factory, type) and inner is not None
                value[key] = {} if is_section else as_json(field.default_factory())
            elif field.default is not dataclasses.MISSING and "follows" not in field.metadata:
                value[key] = copy.deepcopy(as_json(field.default))
        if inner and isinstance(value.get(key), dict):
            fill_defaults(value[key], inner)


def normalize(value: Any, kind: Any) -> Any:
    """Give `value` the number types and the order of keys of its description.

    Keys that the description does not name, such as names of definitions, are in their own order.
    """
    _, limits = parts_of(kind)
    overrides = next((limit for limit in limits if isinstance(limit, Overrides)), None)
    section = overrides.section() if overrides else section_in(kind)
    if isinstance(value, dict) and section:
        kinds = {key_of(field): inner for field, inner in _fields(section)}
        known = {key: normalize(value[key], kinds[key]) for key in kinds if key in value}
        return {**known, **{key: value[key] for key in value if key not in kinds}}
    for option, _ in map(parts_of, options_of(kind)):
        if isinstance(value, dict) and get_origin(option) is Mapping:
            return {key: normalize(item, get_args(option)[1]) for key, item in value.items()}
        if isinstance(value, list) and get_origin(option) in (list, Sequence):
            return [normalize(item, get_args(option)[0]) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            if option is float:
                return value + 0.0  # also turns -0.0 into 0.0
            if option is int and value == int(value):
                return int(value)
    return value


def kind_at(path: Sequence[str], section: type) -> Any:
    """The description of the setting at a path below a section; `Any` if there is none."""
    kind: Any = section
    for key in path:
        inner = section_in(kind)
        kinds = {key_of(field): setting for field, setting in _fields(inner)} if inner else {}
        kind = kinds.get(key, Any)
    return kind


def section_in(kind: Any) -> type | None:
    """The section that a description allows, by itself or among others; None if there is none."""
    for base, _ in map(parts_of, options_of(kind)):
        if isinstance(base, type) and dataclasses.is_dataclass(base):
            return base
    return None


def items_of(kind: Any) -> Any:
    """The description of the entries of a list."""
    base, _ = parts_of(kind)
    return get_args(base)[0]


def _fields(section: type) -> Iterator[tuple["dataclasses.Field[Any]", Any]]:
    """The settings of a section, each with its description."""
    hints = hints_of(section)
    for field in dataclasses.fields(section):
        if "internal" not in field.metadata:
            yield field, hints[field.name]


def plain(value: Any) -> Any:
    """Copy `value` into plain dictionaries with string keys, lists and scalars."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _hint(value: Any, types: Collection[Any], key: str) -> str:
    """What to write instead of a value that YAML has read as another type."""
    is_text, is_null = str in types, NoneType in types
    if isinstance(value, bool) and is_text and not is_null:
        return _boolean_hint(value)
    # YAML reads some keys, such as `no`, as booleans, which have become text by now.
    if not types and value in ("False", "True"):
        return _boolean_hint(value == "True")
    if isinstance(value, str) and _EXPONENT.fullmatch(value):
        number = float(value)
        whole = int in types and number.is_integer()
        if whole or (float in types and math.isfinite(number)):
            written = int(number) if whole else number
            return f"; write {written}, because YAML reads an exponent without a point as text"
    if isinstance(value, str) and {int, float} & {*types} and (point := with_point(value)):
        return f"; write {point}, with a decimal point"
    if key.endswith("languages") and isinstance(value, str) and (pair := _PAIR.fullmatch(value)):
        return f"; write [{pair[1]}, {pair[2]}]"
    is_list = any(get_origin(option) in (list, Sequence) for option in types)
    return f"; write [{value}]" if is_list else ""


def _boolean_hint(value: bool) -> str:
    if value:
        return "; YAML reads yes and on as true; write the word in quotes"
    return "; YAML reads no as false; write 'no' in quotes"


_YAML = Form(mapping="a mapping with `key: value` lines", takes_integral=True, hint=_hint, former=_FORMER)
