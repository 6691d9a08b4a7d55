"""The part of a configuration that concerns some languages alone."""

from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]


def keep_languages(config: Json) -> Iterator[str]:
    """Leave out models and studies of other languages than `languages`, if it is set; yield its faults.

    A model counts for the languages that it has beside English; `en` stands for models of English alone.
    """
    wanted, definitions = config["languages"], config["definitions"]
    if wanted is None:
        return
    # Models without a definition are reported by another check.
    models = [model for model in config["models"] if model in definitions]
    known = dict.fromkeys(code for model in models for code in _languages(definitions[model]))
    unknown = [code for code in wanted if code not in known]
    for code in unknown:
        yield f"languages: no model is of {code!r}; there are models of {', '.join(known)}"
    if unknown:
        return

    def is_kept(model: str) -> bool:
        return model not in definitions or bool(_languages(definitions[model]) & set(wanted))

    config["models"] = [model for model in config["models"] if is_kept(model)]
    config["studies"] = {name: each for name, each in config["studies"].items() if is_kept(each["model"])}
    choice, study = config["language_choice"], config["filter_study"]
    kept = [model for model in choice["models"] if is_kept(model)]
    # One language is no choice.
    choice["models"] = kept if len(kept) > 1 else []
    if study["model"] and not is_kept(study["model"]):
        study["model"] = None


def _languages(definition: Mapping[str, Any]) -> set[str]:
    return set(definition["languages"]) - {"en"} or {"en"}
