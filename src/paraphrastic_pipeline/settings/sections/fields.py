"""How a setting is declared: as a field of a frozen class of pydantic, with its type, range and default.

The text below a field is its meaning. The reference reads it from the source (docs/generate.py), and nothing
else depends on it, so that another word there runs no step again.
"""

from dataclasses import fields
from typing import Annotated, Any, Literal, TypeVar, dataclass_transform

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError, to_jsonable_python

from paraphrastic_pipeline.registry.addresses import secret_error

T = TypeVar("T")
# Schemas are built when a class is first used, since a run uses only a few of them.
_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)


def setting(default: Any = ..., **about: Any) -> Any:
    """A setting, perhaps with its value in the `original` code; a default that is a class is a section."""
    if isinstance(default, type):
        return Field(default_factory=default, json_schema_extra=about)
    # Defaults that are lists or mappings are validated, which copies them.
    return Field(default, json_schema_extra=about, validate_default=default is not ...)


def by_recipe(*, paper: Any, best: Any, transformer: Any) -> Any:
    """A setting whose default depends on the recipe; the original's value is that of the recipe `paper`."""
    recipes = {"paper": paper, "best": best, "transformer": transformer}
    return setting(best, original=paper, recipes=recipes)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(Field, setting, by_recipe))
def section(kind: type[T]) -> type[T]:
    """Make a class a section of the configuration; its fields are the settings."""
    made: Any = dataclass(frozen=True, kw_only=True, config=_CONFIG)(kind)
    return made


def recipe_values(kind: Any, recipe: str) -> dict[str, Any]:
    """The settings of a section whose defaults depend on the recipe."""
    about = {field.name: kind.__pydantic_fields__[field.name].json_schema_extra for field in fields(kind)}
    return {name: extra["recipes"][recipe] for name, extra in about.items() if extra and "recipes" in extra}


def as_json(value: Any) -> Any:
    """Settings as JSON, whose text is the same for settings that mean the same."""
    return to_jsonable_python(value)


def one_of(section: T, *keys: str) -> T:
    """A section that has one of several keys, and neither none nor two of them."""
    given = [key for key in keys if getattr(section, key, None)]
    if len(given) != 1:
        has = " and ".join(given) or "none"
        raise PydanticCustomError("one_of", f"needs one of {', '.join(keys)}; it has {has}")
    return section


def _no_boolean(value: Any) -> Any:
    # To pydantic, `true` is 1.
    if isinstance(value, bool):
        raise PydanticCustomError("boolean", "Input should be a number")
    return value


def _distinct(values: list[Any]) -> list[Any]:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise PydanticCustomError("distinct", "{value} is named twice", {"value": repr(value)})
    return values


def _without_secret(address: str) -> str:
    if error := secret_error(address):
        raise PydanticCustomError("secret", "{error}", {"error": error})
    return address


DISTINCT = AfterValidator(_distinct)
# Texts that are numbers are taken as such, since Snakemake makes texts of numbers on its command line.
Whole = Annotated[int, BeforeValidator(_no_boolean)]
Number = Annotated[float, BeforeValidator(_no_boolean)]
Count = Annotated[Whole, Field(ge=0)]
Positive = Annotated[Whole, Field(ge=1)]
Size = Annotated[Whole, Field(ge=1, le=1 << 16)]
Share = Annotated[Number, Field(ge=0, le=1)]
# At least one value, and none twice.
Several = Annotated[list[T], Field(min_length=1), DISTINCT]
NotEmpty = Annotated[str, Field(min_length=1)]
PublicAddress = Annotated[NotEmpty, AfterValidator(_without_secret)]
LanguageCode = Annotated[str, Field(pattern="^[a-z]{2,3}$")]
PairCode = Annotated[str, Field(pattern="^[a-z]{2,3}-[a-z]{2,3}$")]
ModelName = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]*$")]
PlainName = Annotated[str, Field(pattern="^[a-z0-9_]+$")]
SystemName = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Label = Annotated[str, Field(pattern=r"^\S(.*\S)?$")]
Score = Literal["paraphrase_score", "trigram_overlap", "translation_score"]
