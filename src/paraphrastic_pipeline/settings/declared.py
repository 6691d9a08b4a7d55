"""Declare a setting once: as a field of a frozen class, with its type, range, default and meaning.

The text below a field is its meaning. It is read from the source when the reference is written, and nothing
else depends on it, so that another word there runs no step again.
"""

import ast
import copy
import dataclasses
import inspect
import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, dataclass_transform, get_args, get_origin

from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.limits import Also, Length, OneOf, Overrides, Range, Text
from paraphrastic_pipeline.base.typed import hints_of, is_needed, key_of, parts_of

T = TypeVar("T")
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}
# The keyword of JSON Schema for the least and the greatest length, by the type that has it.
_LENGTHS = {"array": "Items", "object": "Properties", "string": "Length"}


def setting(default: Any = dataclasses.MISSING, *, original: Any = dataclasses.MISSING, key: str = "") -> Any:
    """A setting, or a section if the default is its class.

    Args:
        default: its value if the configuration does not give it; without one, the setting is needed.
        original: the value in the original code, if that is another one or has to be said.
        key: its name in a configuration, if that is no name in Python.
    """
    about = {"original": original, "key": key}
    about = {name: value for name, value in about.items() if value not in (dataclasses.MISSING, "")}
    if isinstance(default, type):
        return dataclasses.field(default_factory=default, metadata=about)
    if isinstance(default, list | dict):
        return dataclasses.field(default_factory=lambda: copy.deepcopy(default), metadata=about)
    return dataclasses.field(default=default, metadata=about)


def by_recipe(*, paper: Any, best: Any, transformer: Any) -> Any:
    """A setting whose default depends on the recipe; the original's value is that of the recipe `paper`."""
    recipes = {"paper": paper, "best": best, "transformer": transformer}
    return dataclasses.field(metadata={"recipes": recipes, "original": paper, "follows": True})


def internal(default: Any) -> Any:
    """What is found out about a configuration, and is no setting of it."""
    return dataclasses.field(default_factory=default, metadata={"internal": True})


def derived(original: Any = dataclasses.MISSING) -> Any:
    """A setting whose default follows from others, so that a configuration may leave it out."""
    about = {} if original is dataclasses.MISSING else {"original": original}
    return dataclasses.field(default=None, metadata={"follows": True, **about})


def from_global() -> Any:
    """A setting of a definition whose default is the global one of the same name."""
    return dataclasses.field(metadata={"follows": True})


@dataclass_transform(
    frozen_default=True,
    kw_only_default=True,
    field_specifiers=(setting, by_recipe, derived, internal, from_global),
)
def section(kind: type[T]) -> type[T]:
    """Make a class a section of the configuration; its fields are the settings."""
    return dataclasses.dataclass(frozen=True, kw_only=True)(kind)


def recipe_values(kind: type, recipe: str) -> Json:
    """The settings of a section whose defaults depend on the recipe."""
    fields = dataclasses.fields(kind)
    return {field.name: field.metadata["recipes"][recipe] for field in fields if "recipes" in field.metadata}


def built(kind: Any, value: Any) -> Any:
    """A value of a checked and completed configuration, in the classes that describe it."""
    base, limits = parts_of(kind)
    if get_origin(base) in (Union, UnionType):
        inside = [option for option in get_args(base) if _is_inside(value, parts_of(option)[0])]
        return built(inside[0], value) if inside else value
    if value is None or any(isinstance(limit, Overrides) for limit in limits):
        return value
    if dataclasses.is_dataclass(base) and isinstance(base, type):
        hints = hints_of(base)
        fields = {key_of(field): field.name for field in dataclasses.fields(base)}
        return base(**{fields[key]: built(hints[fields[key]], value[key]) for key in fields if key in value})
    if get_origin(base) in (list, Sequence):
        return [built(get_args(base)[0], item) for item in value]
    if get_origin(base) is Mapping or get_origin(base) is dict:
        return {key: built(get_args(base)[1], item) for key, item in value.items()}
    return value


def _is_inside(value: Any, base: Any) -> bool:
    if dataclasses.is_dataclass(base) or get_origin(base) in (Mapping, dict):
        return isinstance(value, Mapping)
    return get_origin(base) in (list, Sequence) and isinstance(value, list)


def as_json(value: Any) -> Any:
    """The settings of a section, or anything that has sections inside, as JSON; `built` reads it again."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [(field, getattr(value, field.name)) for field in dataclasses.fields(value)]
        left_out = {field.name for field in dataclasses.fields(value) if _may_be_left_out(field)}
        said = [(field, item) for field, item in pairs if item is not None or field.name not in left_out]
        return {key_of(field): as_json(item) for field, item in said}
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in value.items()}
    return [as_json(item) for item in value] if isinstance(value, list | tuple) else value


def _may_be_left_out(field: "dataclasses.Field[Any]") -> bool:
    """Whether a section without this setting is complete."""
    return field.default is None and "follows" in field.metadata


def schema_of(kind: Any, *, documented: bool = False) -> Json:
    """The JSON Schema of a description; if `documented`, also with meanings and the original's values."""
    base, limits = parts_of(kind)
    origin, arguments = get_origin(base), get_args(base)
    if any(isinstance(limit, Overrides) for limit in limits):
        (limit,) = limits
        rule = _schema_of_section(limit.section(), documented=documented, only=limit.only)
        return {**rule, "required": []}
    if origin in (Union, UnionType):
        return _union([schema_of(argument, documented=documented) for argument in arguments])
    if origin is Literal:
        return {"enum": list(arguments)}
    if base is Any:
        return {}
    if base in _TYPES:
        schema: Json = {"type": _TYPES[base]}
    elif isinstance(base, type) and dataclasses.is_dataclass(base):
        schema = _schema_of_section(base, documented=documented)
    elif origin in (list, Sequence):
        items = schema_of(arguments[0], documented=documented)
        schema = {"type": "array", **({"items": items} if items else {})}
    else:
        names = {key: rule for key, rule in schema_of(arguments[0]).items() if key != "type"}
        values = schema_of(arguments[1], documented=documented)
        schema = {
            "type": "object",
            **({"propertyNames": names} if names else {}),
            "additionalProperties": values,
        }
    for limit in limits:
        if isinstance(limit, Also):
            schema = _union([schema, schema_of(limit.section, documented=documented)])
        else:
            schema |= _limit(limit, schema["type"])
    return schema


def _union(kinds: list[Json]) -> Json:
    """One rule for a value of several kinds, as no two of them have the same keyword with other values."""
    if any("enum" in rule for rule in kinds):
        return {"enum": [value for rule in kinds for value in rule.get("enum", [None])]}
    whole: Json = {"type": [rule["type"] for rule in kinds]}
    for rule in kinds:
        whole = {**rule, **whole}
    return whole


def _limit(limit: Any, kind: str) -> Json:
    """The keywords of a limit of a value of this kind."""
    match limit:
        case Range():
            least = {"exclusiveMinimum" if limit.is_open else "minimum": limit.least}
            return least if limit.most == math.inf else {**least, "maximum": limit.most}
        case Length():
            name = _LENGTHS[kind]
            schema = {f"min{name}": limit.least} if limit.least else {}
            schema |= {} if limit.most is None else {f"max{name}": limit.most}
            return {**schema, "uniqueItems": True} if limit.distinct else schema
        case OneOf():
            return {"enum": list(limit.values)}
        case Text():
            return {"pattern": limit.pattern}
    raise TypeError(f"{limit} has no form in JSON Schema")


def _schema_of_section(kind: type, *, documented: bool, only: Sequence[str] = ()) -> Json:
    hints, rules, required = hints_of(kind), {}, []
    texts = meanings(kind) if documented else {}
    for field in dataclasses.fields(kind):
        if "internal" in field.metadata or (only and field.name not in only):
            continue
        rule = schema_of(hints[field.name], documented=documented)
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory
            if not isinstance(default, type):
                rule["default"] = default()
        elif field.default is not dataclasses.MISSING and "follows" not in field.metadata:
            rule["default"] = as_json(field.default)
        if is_needed(field):
            required.append(key_of(field))
        if documented:
            rule |= {"original": field.metadata["original"]} if "original" in field.metadata else {}
            rule |= {"recipes": field.metadata["recipes"]} if "recipes" in field.metadata else {}
            rule |= {"description": texts[field.name]} if field.name in texts else {}
        rules[key_of(field)] = rule
    schema: Json = {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": rules,
    }
    if documented and kind.__doc__:
        schema["description"] = _on_one_line(kind.__doc__)
    return schema


@cache
def meanings(kind: type) -> dict[str, str]:
    """What each setting of a section means: the text below its field, also in a section that it extends."""
    texts: dict[str, str] = {}
    for ancestor in reversed(kind.__mro__[:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(ancestor))).body
        body = tree.body if isinstance(tree, ast.ClassDef) else []
        for field, text in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                texts[ast.unparse(field.target)] = _on_one_line(ast.literal_eval(text.value))
    return texts


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
