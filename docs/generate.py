"""Write the pages that follow from the code: `python docs/generate.py`.

The reference of settings, `docs/settings.md`, and the JSON Schema `config/config.schema.json`, for editors,
come from the classes in `settings/sections/`, and the page of commands, `docs/commands.md`, from the parsers
of the command line. All are made with the site and are not in git.
"""

import argparse
import ast
import inspect
import json
import os
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from paraphrastic_pipeline.settings.definitions import OVERRIDABLE
from paraphrastic_pipeline.settings.faults import keys_of, options_of
from paraphrastic_pipeline.settings.sections import configuration, corpora, evaluation, training
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.fields import as_json

ROOT = Path(__file__).parents[1]
SCHEMA, SETTINGS, COMMANDS = (
    ROOT / "config/config.schema.json",
    ROOT / "docs/settings.md",
    ROOT / "docs/commands.md",
)
Json = dict[str, Any]

# The tables of settings: their titles, and their settings or the classes of what has a name of its own.
TABLES: Mapping[str, tuple[str | type, ...]] = {
    "What to build": ("models", "definitions", "languages", "seed"),
    "A definition": (Definition,),
    "A corpus by its path": (corpora.FileCorpus,),
    "Mined paraphrases": ("mined", corpora.Mined),
    "Data": ("registry", "mirror", "sample", "licences", "language_id", "shards", "extraction"),
    "Text and selection": (
        "text",
        "selection",
        "allow_few",
        "duplicates",
        "held_out",
        "contamination",
        "max_pairs",
        "weights",
    ),
    "Vocabulary and encoder": ("vocabulary", "encoder"),
    "A part of an encoder": (training.Part,),
    "Training": ("recipe", "training", "sweep", "choose_by"),
    "Evaluation": ("evaluation",),
    "Other people's encoders": ("systems", evaluation.System),
    "Studies": ("studies", evaluation.Study, "language_choice"),
}
# What stands before the keys of what has a name.
PREFIXES = {
    corpora.Mined: "mined.{corpus}.",
    evaluation.System: "systems.{name}.",
    evaluation.Study: "studies.{name}.",
}
INTRODUCTION = """\
# All settings

What does a setting mean, and what is its default? [Configuration](../config/README.md) says how to write one.
"Needed" means that there is no default. The last column has the value of the original code if it differs;
`config/paper.yaml` sets it.
"""


def meanings(kind: type) -> dict[str, str]:
    """What each setting of a section means: the text below its field, also in a section that it extends."""
    texts: dict[str, str] = {}
    for ancestor in reversed(kind.__mro__[:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(ancestor))).body
        for field, text in pairwise(tree.body if isinstance(tree, ast.ClassDef) else []):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                texts[ast.unparse(field.target)] = " ".join(ast.literal_eval(text.value).split())
    return texts


def schema() -> str:
    """The JSON Schema of a configuration, with which editors check and complete it."""
    whole = TypeAdapter(Configuration).json_schema()
    kinds = {
        name: kind
        for module in (configuration, corpora, evaluation, training)
        for name, kind in vars(module).items()
        if isinstance(kind, type) and is_dataclass(kind)
    }
    for name, rule in [*whole["$defs"].items(), ("Configuration", whole)]:
        texts = meanings(kinds[name]) if name in kinds else {}
        for key, entry in rule.get("properties", {}).items():
            entry |= {"description": texts[key]} if key in texts else {}
            for ours in ("recipes", "original"):
                entry.pop(ours, None)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}
    return json.dumps(head, indent=1, ensure_ascii=False) + "\n"


def settings() -> str:
    """The page of all settings, as Markdown."""
    parts = [INTRODUCTION]
    for title, names in TABLES.items():
        rows = [row for name in names for row in _rows_of(name)]
        columns = ["key", "meaning", "default", "original"]
        if not any(row[3] for row in rows):
            columns.pop()
        lines = [columns, ["---"] * len(columns), *(row[: len(columns)] for row in rows)]
        parts.append(f"## {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines))
    return "\n".join(parts)


def _rows_of(name: str | type) -> Iterator[list[str]]:
    if isinstance(name, str):
        yield from _rows(Configuration, name, "")
        return
    for key in keys_of(name):
        # A definition repeats whole sections, which have tables of their own.
        if name is not Definition or key not in OVERRIDABLE:
            yield from _rows(name, key, PREFIXES.get(name, ""))


def _rows(section: Any, key: str, prefix: str) -> Iterator[list[str]]:
    """A row for a setting, or a row for each setting of a section."""
    kind = keys_of(section)[key]
    info, meaning = section.__pydantic_fields__[key], meanings(section).get(key)
    inner = next((option for option in options_of(kind) if is_dataclass(option)), None)
    described = inner is not None and all(
        name in meanings(inner) or any(map(is_dataclass, options_of(kind)))
        for name, kind in keys_of(inner).items()
    )
    nullable = type(None) in options_of(kind)
    if not described or nullable or meaning:
        about = {
            "meaning": meaning or " ".join(inner.__doc__.split() if inner and inner.__doc__ else ""),
            **(info.json_schema_extra or {}),
        }
        yield [
            f"`{prefix}{key}`",
            _meaning(about, kind),
            _default(info, about),
            _shown(about.get("original", "")),
        ]
    if described:
        for child in keys_of(inner):
            yield from _rows(inner, child, f"{prefix}{key}.")


def _meaning(about: Json, kind: Any) -> str:
    """The description of a setting, with its values if it does not name them."""
    meaning = str(about["meaning"])
    if recipes := about.get("recipes"):
        best, transformer = (_shown(recipes[recipe]) for recipe in ("best", "transformer"))
        others = "" if best == transformer else f", and `{transformer}` with `transformer`"
        meaning += f" By default the recipe decides: `{best}` with `best`{others}."
    values = [
        value
        for option in options_of(kind)
        for value in getattr(option, "__args__", ())
        if isinstance(value, str)
    ]
    choices = [f"`{value}`" for value in values]
    return (
        meaning if all(choice in meaning for choice in choices) else f"{meaning} One of {', '.join(choices)}."
    )


def _default(info: Any, about: Json) -> str:
    if info.is_required():
        return "needed"
    return "" if "recipes" in about else _shown(as_json(info.get_default(call_default_factory=True)))


def _shown(value: Any) -> str:
    """A value as YAML writes it on one line."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 10_000:
        return f"{value:,}"
    if value in ({}, []):
        return "none"
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r'"([A-Za-z_][\w-]*)"', r"\1", text)


def commands() -> str:
    """A page with the help of every command."""
    os.environ["COLUMNS"] = "100"
    from paraphrastic.cli import build_parser

    parser = build_parser()
    parts = [f"# Commands\n\n```text\n{parser.format_help().rstrip()}\n```\n"]
    (subparsers,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for name, command in subparsers.choices.items():
        parts.append(f"## paraphrastic {name}\n\n```text\n{command.format_help().rstrip()}\n```\n")
    return "\n".join(parts)


# The generated pages of the site, and what makes their text.
PAGES = {SETTINGS: settings, COMMANDS: commands}


def main() -> None:
    """Write the pages, and the schema."""
    for path, make in {**PAGES, SCHEMA: schema}.items():
        path.write_text(make(), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: written")


if __name__ == "__main__":
    main()
