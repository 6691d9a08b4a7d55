"""Check the whole configuration before anything runs, and complete it with the defaults."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from yaml import YAMLError

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import Json
from paraphrastic_pipeline.registry.datasets import Dataset, read_registry
from paraphrastic_pipeline.settings.datasets import datasets_of
from paraphrastic_pipeline.settings.definitions import (
    OF_PAPER,
    OVERRIDABLE,
    RECIPES,
    all_definitions,
    checked_studies,
    merged,
    recipe_of,
)
from paraphrastic_pipeline.settings.faults import parsed
from paraphrastic_pipeline.settings.mistakes import definition_mistakes, mistakes
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition, ModelSections
from paraphrastic_pipeline.settings.sections.fields import as_json, recipe_values
from paraphrastic_pipeline.settings.yaml import read_yaml

# The default configuration in a checkout of the pipeline.
DEFAULT_CONFIG = Path("config/config.yaml")
DEFAULT_REGISTRY = "config/datasets.tsv"


def read_config(files: Sequence[Path], settings: Mapping[str, Any] | None = None) -> Json:
    """Read a configuration from YAML (or JSON) files; as in Snakemake, each overrides those before it.

    `settings` override all files.

    Raises:
        InputError: a file is missing, is not YAML, or is not a mapping of keys.
    """
    config: Json = {}
    for path in files:
        if not path.is_file():
            raise InputError(f"{path}: is not a file")
        try:
            content = read_yaml(path.read_text(encoding="utf-8"))
        except (YAMLError, ValueError, OSError) as error:
            mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", error)
            place = f"{path}:{mark.line + 1}" if mark else path
            raise InputError(f"{place}: not YAML: {on_one_line(problem)}") from None
        if not isinstance(content, dict):
            raise InputError(f"{path}: not a configuration: it has no keys at its top level")
        config = merged(config, content)
    return merged(config, settings or {})


def complete_config(config: Mapping[str, Any]) -> Json:
    """The configuration with the defaults of all sections; the result is again a valid configuration.

    Definitions are not filled, and neither are settings that follow from the recipe or the encoder.

    Raises:
        InputError: one line per error in a single setting, with the path of the key.
    """
    given = _given(config)
    return _with_defaults(given, _written(given))


def check_config(config: Mapping[str, Any]) -> tuple[Configuration, dict[str, Dataset]]:
    """Check and complete the configuration, and complete every definition with the global sections.

    Models of studies and further training runs get their own definitions. Beside the configuration, there are
    the data sets by name: those of the registry and its own.

    Raises:
        InputError: one line per error, with the path of the key.
    """
    given = _given(config)
    written = _in_languages(_written(given))
    named = given["definitions"]
    definitions = all_definitions(written, named)
    shown = _with_defaults(given, written)
    sections = {key: shown[key] for key in OVERRIDABLE if key in shown}
    whole = _completed(shown, written.seed)
    whole |= {key: as_json(getattr(written, key)) for key in ("models", "studies", "language_choice")}
    completed = {
        name: _completed(merged(sections, definition), written.seed)
        for name, definition in definitions.items()
    }
    complete: Configuration = parsed(Configuration, whole | {"definitions": completed})
    registry = read_registry(complete.registry)
    if complete.licences == "commercial":
        complete = _commercial(complete, registry)
    datasets = datasets_of(complete, registry)
    lines = [*mistakes(complete, registry, datasets)]
    for name, own in definitions.items():
        # Models of studies repeat the mistakes of those that they copy.
        if name in named or not lines:
            lines += definition_mistakes(name, own, complete, datasets)
    if lines:
        raise InputError(*(f"config: {line}" for line in dict.fromkeys(lines)))
    return complete, datasets


def complete_definition(definition: Mapping[str, Any]) -> Definition:
    """A definition by itself, without global sections, with the defaults of all that it leaves out."""
    complete: Definition = parsed(Definition, _completed(definition, 1))
    return complete


def _given(config: Mapping[str, Any]) -> Json:
    """A copy of a configuration as it was written, with what the recipe of the papers stands for."""
    given: Json = json.loads(json.dumps(config, default=str))
    return merged(OF_PAPER, given) if given.get("recipe") == "paper" else given


def _written(given: Json) -> Configuration:
    """The configuration as it was written, in which definitions are not complete."""
    written: Configuration = parsed(Configuration, given)
    return replace(written, studies=checked_studies(written))


def _with_defaults(given: Json, written: Configuration) -> Json:
    """The configuration with the defaults of all settings that follow from no others."""
    complete: Json = as_json(written)
    for section, stated, follow in (
        (complete, given, recipe_values(ModelSections, "best")),
        (complete["training"], given.get("training", {}), RECIPES["best"]),
        (complete["sweep"], given.get("sweep", {}), {"dropout"}),
    ):
        for key in {*follow} - stated.keys():
            del section[key]
    return {**complete, "definitions": given["definitions"]}


def _completed(section: Mapping[str, Any], seed: int) -> Json:
    """Complete a definition, or a whole configuration, with what follows from its recipe and its encoder."""
    recipe, encoder = recipe_of(section), section.get("encoder", {})
    training, vocabulary = section.get("training", {}), section.get("vocabulary", {})
    unit, average = vocabulary.get("unit", "subword"), {"kind": "average"}
    parts = [{**part, "unit": part.get("unit") or unit} for part in encoder.get("parts", [average])]
    return {
        "seed": seed,
        **recipe_values(ModelSections, recipe),
        **section,
        "recipe": recipe,
        "encoder": {**encoder, "parts": parts},
        "training": {**RECIPES[recipe], **training},
        "sweep": {**({"dropout": [0.1]} if encoder.get("transformer") else {}), **section.get("sweep", {})},
    }


def _commercial(config: Configuration, registry: Mapping[str, Dataset]) -> Configuration:
    """Leave out corpora that do not clearly allow commercial use, but no files of the user.

    A definition by whose pairs systems are compared stays as it is if it is no model.
    """
    allowed = {*config.mined, *(name for name, dataset in registry.items() if dataset.commercial == "yes")}
    compared = {*(config.evaluation.retrieval or ())} - {*config.models}

    def kept(at: str, entries: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, entry in entries.items():
            corpora = [corpus for corpus in entry.corpora if not isinstance(corpus, str) or corpus in allowed]
            if entry.corpora and not corpora and name not in compared:
                raise InputError(f"config: {at}.{name}.corpora: none of them clearly allows commercial use")
            yield name, entry if name in compared else replace(entry, corpora=corpora)

    definitions = dict(kept("definitions", config.definitions))
    return replace(config, definitions=definitions, mined=dict(kept("mined", config.mined)))


def _in_languages(config: Configuration) -> Configuration:
    """Keep only models and studies in `languages`, besides English; `en` selects models of English alone."""
    if config.languages is None:
        return config
    chosen = {*config.languages}
    languages = {name: {*entry.languages} - {"en"} or {"en"} for name, entry in config.definitions.items()}
    known = {code for model in config.models for code in languages.get(model, ())}
    if unknown := chosen - known:
        raise InputError(f"config: languages: no model knows {min(unknown)!r}; there are {sorted(known)}")

    def kept(models: Iterable[str]) -> list[str]:
        return [model for model in models if languages.get(model, chosen) & chosen]

    studies = {}
    for name, study in config.studies.items():
        models = kept(study.model)
        # A definition that nothing varies is only compared with others.
        if models and (len(models) > 1 or len(study.model) == 1 or study.vary):
            studies[name] = replace(study, model=models)
    compared = kept(config.language_choice.models)
    # There is nothing to choose from with a single language.
    choice = replace(config.language_choice, models=compared if len(compared) > 1 else [])
    return replace(config, models=kept(config.models), studies=studies, language_choice=choice)
