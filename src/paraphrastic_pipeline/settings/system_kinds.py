"""Faults of the systems that a configuration evaluates, and of the names that they share with models."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from paraphrastic_pipeline.base.errors import did_you_mean
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.settings.declared import as_json
from paraphrastic_pipeline.settings.local_files import path_errors, place_errors
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.evaluation import System

# Ways to specify a system; each entry under `systems` has exactly one of them.
SYSTEM_KINDS = ("path", "sentence_transformers", "model2vec", "vectors")
PUBLISHED = Path("config/published")


def system_errors(at: str, system: System) -> Iterator[str]:
    """Errors in an entry of `systems`, which is at the path `at`."""
    kinds = [kind for kind in SYSTEM_KINDS if getattr(system, kind)]
    if len(kinds) != 1:
        given = " and ".join(kinds) or "none"
        yield f"{at}: needs one of {', '.join(SYSTEM_KINDS)}; it has {given}"
        return
    (kind,) = kinds
    if system.vectors:
        for key, path in as_json(system.vectors).items():
            yield from path_errors(f"{at}.{kind}.{key}", path)
    elif system.path:
        yield from path_errors(f"{at}.{kind}", system.path, folder=True)
    else:
        yield from place_errors(f"{at}.{kind}", getattr(system, kind))


def name_errors(config: Configuration) -> Iterator[str]:
    """Errors for names that two systems would share in files or tables."""
    definitions = config.definitions
    taken = {name: f"definitions.{model}" for model in definitions for name in (model, f"{model}-untrained")}
    labels = {}
    for model, definition in definitions.items():
        labels[f"{definition.encoder_name} {model}"] = f"definitions.{model}"
    for system, entry in config.systems.items():
        if system in taken:
            yield f"systems.{system}: the name is already taken by {taken[system]}: give it another name"
        label = entry.label or system
        if label in labels:
            yield f"systems.{system}.label: {label!r} is the label of {labels[label]}: give it another label"
        labels.setdefault(label, f"systems.{system}")


def published_errors(config: Configuration) -> Iterator[str]:
    """Errors for names of published systems that are in no file under `config/published`."""
    files = map(read_csv, PUBLISHED.glob("*.csv"))
    known = {row[key] for rows in files for row in rows for key in ("system", "other") if key in row}
    sections: Mapping[str, Mapping[str, Definition | System]]
    sections = {"definitions": config.definitions, "systems": config.systems}
    for section, entries in sections.items():
        for name, entry in entries.items():
            for system in entry.published_as:
                if known and system not in known:
                    hint = did_you_mean(system, known, otherwise=f"the names are in {PUBLISHED}")
                    yield f"{section}.{name}.published_as: {system!r} is not a published system{hint}"
