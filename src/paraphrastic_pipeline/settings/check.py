"""Check the whole configuration before anything runs, and complete it with the defaults."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from yaml import MarkedYAMLError

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.errors import hide_secrets
from paraphrastic_pipeline.base.files import parse_json
from paraphrastic_pipeline.base.yaml_bounds import RefusedError
from paraphrastic_pipeline.base.yaml_text import read_yaml
from paraphrastic_pipeline.registry.addresses import secret_error
from paraphrastic_pipeline.registry.datasets import Dataset, read_registry
from paraphrastic_pipeline.settings.completion import (
    errors,
    fill_defaults,
    items_of,
    kind_at,
    normalize,
    plain,
)
from paraphrastic_pipeline.settings.declared import built, recipe_values
from paraphrastic_pipeline.settings.definitions import (
    OVERRIDABLE,
    RECIPES,
    SELECTION_OF_PAPER,
    TEXT_BY_RECIPE,
    mined_datasets,
    recipe_of,
)
from paraphrastic_pipeline.settings.local_files import name_files, named_datasets
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition, ModelSections
from paraphrastic_pipeline.settings.sections.corpora import Mined
from paraphrastic_pipeline.settings.sections.encoder import Part
from paraphrastic_pipeline.settings.sections.evaluation import System
from paraphrastic_pipeline.settings.sections.studies import Study
from paraphrastic_pipeline.settings.study_models import add_models, shared_models
from paraphrastic_pipeline.settings.validation import semantic_errors

# The default configuration in a checkout of the pipeline.
DEFAULT_CONFIG = Path("config/config.yaml")


def read_config(files: Sequence[Path], settings: Mapping[str, Any] | None = None) -> Json:
    """Read a configuration from YAML or JSON files; as in Snakemake, each overrides those before it.

    `settings` override all files.

    Raises:
        InputError: a file is missing, is neither YAML nor JSON, or is not a mapping of keys.
    """
    config: Json = {}
    for path in files:
        if not path.is_file():
            raise InputError(f"{path}: is not a file")
        try:
            text = path.read_text(encoding="utf-8")
            try:
                content = parse_json(text)
            except ValueError:
                content = read_yaml(text)
        except MarkedYAMLError as error:
            line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
            kind = "" if isinstance(error, RefusedError) else "not YAML: "
            raise InputError(f"{path}{line}: {kind}{error.problem}") from None
        except (yaml.YAMLError, ValueError) as error:
            raise InputError(f"{path}: not YAML: {on_one_line(error)}") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        if not isinstance(content, dict):
            raise InputError(f"{path}: not a configuration: it has no keys at its top level")
        _merge(config, content)
    return _merge(config, settings or {})


def complete_config(config: Mapping[str, Any]) -> Json:
    """Fill in the defaults in all sections; the result is again a valid configuration.

    Definitions are not filled, since each overrides these sections key by key. Configurations that mean the
    same (`0` and `0.0`, another order of keys) become identical to the last character, because Snakemake
    compares them as text.

    Raises:
        InputError: one line per error in a single setting, with the path of the key.
    """
    completed: Json = plain(config)
    # First, because the run, its log and its results have copies of the configuration.
    _refuse(_secrets(completed))
    _refuse(errors(completed, Configuration))
    if completed.get("recipe") == "paper":
        completed["selection"] = _merge(copy.deepcopy(SELECTION_OF_PAPER), completed.get("selection") or {})
    fill_defaults(completed, Configuration)
    for name, kind in (("mined", Mined), ("systems", System), ("studies", Study)):
        for described in completed[name].values():
            fill_defaults(described, kind)
    completed = normalize(completed, Configuration)
    _normalize_studies(completed["studies"])
    return completed


def check_config(config: Mapping[str, Any]) -> tuple[Configuration, dict[str, Dataset]]:
    """Check and complete the configuration, and complete every definition with the global sections.

    Settings that `training` leaves out come from the recipe. In a completed definition, all `corpora` are
    names, and `files` describes those that were given as a path. Models of studies and further training runs
    get their own definitions.

    Returns:
        The configuration, and the data sets by name: those of the registry and those of the configuration.

    Raises:
        InputError: one line per error, with the path of the key.
    """
    checked = complete_config(config)
    _refuse(_keep_languages(checked))
    _refuse(add_models(checked))
    # Only now are the values of studies in definitions, where they can be checked.
    _refuse(errors(checked, Configuration))
    registry = read_registry(checked["registry"])
    written = copy.deepcopy(checked["definitions"])
    for model, definition in checked["definitions"].items():
        sections = {key: copy.deepcopy(checked[key]) for key in OVERRIDABLE if key in checked}
        checked["definitions"][model] = _completed(_merge(sections, definition), checked["seed"])
    checked = {**recipe_values(ModelSections, recipe_of(checked)), **checked}
    checked["training"] = {**RECIPES[recipe_of(checked)], **checked["training"]}
    for key, value in TEXT_BY_RECIPE[recipe_of(checked)].items():
        checked["text"][key] = checked["text"][key] or value
    checked = normalize(checked, Configuration)
    _refuse(name_files(checked, registry))
    if checked["licences"] == "commercial":
        _refuse(_keep_commercial(checked, registry))
    configuration: Configuration = built(Configuration, checked)
    datasets = {**registry, **named_datasets(configuration, registry)}
    datasets |= mined_datasets(configuration, datasets)
    _refuse(semantic_errors(configuration, written, datasets))
    return configuration, datasets


def complete_definition(definition: Mapping[str, Any]) -> Definition:
    """A definition by itself, without global sections, with the defaults of all that it leaves out."""
    completed: Definition = built(Definition, _completed(copy.deepcopy(dict(definition)), 1))
    return completed


def _completed(definition: Json, seed: int) -> Json:
    """Complete a definition, which already has the global sections."""
    fill_defaults(definition, Definition)
    definition["recipe"] = recipe_of(definition)
    for key, value in recipe_values(ModelSections, definition["recipe"]).items():
        definition.setdefault(key, copy.deepcopy(value))
    definition.setdefault("seed", seed)
    if definition["training"]["distil"] is not None:
        definition["training"].setdefault("loss", "cosines")
    definition["training"] = {**RECIPES[definition["recipe"]], **definition["training"]}
    definition["sweep"].setdefault("dropout", [0.1 if definition["encoder"]["transformer"] else 0.0])
    for part in definition["encoder"]["parts"]:
        fill_defaults(part, Part)
        part["unit"] = part["unit"] or definition["vocabulary"]["unit"]
    return definition


def _secrets(value: Any, path: str = "") -> Iterator[str]:
    """Errors about addresses with a secret, in the values and keys below `path`."""
    if isinstance(value, str) and (error := secret_error(value)):
        yield f"{hide_secrets(path)}: {error}"
    entries = value.items() if isinstance(value, Mapping) else enumerate(value if type(value) is list else ())
    for key, item in entries:
        yield from _secrets(key, path or str(key))
        yield from _secrets(item, f"{path}{path and '.'}{key}")


def _refuse(errors: Iterable[str]) -> None:
    if lines := [f"config: {error}" for error in dict.fromkeys(errors)]:
        raise InputError(*lines)


def _keep_commercial(config: Json, registry: Mapping[str, Dataset]) -> Iterator[str]:
    """Leave out corpora that do not clearly allow commercial use, and yield definitions without any other.

    The user's own files stay, as the user knows what they allow. The registry says nothing of OPUS's others.
    A definition by whose pairs systems are compared stays as it is if it is no model.
    """
    only_compared = {*(config["evaluation"]["retrieval"] or ())} - {*config["models"]}
    for section in ("definitions", "mined"):
        for name, definition in config[section].items():
            if section == "definitions" and name in only_compared:
                continue
            corpora, files = definition["corpora"], definition["files"]
            allowed = [
                corpus
                for corpus in corpora
                if corpus in files
                or corpus in config["mined"]
                or (corpus in registry and registry[corpus].commercial == "yes")
            ]
            if corpora and not allowed:
                names = ", ".join(corpora)
                yield f"{section}.{name}.corpora: none of them clearly allows commercial use: {names}"
            definition["corpora"] = allowed
            if section == "definitions":
                for key in ("max_pairs", "weights"):
                    of_corpus = definition[key]
                    definition[key] = {corpus: of_corpus[corpus] for corpus in of_corpus if corpus in allowed}


def _keep_languages(config: Json) -> Iterator[str]:
    """Keep only models and studies in the languages of `languages`, if it is set, and yield its errors.

    A model counts for its languages besides English; `en` selects models of English alone.
    """
    wanted, definitions = config["languages"], config["definitions"]
    if wanted is None:
        return
    # Models without a definition are reported by another check.
    models = [model for model in config["models"] if model in definitions]
    known = dict.fromkeys(code for model in models for code in _languages(definitions[model]))
    unknown = [code for code in wanted if code not in known]
    for code in unknown:
        yield f"languages: no model knows {code!r}; there are models for {', '.join(known)}"
    if unknown:
        return

    def is_kept(model: str) -> bool:
        return model not in definitions or bool(_languages(definitions[model]) & set(wanted))

    config["models"] = [model for model in config["models"] if is_kept(model)]
    for name, study in list(config["studies"].items()):
        models = shared_models(study["model"])
        study["model"] = [model for model in models if is_kept(model)]
        # A definition that nothing varies is only compared with others.
        if not study["model"] or (len(study["model"]) == 1 < len(models) and not study["vary"]):
            del config["studies"][name]
    choice = config["language_choice"]
    kept = [model for model in choice["models"] if is_kept(model)]
    # There is nothing to choose from with a single language.
    choice["models"] = kept if len(kept) > 1 else []


def _languages(definition: Mapping[str, Any]) -> set[str]:
    return set(definition["languages"]) - {"en"} or {"en"}


def _normalize_studies(studies: Json) -> None:
    """Normalize the varied values of studies by the rules of the settings that they vary."""
    for study in studies.values():
        for path, values in study["vary"].items():
            kind = kind_at(path.split("."), Definition)
            # Settings of a sweep are lists, but a study compares their single values.
            single = items_of(kind) if path.startswith("sweep.") and kind is not Any else kind
            names = list(values) if isinstance(values, Mapping) else range(len(values))
            for name in names:
                values[name] = normalize(values[name], kind if isinstance(values[name], list) else single)


def _merge(base: Json, override: Mapping[str, Any]) -> Json:
    for key, value in override.items():
        if isinstance(value, Mapping):
            # An anchor's mapping is one object in several places, which must not change together.
            here = base.get(key)
            base[key] = _merge(here if isinstance(here, dict) else {}, value)
        else:
            base[key] = copy.deepcopy(value)
    return base
