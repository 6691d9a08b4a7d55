"""Save a model to a folder, and open it from one."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy
import sentencepiece

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256
from paraphrastic.base.hub_names import PREFIX
from paraphrastic.base.text import folding_errors
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import PieceEncoder, SentenceEncoder
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
)
from paraphrastic.model.shipped import shipped_models

# The files that each kind of model has besides its configuration, at least.
_NEEDED = {
    AVERAGE: (WEIGHTS, SENTENCEPIECE),
    COMPOSITE: (WEIGHTS, SENTENCEPIECE),
    TRANSFORMER: (WEIGHTS, MODULES, TOKENIZER),
}


def save_model(model: PieceEncoder, folder: Path) -> None:
    """Write a model's folder; see `ModelFiles`."""
    proto = model.processor.serialized_model_proto()
    ModelFiles(model.kind, model.dim, model.tensors(), proto, model.config).write(folder)


def open_files(files: ModelFiles) -> SentenceEncoder:
    """Open the model that consists of these files.

    Raises:
        InputError: the files do not fit together.
        KeyError: a tensor or an entry of the configuration is missing.
        RuntimeError: the sentencepiece model is invalid.
    """
    tensors, config = files.tensors, files.config
    processor = sentencepiece.SentencePieceProcessor(model_proto=files.sentencepiece)
    if files.kind == AVERAGE:
        embeddings, known, unknown = (tensors[name] for name in ("embeddings", "known", "unknown"))
        return AverageEncoder(embeddings, known, unknown, processor, config, tensors.get("weights"))
    # A late import, since a single average needs none of it.
    from paraphrastic.model.composite import CompositeEncoder

    return CompositeEncoder(tensors, processor, config)


def find_folder(path: str | Path) -> Path:
    """The folder at `path` or, if no model is there, the shipped model of this name."""
    folder = Path(path)
    # Other libraries' models take precedence, too.
    if any((folder / name).is_file() for name in (CONFIG, MODULES)):
        return folder
    return shipped_models().get(os.fspath(path), folder)


def choose_folder(
    path: str | None, languages: Iterable[str | None] = (), *, default: str = "en"
) -> str | Path:
    """The model for sentences in some languages: the one at `path` or, without a path, a shipped one.

    Args:
        path: a model's folder or name, as a user gave it; None chooses a shipped model, whatever is in the
            working directory.
        languages: languages that the user named; None stands for one that was not named.
        default: the shipped model to choose if it knows the languages.

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
    shipped = {name: (folder, _languages(folder)) for name, folder in shipped_models().items()}
    for name in sorted(shipped, key=lambda name: name != default):
        folder, known = shipped[name]
        if named.issubset(known):
            return folder
    models = "; ".join(f"{name} knows {', '.join(known)}" for name, (_, known) in shipped.items())
    raise InputError(
        f"no model that comes with the package knows {' and '.join(sorted(named))} ({models}): "
        "name a model with --model"
    )


def _languages(folder: Path) -> list[str]:
    """The languages that a model of ours lists; none if it lists none or is another library's."""
    config = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else None
    if not isinstance(config, dict) or config.get("encoder") not in tuple(_NEEDED):
        return []
    return list(config.get("languages") or ())


def open_folder(path: str | Path) -> SentenceEncoder:
    """Open the model in a folder, such as `results/models/en`, or a shipped one by its name, such as `en`.

    Raises:
        InputError: there is no such folder, a file of it is missing or damaged, or it holds another kind of
            model.
    """
    folder = find_folder(path)
    if folder.is_file():
        raise InputError(f"{folder}: is a file, not a model folder; a checkpoint is opened with its sp_model")
    if not folder.exists():
        names = ", ".join(shipped_models())
        why = f"{folder}: there is no folder of this name"
        if str(path).startswith(PREFIX):
            why = f"{path}: a model of paraphrastic is needed, not one of the Hugging Face Hub"
        raise InputError(f"{why}; models that come with the package: {names}")
    if not (folder / CONFIG).is_file():
        raise InputError(f"{folder}: not a model folder: {CONFIG} is missing")
    config = _read_config(folder / CONFIG)
    for name in _NEEDED[config["encoder"]]:
        if not (folder / name).is_file():
            raise InputError(f"{folder}: not a model folder: {name} is missing")
    for name, expected in config["sha256"].items():
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: is missing, but {CONFIG} has its digest")
        if (actual := sha256(folder / name)) != expected:
            raise InputError(f"{folder / name}: damaged: sha256 is {actual}, {CONFIG} says {expected}")
    try:
        if config["encoder"] == TRANSFORMER:
            # A late import, since other models need none of it.
            from paraphrastic.model.transformer import open_transformer

            return open_transformer(folder, config)
        tensors = safetensors.numpy.load_file(folder / WEIGHTS)
        proto = (folder / SENTENCEPIECE).read_bytes()
        model = open_files(ModelFiles(config["encoder"], config.get("dimension", 0), tensors, proto, config))
        if config.get("dimension", model.dim) != model.dim:
            raise InputError(f"{CONFIG} says {config['dimension']} dimensions, {WEIGHTS} has {model.dim}")
        _check_finite(tensors)
        return model
    except KeyError as error:
        raise InputError(f"{folder}: {WEIGHTS} and {CONFIG} do not agree: {error} is missing") from None
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    except (safetensors.SafetensorError, RuntimeError, OSError) as error:
        raise InputError(f"{folder}: cannot be read: {' '.join(str(error).split())}") from None


def _check_finite(tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """Refuse entries that are not finite, because they would silently spoil vectors."""
    for name, array in tensors.items():
        # The sum comes first: it needs no extra memory, and is not finite if an entry is not.
        suspect = array.dtype.kind == "f" and not np.isfinite(array.sum(dtype=np.float32))
        if suspect and not np.isfinite(array).all():
            raise InputError(f"{WEIGHTS}: {name} has numbers that are not finite")


def _read_config(path: Path) -> dict[str, Any]:
    """Read `config.json`, and bring keys of earlier versions into their present form."""
    config = read_json(path)
    if not isinstance(config, dict) or config.get("encoder") not in _NEEDED:
        raise InputError(f"{path}: does not describe a model of the kind {' or '.join(_NEEDED)}")
    config = {"unit": "subword", "segmentation": {}, "folding": {}, **config}
    if "structure" in config:
        config["architecture"] = config.pop("structure")
    kinds = {"model": str, "lowercase": bool, "unit": str}
    kinds |= dict.fromkeys(("segmentation", "folding", "sha256"), dict)
    for key, kind in kinds.items():
        if not isinstance(config.get(key), kind):
            found = f"is {config[key]!r}" if key in config else "is missing"
            raise InputError(f"{path}: {key} {found}; a {kind.__name__} is needed")
    for fault in folding_errors(config["folding"]):
        raise InputError(f"{path}: folding: {fault}")
    if missing := set(_NEEDED[config["encoder"]]) - set(config["sha256"]):
        raise InputError(f"{path}: sha256 lacks {' and '.join(sorted(missing))}")
    return config
