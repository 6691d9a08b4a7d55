"""Faults of the evaluation's configuration that a schema cannot find."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.files import read_csv
from paraphrastic.config.architecture import architecture_of

Json = Mapping[str, Any]

PUBLISHED = Path("config/published")
# What a system is opened by; each entry under `systems` has one of them.
SYSTEM_KINDS = ("path", "sentence_transformers", "model2vec", "vectors")


def evaluation_faults(config: Json) -> Iterator[str]:
    """What is wrong with `systems` and `evaluation` of a configuration whose definitions are complete."""
    for name, system in config["systems"].items():
        yield from _kind_faults(f"systems.{name}", system)
    yield from _name_faults(config)
    yield from _published_faults(config)
    yield from _only_faults(config)


def _kind_faults(at: str, system: Json) -> Iterator[str]:
    kinds = [kind for kind in SYSTEM_KINDS if system.get(kind)]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        yield f"{at}: needs one of {', '.join(SYSTEM_KINDS)}; there is {found}"
        return
    kind = kinds[0]
    place = system[kind]
    paths = {f"{kind}.{key}": path for key, path in place.items()} if kind == "vectors" else {kind: place}
    for key, path in paths.items():
        if set("{}") & set(path):
            yield f"{at}.{key}: {path!r} has a brace, which is a wildcard's: rename it"
        elif kind == "vectors" and not Path(path).is_file():
            yield f"{at}.{key}: {path!r} is not a file"
        elif kind != "vectors" and not Path(path).is_dir() and (kind == "path" or _is_no_name(path)):
            yield f"{at}.{key}: {path!r} is not a folder"


def _is_no_name(place: str) -> bool:
    """Whether it cannot be a name on the Hugging Face Hub, which is `NAME` or `OWNER/NAME`."""
    return place.startswith((".", "/", "~")) or place.endswith("/") or place.count("/") > 1


def _name_faults(config: Json) -> Iterator[str]:
    """Names that files and tables have for two systems."""
    definitions = config["definitions"]
    taken = {name: f"definitions.{model}" for model in definitions for name in (model, f"{model}-untrained")}
    for system in config["systems"]:
        if system in taken:
            yield f"systems.{system}: the name is that of {taken[system]}: give it another name"
    labels = {_label(model, definition): f"definitions.{model}" for model, definition in definitions.items()}
    for system, entry in config["systems"].items():
        label = entry["label"] or system
        if label in labels:
            yield f"systems.{system}.label: {label!r} is that of {labels[label]}: give it another label"
        labels.setdefault(label, f"systems.{system}")


def _published_faults(config: Json) -> Iterator[str]:
    """Names of published systems that no file of them has."""
    known: set[str] = set()
    for path in PUBLISHED.glob("*.csv"):
        known |= {row["system"] for row in read_csv(path) if "system" in row}
    for section in ("definitions", "systems"):
        for name, entry in config[section].items():
            for system in entry.get("published_as") or ():
                if known and system not in known:
                    guess = difflib.get_close_matches(system, known, n=1)
                    hint = f"; did you mean {guess[0]!r}?" if guess else f"; {PUBLISHED} has the names"
                    yield f"{section}.{name}.published_as: {system!r} is no published system{hint}"


def is_trained(definition: Json) -> bool:
    """Whether a model is not as it was before training."""
    return bool(definition["training"]["epochs"] > 0)


def _label(model: str, definition: Json) -> str:
    """A model's name in the tables."""
    random = "" if is_trained(definition) else "Random "
    return f"{random}{architecture_of(definition).name} {model}"


def _only_faults(config: Json) -> Iterator[str]:
    known = _systems(config, config["definitions"])
    systems = _systems(config, config["models"])
    for task, chosen in config["evaluation"]["only"].items():
        for name in chosen:
            # Those that are not built this time are no mistake.
            if name not in known:
                guess = difflib.get_close_matches(name, systems, n=1)
                hint = f"did you mean {guess[0]!r}?" if guess else f"there are {', '.join(systems)}"
                yield f"evaluation.only.{task}: {name!r} is no system that is evaluated; {hint}"


def _systems(config: Json, models: Iterable[str]) -> list[str]:
    """Names of the systems that are evaluated where these models are built."""
    definitions = {model: config["definitions"][model] for model in models if model in config["definitions"]}
    systems = [*config["systems"], *definitions]
    if config["evaluation"]["untrained"]:
        systems += [f"{model}-untrained" for model, each in definitions.items() if is_trained(each)]
    return systems
