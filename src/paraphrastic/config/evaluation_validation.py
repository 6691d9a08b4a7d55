"""Faults of the configuration of systems, evaluation and test sets that a schema cannot find."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.files import read_csv
from paraphrastic.config.architecture import architecture_of
from paraphrastic.config.local_files import path_faults
from paraphrastic.config.names import dataset_faults, did_you_mean
from paraphrastic.registry.datasets import Dataset

Json = Mapping[str, Any]
Registry = Mapping[str, Dataset]

PUBLISHED = Path("config/published")
# What a system is opened by; each entry under `systems` has one of them.
SYSTEM_KINDS = ("path", "sentence_transformers", "model2vec", "vectors")


def evaluation_faults(config: Json, registry: Registry) -> Iterator[str]:
    """What is wrong with systems, evaluation and test sets, if all definitions are complete."""
    yield from _testset_faults(config, registry)
    for name, system in config["systems"].items():
        yield from _system_faults(f"systems.{name}", system)
    yield from _name_faults(config)
    yield from _published_faults(config)


def _testset_faults(config: Json, registry: Registry) -> Iterator[str]:
    """Faults of the data sets that models are evaluated on, and that training data must not have."""
    evaluation, contamination = config["evaluation"], config["contamination"]
    names = {f"evaluation.{task}": evaluation[task] for task in ("sts", "senteval")}
    names |= {f"evaluation.polish.{task}": name for task, name in (evaluation["polish"] or {}).items()}
    names |= {f"contamination.testsets.{task}": name for task, name in contamination["testsets"].items()}
    for key, name in names.items():
        kinds = ("sts", "file") if key.endswith(".sts") else ("file",)
        yield from dataset_faults(key, name, registry, kinds)
    for task, faults in (("tatoeba", _tatoeba_faults), ("bucc", _bucc_faults)):
        if evaluation[task] is not None:
            key, name = f"evaluation.{task}", evaluation[task]["testsets"]
            unnamed = list(dataset_faults(f"{key}.testsets", name, registry, ("file",)))
            yield from unnamed or faults(key, evaluation[task], registry[name])
    name = evaluation["senteval"]
    if name in registry and len(registry[name].files) != 1:
        yield f"evaluation.senteval: {name!r} has {len(registry[name].files)} files; needed is one archive"
    if contamination["drop"] == "near" and contamination["near_duplicates"] is None:
        yield "contamination.drop: near needs contamination.near_duplicates, which is null"


def _tatoeba_faults(key: str, settings: Json, dataset: Dataset) -> Iterator[str]:
    files = [set(file.languages) for file in dataset.files]
    there = {
        language for languages in files if files.count(languages | {"en"}) == 2 for language in languages
    }
    if not there:
        yield f"{key}.testsets: {dataset.name!r} has no language with a file of its own and an English one"
        return
    for language in settings["languages"] or ():
        if language not in there - {"en"}:
            yield f"{key}.languages: {dataset.name!r} has nothing in {language!r} and English"


def _bucc_faults(key: str, settings: Json, dataset: Dataset) -> Iterator[str]:
    if any(len(file.languages) != 2 or len(file.members) != 3 for file in dataset.files):
        yield f"{key}.testsets: {dataset.name!r} has files that are no archive of two languages"
        return
    there = ["-".join(pair) for pair in dataset.pairs]
    for pair in settings["pairs"] or ():
        if pair not in there:
            yield f"{key}.pairs: {dataset.name!r} has nothing in {pair!r}; it has {', '.join(there)}"


def _system_faults(at: str, system: Json) -> Iterator[str]:
    kinds = [kind for kind in SYSTEM_KINDS if system.get(kind)]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        yield f"{at}: needs one of {', '.join(SYSTEM_KINDS)}; there is {found}"
        return
    (kind,) = kinds
    if kind == "vectors":
        for key, path in system[kind].items():
            yield from path_faults(f"{at}.{kind}.{key}", path)
    elif kind == "path" or _is_no_name(system[kind]):
        yield from path_faults(f"{at}.{kind}", system[kind], folder=True)


def _is_no_name(place: str) -> bool:
    """Whether it cannot be a name on the Hugging Face Hub, which is `NAME` or `OWNER/NAME`."""
    marks = place.startswith((".", "/", "~")) or place.endswith("/") or set("{}") & set(place)
    return bool(marks) or place.count("/") > 1


def _name_faults(config: Json) -> Iterator[str]:
    """Names that two systems would have in files or tables."""
    definitions = config["definitions"]
    taken = {name: f"definitions.{model}" for model in definitions for name in (model, f"{model}-untrained")}
    labels = {_label(model, definition): f"definitions.{model}" for model, definition in definitions.items()}
    for system, entry in config["systems"].items():
        if system in taken:
            yield f"systems.{system}: the name is that of {taken[system]}: give it another name"
        label = entry["label"] or system
        if label in labels:
            yield f"systems.{system}.label: {label!r} is that of {labels[label]}: give it another label"
        labels.setdefault(label, f"systems.{system}")


def _published_faults(config: Json) -> Iterator[str]:
    """Names of published systems that no file under `config/published` has."""
    known: set[str] = set()
    for path in PUBLISHED.glob("*.csv"):
        known |= {row["system"] for row in read_csv(path) if "system" in row}
    for section in ("definitions", "systems"):
        for name, entry in config[section].items():
            for system in entry.get("published_as") or ():
                if known and system not in known:
                    hint = did_you_mean(system, known, otherwise=f"{PUBLISHED} has the names")
                    yield f"{section}.{name}.published_as: {system!r} is no published system{hint}"


def is_trained(definition: Json) -> bool:
    """Whether a model has been through any training."""
    return bool(definition["training"]["epochs"] > 0)


def _label(model: str, definition: Json) -> str:
    """A model's name in the tables."""
    random = "" if is_trained(definition) else "Random "
    return f"{random}{architecture_of(definition).name} {model}"
