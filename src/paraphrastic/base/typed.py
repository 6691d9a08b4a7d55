"""Compare values of JSON, which may come from anyone, with the types that describe them.

A description is a type: a scalar, `Literal`, a union, a list, a mapping with text as keys, or a frozen
dataclass, whose fields are the keys of an object. `Annotated` adds the limits of `base.limits`.
"""

import dataclasses
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from paraphrastic.base.errors import cut, shown
from paraphrastic.base.limits import Text

_WORDS = {bool: "true or false", str: "text", NoneType: "null", int: "a whole number", float: "a number"}
_SURROGATE = re.compile("[\ud800-\udfff]")
# What JSON calls these values.
_CONSTANTS = {None: "null", True: "true", False: "false"}


def faults(value: Any, kind: Any, key: str = "") -> Iterator[str]:
    """What does not fit a description in a value of JSON, each on one line that begins with its key.

    Args:
        value: the value, which `files.parse_json` has read, so that it is not nested too deeply.
        kind: the description. An object may have other keys than those of a dataclass if that says so with
            `keeps_others = True`.
        key: the key of the value, as `training.epochs`.
    """
    base, limits = parts_of(kind)
    origin, arguments = get_origin(base), get_args(base)
    if base is Any:
        return
    if origin in (Union, UnionType):
        fitting = [each for each in arguments if _is_of(value, parts_of(each)[0])]
        found = [list(faults(value, each, key)) for each in fitting]
        # The faults inside a value say more than that the value is not one of several kinds.
        yield from min(found, key=len) if found else [_needed(value, kind, key)]
    elif not _is_of(value, base) or not all(limit.passes(value) for limit in limits):
        yield _needed(value, kind, key)
    elif origin in (list, tuple, Sequence):
        for number, item in enumerate(value):
            yield from faults(item, arguments[0], f"{key}.{number}")
    elif origin in (dict, Mapping):
        for name, item in value.items():
            if any(faults(name, arguments[0])):
                yield f"{key}: has the key {shown(name)}; {_words(arguments[0])} is needed"
            yield from faults(item, arguments[1], _joined(key, name))
    elif dataclasses.is_dataclass(base):
        yield from _faults_of_object(value, base, key)


def _faults_of_object(value: Mapping[str, Any], kind: Any, key: str) -> Iterator[str]:
    hints = hints_of(kind)
    for field in dataclasses.fields(kind):
        name = _joined(key, field.name)
        if field.name in value:
            yield from faults(value[field.name], hints[field.name], name)
        elif field.default is field.default_factory is dataclasses.MISSING:
            yield f"{name}: is missing; {_words(hints[field.name])} is needed"
    if not getattr(kind, "keeps_others", False):
        for name in value.keys() - hints.keys():
            yield f"{_joined(key, name)}: unknown key; known keys are {', '.join(hints)}"


def completed(value: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """An object with the defaults of the keys that it lacks; a key whose value says nothing is left out."""
    names = {field.name for field in dataclasses.fields(kind)}
    found = {key: each for key, each in value.items() if each is not None or key not in names}
    for field in dataclasses.fields(kind):
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
            found.setdefault(field.name, {} if dataclasses.is_dataclass(default) else default)
        elif field.default not in (dataclasses.MISSING, None):
            found.setdefault(field.name, field.default)
    return found


def unwritable(value: Any) -> Iterator[str]:
    """A line for each part of a value of JSON that could not be written as JSON in UTF-8."""
    for key, item in _walk(value):
        if isinstance(item, float) and not math.isfinite(item):
            yield f"{key}: is {item}; a finite number is needed"
        if isinstance(item, str) and _SURROGATE.search(item):
            yield f"{key}: is {shown(item)}; text without half of a surrogate pair is needed"


def _walk(value: Any) -> Iterator[tuple[str, Any]]:
    """The key and the value of everything in a value of JSON, keys of objects included."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        key, item = waiting.pop()
        yield key, item
        if isinstance(item, dict):
            waiting += ((_joined(key, name), part) for name in item for part in (name, item[name]))
        elif isinstance(item, list):
            waiting += ((f"{key}.{number}", part) for number, part in enumerate(item))


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The types of the fields of a dataclass, with their limits."""
    fields = {field.name for field in dataclasses.fields(kind)}
    return {name: hint for name, hint in get_type_hints(kind, include_extras=True).items() if name in fields}


def parts_of(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without its limits, and the limits."""
    return (kind.__origin__, kind.__metadata__) if get_origin(kind) is Annotated else (kind, ())


def _is_of(value: Any, base: Any) -> bool:
    """Whether a value has this type, whatever is inside it."""
    origin = get_origin(base)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in get_args(base))
    if base in (int, float):
        is_number = isinstance(value, int | base) and not isinstance(value, bool)
        return is_number and abs(value) <= sys.float_info.max
    if base in (bool, str, NoneType):
        return isinstance(value, base)
    return isinstance(value, list if origin in (list, tuple, Sequence) else dict)


def _needed(value: Any, kind: Any, key: str) -> str:
    found = _CONSTANTS[value] if value is None or isinstance(value, bool) else shown(value)
    return f"{key}: is {found}; {_words(kind)} is needed"


def _words(kind: Any) -> str:
    """Which values a description allows, in words."""
    base, limits = parts_of(kind)
    origin, arguments = get_origin(base), get_args(base)
    for limit in limits:
        if isinstance(limit, Text):
            return limit.words
        return f"{_WORDS[base]} {limit.words}"
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin in (Union, UnionType):
        return " or ".join(map(_words, arguments))
    if base in _WORDS:
        return _WORDS[base]
    return "a list" if origin in (list, tuple, Sequence) else "an object"


def _joined(key: str, name: str) -> str:
    return cut(f"{key}.{name}" if key else name, 120)
