"""The faults of single settings, each on one line that begins with the path of the key."""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from paraphrastic.base.errors import InputError, cut
from paraphrastic_pipeline.base.errors import did_you_mean, hide_secrets


def parsed(kind: Any, value: Any, at: Sequence[str] = ()) -> Any:
    """A value in the classes that describe it.

    Raises:
        InputError: one line for each fault of the value, whose path is `at`.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        faults: dict[tuple[str, ...], list[Any]] = {}
        for fault in error.errors(include_url=False):
            faults.setdefault(_path(fault, value), []).append(fault)
        # The faults inside a value say more than that the value is not of another kind.
        paths = [path for path in faults if not any(path == other[: len(path)] != other for other in faults)]
        lines = (f"config: {'.'.join((*at, *path))}: {_words(faults[path], path, kind)}" for path in paths)
        raise InputError(*sorted(lines)) from None


def keys_of(section: Any) -> dict[str, Any]:
    """The keys of a section, each with its type."""
    hints = get_type_hints(section, include_extras=True)
    return {name: hints[name] for name in section.__pydantic_fields__}


def kind_at(path: Sequence[str], kind: Any) -> Any:
    """The type of the setting at a path below a section.

    Raises:
        KeyError: there is none; its text says which key is unknown.
    """
    for key in path:
        known: dict[str, Any] = {}
        for option in options_of(kind):
            if dataclasses.is_dataclass(option):
                known |= keys_of(option)
            elif get_origin(option) in (Mapping, dict, list):
                known[key] = get_args(option)[-1]
        if key not in known:
            hint = did_you_mean(key, known, otherwise=f"known keys are {', '.join(known)}")
            raise KeyError(f"unknown key{hint}")
        kind = known[key]
    return kind


def options_of(kind: Any) -> Iterator[Any]:
    """The types of which a value has one, without their limits."""
    if get_origin(kind) is Annotated:
        yield from options_of(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for option in get_args(kind):
            yield from options_of(option)
    else:
        yield kind


def _path(fault: Any, value: Any) -> tuple[str, ...]:
    """The keys that lead to a fault; pydantic puts names of types between them."""
    keys, places = [], fault["loc"]
    for key in places:
        if key in (value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)):
            value = value[key]
            keys.append(str(key))
    return (*keys, str(places[-1])) if fault["type"] == "missing" else tuple(keys)


def _words(faults: Sequence[Any], path: Sequence[str], kind: Any) -> str:
    """What is wrong with a value, which may be of none of several kinds."""
    value, kinds = faults[0]["input"], {fault["type"] for fault in faults}
    if "missing" in kinds:
        return "is missing"
    try:
        kind_at(path, kind)
    except KeyError as error:
        return str(error.args[0])
    messages = (fault["msg"].removeprefix("Input ").removeprefix("String ") for fault in faults)
    known = ("should be a mapping" if "a dictionary or" in each else each for each in messages)
    wanted, hint = " or ".join(dict.fromkeys(known)), ""
    if isinstance(value, bool) and kinds & {"string_type", "list_type"}:
        hint = f"; YAML reads yes, no, on and off as {'true' if value else 'false'}: write it in quotes"
    elif isinstance(value, str) and "list_type" in kinds:
        hint = f"; write [{value.replace('-', ', ') if 'languages' in path[-1] else value}]"
    text = hide_secrets(json.dumps(value, ensure_ascii=False, default=str))
    return f"{cut(text, 40)} {wanted}{hint}"
