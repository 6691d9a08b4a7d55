"""What models and mined corpora are made of: corpora of models, and the models that mine corpora."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.registry.datasets import Dataset, RemoteFile

# A section of the configuration and a name in it.
Key = tuple[str, str]


def encoder_model(mined: Mapping[str, Any]) -> str:
    """The model that a mined corpus's encoder is, as `encoders.open_system` takes it."""
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


def mining_encoder_faults(name: str, config: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the encoder of a mined corpus; the corpora are all names by now."""
    mined = config["mined"][name]
    encoder, definitions = mined["encoder"], config["definitions"]
    at = f"mined.{name}.encoder"
    if not isinstance(encoder, str):
        if "path" in encoder and not Path(encoder["path"]).is_dir():
            yield f"{at}.path: {encoder['path']!r} is not a folder"
        if "path" in encoder and set("{}") & set(encoder["path"]):
            yield f"{at}.path: {encoder['path']!r} has a brace, which is a wildcard's: rename the folder"
    elif encoder not in definitions:
        guess = difflib.get_close_matches(encoder, definitions, n=1)
        others = "other models are given as {path: …} or {sentence_transformers: …}"
        hint = f"did you mean {guess[0]!r}?" if guess else others
        yield f"{at}: {encoder!r} is not described under definitions; {hint}"
    elif way := _way(config, ("definitions", encoder), ("mined", name)):
        told = " needs ".join(each for _, each in way)
        yield f"{at}: {encoder!r} is itself made of what it is to mine: {told}"
    elif unknown := [code for code in mined["languages"] if code not in definitions[encoder]["languages"]]:
        known = " and ".join(definitions[encoder]["languages"])
        yield f"{at}: {encoder!r} is a model of {known}, and does not know {' and '.join(unknown)}"


def _needs(config: Mapping[str, Any], key: Key) -> list[Key]:
    """The mined corpora of a definition; the definition of a mined corpus's encoder."""
    section, name = key
    entry = config[section][name]
    if section == "definitions":
        return [("mined", corpus) for corpus in entry["corpora"] if corpus in config["mined"]]
    encoder = entry["encoder"]
    known = isinstance(encoder, str) and encoder in config["definitions"]
    return [("definitions", encoder)] if known else []


def _way(config: Mapping[str, Any], start: Key, goal: Key) -> list[Key] | None:
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
