"""Compare values that may come from anyone with the types that describe them.

A description is a type: a scalar, `Literal`, a union, a list, a mapping with text as keys, or a frozen
dataclass, whose fields are the keys of a mapping. `Annotated` adds the limits of `base.limits`.
"""

import dataclasses
import math
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from paraphrastic.base.errors import cut, shown
from paraphrastic_pipeline.base.errors import did_you_mean
from paraphrastic_pipeline.base.limits import Also, Overrides

_WORDS = {bool: "true or false", str: "text", NoneType: "null", int: "a whole number", float: "a number"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_MISSING = dataclasses.MISSING
_LARGEST = sys.float_info.max


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """How people wrote a value, for the messages about it.

    Attributes:
        mapping: what a mapping is called.
        takes_integral: whether 3.0 is a whole number.
        hint: returns what to write instead of a value that has none of the `types` at `key`; it may be empty.
        former: keys of former versions, and what to write instead.
    """

    mapping: str = "an object"
    takes_integral: bool = False
    hint: Callable[[Any, Collection[Any], str], str] = lambda value, types, key: ""
    former: Mapping[str, str] = dataclasses.field(default_factory=dict)


JSON = Form()


def faults(value: Any, kind: Any, key: str = "", *, form: Form = JSON) -> Iterator[str]:
    """What does not fit a description, each on one line that begins with its key.

    Args:
        value: the value, which `files.parse_json` or `yaml_text.read_yaml` has read, so that it is not nested
            too deeply.
        kind: the description. A mapping may have other keys than those of a dataclass if that says so with
            `keeps_others = True`.
        key: the key of the value, as `training.epochs`.
        form: how the value was written.
    """
    options = [parts_of(option) for option in options_of(kind)]
    fitting = [(base, limits) for base, limits in options if _is_of(value, base, form)]
    if not fitting:
        yield f"{key}: {_wrong(value, [base for base, _ in options], key, form)}"
        return
    by_option = [[*_faults_of(value, base, limits, key, form)] for base, limits in fitting]
    # The faults inside a value say more than that the value is not one of several kinds.
    yield from min(by_option, key=len)


def _faults_of(value: Any, base: Any, limits: Sequence[Any], key: str, form: Form) -> Iterator[str]:
    """What does not fit in a value that is of the right kind."""
    origin, arguments = get_origin(base), get_args(base)
    for limit in limits:
        if not isinstance(limit, Overrides | Also) and (fault := limit.fault(value)):
            yield f"{key}: {fault}{form.hint(value, (), key)}"
    if overrides := next((limit for limit in limits if isinstance(limit, Overrides)), None):
        only = overrides.only or tuple(hints_of(overrides.section()))
        yield from _faults_of_mapping(value, overrides.section(), key, form, only=only)
    elif origin in (list, tuple, Sequence):
        for number, item in enumerate(value):
            yield from faults(item, arguments[0], _joined(key, str(number)), form=form)
    elif origin in (dict, Mapping):
        for name, item in value.items():
            yield from faults(name, arguments[0], key, form=form)
            yield from faults(item, arguments[1], _joined(key, name), form=form)
    elif dataclasses.is_dataclass(base):
        yield from _faults_of_mapping(value, base, key, form)


def _faults_of_mapping(
    value: Mapping[str, Any], kind: Any, key: str, form: Form, only: Collection[str] = ()
) -> Iterator[str]:
    """What does not fit in the entries of a mapping; with `only`, it may lack any, and have these alone."""
    hints = hints_of(kind)
    fields = [field for field in dataclasses.fields(kind) if "internal" not in field.metadata]
    known = {key_of(field): field for field in fields if not only or field.name in only}
    for name, field in known.items():
        if name in value:
            yield from faults(value[name], hints[field.name], _joined(key, name), form=form)
        elif not only and is_needed(field):
            yield f"{_joined(key, name)}: is missing"
    for name in [] if getattr(kind, "keeps_others", False) else sorted(value.keys() - known.keys()):
        hint = did_you_mean(name, known, otherwise=f"known keys are {', '.join(known)}")
        yield f"{_joined(key, name)}: {form.former.get(name) or f'unknown key{hint}'}"


def key_of(field: "dataclasses.Field[Any]") -> str:
    """The key of a field in a file, which may be no name in Python."""
    return str(field.metadata.get("key", field.name))


def is_needed(field: "dataclasses.Field[Any]") -> bool:
    """Whether a mapping has to have a field: it has no default, and none that follows from others."""
    return field.default is field.default_factory is _MISSING and not field.metadata.get("follows")


def _wrong(value: Any, kinds: Sequence[Any], key: str, form: Form) -> str:
    """Why a value that is of none of these kinds does not fit."""
    words, one_of = " or ".join(dict.fromkeys(_word(base, form) for base in kinds)), ""
    if any(get_origin(base) is Literal for base in kinds):
        allowed = [each for base in kinds for each in get_args(base) or (None,)]
        words, one_of = ", ".join("null" if each is None else str(each) for each in allowed), "one of "
    if value is None:
        return f"has no value; {words} is needed"
    return f"{shown(value)} is not {one_of}{words}{form.hint(value, kinds, key)}"


def _word(base: Any, form: Form) -> str:
    if base in _WORDS:
        return _WORDS[base]
    return "a list" if get_origin(base) in (list, tuple, Sequence) else form.mapping


def completed(value: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """An object with the defaults of the keys that it lacks; a key whose value says nothing is left out."""
    names = {field.name for field in dataclasses.fields(kind)}
    known = {key: item for key, item in value.items() if item is not None or key not in names}
    for field in dataclasses.fields(kind):
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
            known.setdefault(field.name, {} if dataclasses.is_dataclass(default) else default)
        elif field.default not in (dataclasses.MISSING, None):
            known.setdefault(field.name, field.default)
    return known


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


def options_of(kind: Any) -> list[Any]:
    """The descriptions of which a value has to fit one, each with its limits."""
    base, limits = parts_of(kind)
    if get_origin(base) in (Union, UnionType):
        return [option for member in get_args(base) for option in options_of(member)]
    return [kind, *(limit.section for limit in limits if isinstance(limit, Also))]


def parts_of(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without its limits, and the limits."""
    return (kind.__origin__, kind.__metadata__) if get_origin(kind) is Annotated else (kind, ())


def _is_of(value: Any, base: Any, form: Form) -> bool:
    """Whether a value has this type, whatever is inside it."""
    origin = get_origin(base)
    if base is Any:
        return True
    if origin is Literal:
        return any(type(value) is type(literal) and value == literal for literal in get_args(base))
    if base in (int, float):
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
            return False
        return base is float or isinstance(value, int) or (form.takes_integral and value.is_integer())
    if base in (bool, str, NoneType):
        return isinstance(value, base)
    return isinstance(value, list if origin in (list, tuple, Sequence) else dict)


def _joined(key: str, name: str) -> str:
    return cut(f"{key}.{name}" if key else name, 120)
