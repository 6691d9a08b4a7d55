"""Open a model from its folder, or by the name of one that comes with the package."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import safetensors
import safetensors.numpy

from paraphrastic.base.errors import InputError, on_one_line, shown
from paraphrastic.base.files import read_json
from paraphrastic.base.text import fault_of_preparation
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.files import (
    AVERAGE,
    COMPOSITE,
    CONFIG,
    MODULES,
    SENTENCEPIECE,
    TOKENIZER,
    TRANSFORMER,
    WEIGHTS,
    ModelFiles,
    Tensors,
)

# The files that each kind of model has besides its configuration, at least.
FILES = {
    AVERAGE: (WEIGHTS, SENTENCEPIECE),
    COMPOSITE: (WEIGHTS, SENTENCEPIECE),
    TRANSFORMER: (WEIGHTS, MODULES, TOKENIZER),
}
# The entries of `config.json` that something reads, with their types and, unless they are needed, defaults.
_ENTRIES: dict[str, tuple[type, Any]] = {
    "encoder": (str, None), "model": (str, None), "lowercase": (bool, None), "unit": (str, "subword"),
    "languages": (list, []), "segmentation": (dict, {}), "folding": (dict, {}), "corpora": (dict, {}),
    "training": (dict, {}), "teachers": (dict, {}), "commercial_use": (str, "unknown"),
}  # fmt: skip
_SHIPPED = Path(__file__).parents[1] / "models"
# The largest entry of a tensor; those of models are near 1.
_LARGEST = 1e15


def shipped_models() -> dict[str, Path]:
    """The folder of each model that comes with the package, by name; see docs/models.md."""
    return {config.parent.name: config.parent for config in sorted(_SHIPPED.glob("*/config.json"))}


def find_folder(path: str | Path) -> Path:
    """The folder at `path` or, if no model is there, the shipped model of this name."""
    folder = Path(path)
    # Other libraries' models take precedence, too.
    if any((folder / name).is_file() for name in (CONFIG, MODULES)):
        return folder
    return shipped_models().get(os.fspath(path), folder)


def choose_folder(path: str | Path | None, languages: Iterable[str | None] = ()) -> str | Path:
    """The model for sentences in some languages: the one at `path` or, without a path, a shipped one.

    The shipped model that knows the languages and the fewest others is chosen, and without any language
    the one with the most: a model of English would give sentences in other languages vectors without meaning.

    Args:
        path: a model's folder or name, as a user gave it; None chooses a shipped model, whatever is in the
            working directory.
        languages: languages that the user named; None stands for one that was not named.

    Raises:
        InputError: the model at `path` lists its languages and lacks one of these, or no shipped model knows
            all of them.
    """
    named = {language for language in languages if language}
    if path is not None:
        known = _languages(find_folder(path))
        if known and (missing := named.difference(known)):
            raise InputError(
                f"{path}: does not know {' and '.join(sorted(missing))}; its languages are {', '.join(known)}"
            )
        return path
    shipped = {name: _languages(folder) for name, folder in shipped_models().items()}
    able = [name for name, known in shipped.items() if named.issubset(known)]
    if able:
        return (min if named else max)(able, key=lambda name: len(shipped[name]))
    models = "; ".join(f"{name} knows {', '.join(known)}" for name, known in shipped.items())
    raise InputError(
        f"no model that comes with the package knows {' and '.join(sorted(named))} ({models}): "
        "name a model with --model"
    )


def _languages(folder: Path) -> list[str]:
    """The languages that a model of ours lists; none if it lists none or is another library's."""
    return read_config(folder)["languages"] if is_ours(folder) else []


def is_ours(folder: Path) -> bool:
    """Whether a folder holds a model of this project."""
    config = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else None
    return isinstance(config, dict) and str(config.get("encoder")) in FILES


def read_config(folder: Path) -> dict[str, Any]:
    """Read the `config.json` of a model folder, with the defaults of entries that it lacks.

    Raises:
        InputError: the file is missing or damaged, describes no model of ours, or has a wrong value.
    """
    path = folder / CONFIG
    config = read_json(path)
    if not isinstance(config, dict) or str(config.get("encoder")) not in FILES:
        raise InputError(f"{path}: does not describe a model of the kind {' or '.join(FILES)}")
    return checked(config, path)


def checked(config: dict[str, Any], path: Path) -> dict[str, Any]:
    """A model's configuration with defaults; a wrong value is an `InputError` that names the file."""
    for key, (kind, default) in _ENTRIES.items():
        value = config.setdefault(key, default)
        if not isinstance(value, kind):
            raise InputError(f"{path}: {key} is {shown(value)}, which is no {kind.__name__}")
    segmentation, folding = config["segmentation"], config["folding"]
    modes = [*segmentation.values(), *folding.values()]
    fault: str | None = "languages, or modes of segmentation or folding, are not all text"
    if all(isinstance(text, str) for text in [*config["languages"], *modes]):
        fault = fault_of_preparation(segmentation, folding)
    if fault:
        raise InputError(f"{path}: {fault}")
    return config


def open_files(files: ModelFiles) -> SentenceEncoder:
    """Open the model that consists of these files.

    Raises:
        InputError: the files do not fit together.
        KeyError: a tensor is missing.
    """
    if files.kind == AVERAGE:
        return AverageEncoder(files.tensors, files.sentencepiece, files.config)
    # A late import, since a single average needs none of it.
    from paraphrastic.model.composite import CompositeEncoder

    return CompositeEncoder(files.tensors, files.sentencepiece, files.config)


def open_folder(path: str | Path) -> SentenceEncoder:
    """Open the model in a folder, such as `results/models/en`, or a shipped one by its name, such as `en`.

    Raises:
        InputError: there is no such folder, a file of it is missing or damaged, or it holds another kind of
            model.
    """
    folder = find_folder(path)
    if not folder.is_dir():
        what = (
            "is a file, not a model folder; a checkpoint is opened with its sp_model"
            if folder.exists()
            else "there is no folder of this name"
        )
        raise InputError(f"{path}: {what}; models that come with the package: {', '.join(shipped_models())}")
    config = read_config(folder)
    if missing := [name for name in FILES[config["encoder"]] if not (folder / name).is_file()]:
        raise InputError(f"{folder}: not a model folder: {missing[0]} is missing")
    try:
        model = _open(folder, config)
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError) as error:
        # numpy lacks the types of some tensors, such as 8-bit floats.
        raise InputError(f"{folder}: {CONFIG} and {WEIGHTS} do not agree: {on_one_line(error)}") from None
    except (safetensors.SafetensorError, OSError) as error:
        raise InputError(f"{folder}: {WEIGHTS} cannot be read: {on_one_line(error)}") from None
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    # The name of a shipped model is one on every machine.
    is_name = folder in shipped_models().values() and folder.name == path
    origin = os.fspath(path) if is_name else str(folder.absolute())
    model.folder, model._reopen = folder, (open_folder, (origin,))
    return model


def _open(folder: Path, config: dict[str, Any]) -> SentenceEncoder:
    if config["encoder"] == TRANSFORMER:
        # A late import, since other models need none of it.
        from paraphrastic.model.transformer import open_transformer

        return open_transformer(folder, config)
    tensors: Tensors = safetensors.numpy.load_file(folder / WEIGHTS)
    for name, tensor in tensors.items():
        # The least and the largest entry need no extra memory, and are not numbers if an entry is not.
        is_float = tensor.dtype.kind == "f" and tensor.size
        if is_float and not -_LARGEST < float(tensor.min()) <= float(tensor.max()) < _LARGEST:
            raise InputError(f"{WEIGHTS}: {name} has numbers that are not finite or above {_LARGEST:g}")
    proto = (folder / SENTENCEPIECE).read_bytes()
    model = open_files(ModelFiles(config["encoder"], 0, tensors, proto, config))
    if config.get("dimension", model.dim) != model.dim:
        raise InputError(f"{CONFIG} says {config['dimension']} dimensions, {WEIGHTS} has {model.dim}")
    return model
