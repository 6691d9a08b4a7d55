"""What models and mined corpora depend on: the corpora of models, and the models that mine corpora."""

from collections.abc import Mapping
from typing import Any

from paraphrastic.registry.datasets import Dataset, RemoteFile

# A section of the configuration and a name in it.
Key = tuple[str, str]


def encoder_model(mined: Mapping[str, Any]) -> str:
    """The model that a mined corpus's encoder is, as `systems.open_system` takes it."""
    encoder = mined["encoder"]
    if isinstance(encoder, str):
        return f"results/models/{encoder}"
    return str(encoder.get("path") or encoder["sentence_transformers"])


def mined_datasets(config: Mapping[str, Any], datasets: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """The mined corpora of a configuration as data sets; their version is what they are made of."""
    found = {}
    for name, mined in config["mined"].items():
        source, language = mined["languages"]
        bitexts = [f"{each} {datasets[each].version}" for each in mined["corpora"] if each in datasets]
        encoder = mined["encoder"] if isinstance(mined["encoder"], str) else encoder_model(mined)
        version = (
            f"{source}-{language} of {' and '.join(bitexts)}, "
            f"by the encoder {encoder} at {mined['min_similarity']}"
        )
        file = RemoteFile(name, f"{language}-{language}.parquet", (language,), (), version=version)
        found[name] = Dataset(name, version, "mined", "as its bitexts'", (file,))
    return found


def definitions_needed(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The definitions of the models, of the mined corpora among their corpora, of these ones' encoders…"""
    waiting: list[Key] = [("definitions", model) for model in config["models"]]
    found: dict[Key, Mapping[str, Any]] = {}
    while waiting:
        section, name = key = waiting.pop()
        if key not in found:
            found[key] = config[section][name]
            waiting += _needs(config, key)
    return list(found.values())


def _needs(config: Mapping[str, Any], key: Key) -> list[Key]:
    """The mined corpora of a definition; the definition of a mined corpus's encoder."""
    section, name = key
    entry = config[section][name]
    if section == "definitions":
        return [("mined", corpus) for corpus in entry["corpora"] if corpus in config["mined"]]
    encoder = entry["encoder"]
    known = isinstance(encoder, str) and encoder in config["definitions"]
    return [("definitions", encoder)] if known else []


def way(config: Mapping[str, Any], start: Key, goal: Key) -> list[Key] | None:
    """A way from what is made to what it needs, both ends included; None where there is none."""
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop(0)
        for key in _needs(config, way[-1]):
            if key == goal:
                return [*way, key]
            if key not in seen:
                seen.add(key)
                ways.append([*way, key])
    return None
