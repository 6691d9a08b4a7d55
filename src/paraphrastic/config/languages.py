"""Of a configuration, what concerns some languages alone."""

from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]


def keep_languages(config: Json) -> Iterator[str]:
    """Leave out models and studies of other languages than `languages`, where that is set; its faults.

    A model is of the languages that it has beside English, or of English alone.
    """
    wanted = config.get("languages")
    if wanted is None:
        return
    definitions = config["definitions"]
    # What is not described is a fault that others find.
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
    for study, entry in list(config.get("studies", {}).items()):
        if not is_kept(entry["model"]):
            del config["studies"][study]
    choice = config.get("language_choice", {})
    if choice.get("models"):
        kept = [model for model in choice["models"] if is_kept(model)]
        # One language is no choice.
        choice["models"] = kept if len(kept) > 1 else []
    study = config.get("filter_study", {})
    if study.get("model") and not is_kept(study["model"]):
        study["model"] = None


def _languages(definition: Mapping[str, Any]) -> set[str]:
    return set(definition["languages"]) - {"en"} or {"en"}
