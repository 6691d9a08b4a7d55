"""Open a model from its folder."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy.typing as npt
import safetensors
import safetensors.numpy

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import sha256
from paraphrastic.base.hub_names import PREFIX
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.config_file import NEEDED, kind_of, read_config
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.files import (
    AVERAGE,
    CONFIG,
    MODULES,
    SENTENCEPIECE,
    TRANSFORMER,
    WEIGHTS,
    ModelFiles,
    require_numbers,
)
from paraphrastic.model.sentencepiece_models import open_processor
from paraphrastic.model.shipped import origin_of, shipped_models

# Types that a model's tensors can have, by their names in safetensors' files. The library for numpy cannot
# read all others.
_DTYPES = ("F32", "F16", "I8", "U8", "BOOL")


def open_files(files: ModelFiles) -> SentenceEncoder:
    """Open the model that consists of these files.

    Raises:
        InputError: the files do not fit together.
        KeyError: a tensor is missing.
    """
    tensors, config = files.tensors, files.config
    processor = open_processor(files.sentencepiece, SENTENCEPIECE)
    if files.kind == AVERAGE:
        names = ("embeddings", "known", "unknown", "weights")
        if more := tensors.keys() - set(names):
            raise InputError(f"{WEIGHTS} holds {min(more)!r}, which no average has")
        embeddings, known, unknown = (tensors[name] for name in names[:3])
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


def choose_folder(path: str | None, languages: Iterable[str | None] = ()) -> str | Path:
    """The model for sentences in some languages: the one at `path` or, without a path, a shipped one.

    Of the shipped models that know the languages, the one with the fewest is chosen, and without any language
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
    shipped = {name: (folder, _languages(folder)) for name, folder in shipped_models().items()}
    able = [each for each in shipped.values() if named.issubset(each[1])]
    if able:
        return (min if named else max)(able, key=lambda each: len(each[1]))[0]
    models = "; ".join(f"{name} knows {', '.join(known)}" for name, (_, known) in shipped.items())
    raise InputError(
        f"no model that comes with the package knows {' and '.join(sorted(named))} ({models}): "
        "name a model with --model"
    )


def _languages(folder: Path) -> list[str]:
    """The languages that a model of ours lists; none if it lists none or is another library's."""
    return read_config(folder / CONFIG)["languages"] if kind_of(folder / CONFIG) else []


def open_folder(path: str | Path) -> SentenceEncoder:
    """Open the model in a folder, such as `results/models/en`, or a shipped one by its name, such as `en`.

    Raises:
        InputError: there is no such folder, a file of it is missing or damaged, or it holds another kind of
            model.
    """
    folder = find_folder(path)
    model = _open(folder, path)
    model.origin = origin_of(folder)
    return model


def _open(folder: Path, path: str | Path) -> SentenceEncoder:
    """Open the model in a folder that was found for a path."""
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
    config = read_config(folder / CONFIG)
    for name in NEEDED[config["encoder"]]:
        if not (folder / name).is_file():
            raise InputError(f"{folder}: not a model folder: {name} is missing")
    for name, expected in config["sha256"].items():
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: is missing, but {CONFIG} has its digest")
        # The digest itself is not shown, since a link may lead to a file that is nobody else's business.
        if sha256(folder / name) != expected:
            raise InputError(f"{folder / name}: damaged: its sha256 is not {expected}, as {CONFIG} says")
    try:
        if config["encoder"] == TRANSFORMER:
            # A late import, since other models need none of it.
            from paraphrastic.model.transformer import open_transformer

            return open_transformer(folder, config)
        tensors = _read_tensors(folder / WEIGHTS)
        proto = (folder / SENTENCEPIECE).read_bytes()
        for name, tensor in tensors.items():
            require_numbers(tensor, f"{WEIGHTS}: {name}")
        model = open_files(ModelFiles(config["encoder"], config.get("dimension", 0), tensors, proto, config))
        if config.get("dimension", model.dim) != model.dim:
            raise InputError(f"{CONFIG} says {config['dimension']} dimensions, {WEIGHTS} has {model.dim}")
        return model
    except KeyError as error:
        raise InputError(f"{folder}: {WEIGHTS} and {CONFIG} do not agree: {error} is missing") from None
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    except (safetensors.SafetensorError, OSError) as error:
        raise InputError(f"{folder}: {WEIGHTS} cannot be read: {on_one_line(error)}") from None


def _read_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    with safetensors.safe_open(path, framework="numpy") as file:
        for name in file.keys():  # noqa: SIM118 (no mapping)
            if (dtype := file.get_slice(name).get_dtype()) not in _DTYPES:
                raise InputError(f"{WEIGHTS}: {name} is of {dtype}; {' or '.join(_DTYPES)} is needed")
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
