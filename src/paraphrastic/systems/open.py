"""Open any encoder with one function: models of this project, and other people's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Encoder
from paraphrastic.model.files import MODULES
from paraphrastic.model.folder import find_folder, is_ours, open_folder, shipped_models
from paraphrastic.systems.external import SentenceTransformerEncoder, StaticModelEncoder


def open_encoder(
    model: str | Path | Mapping[str, Any], *, threads: int = 1, device: str | None = None
) -> Encoder:
    """Open an encoder.

    Args:
        model: a model folder of this project, a folder that sentence-transformers saved, or the name of a
            sentence-transformers model on the Hugging Face Hub. It can also be an entry of `systems` in the
            configuration: `label`, and one of `path`, `sentence_transformers` and `model2vec`.
        threads: CPU threads.
        device: `cpu` or `cuda`, for Transformers; None means a GPU if torch sees one.

    Raises:
        InputError: the folder is of another kind, the model is damaged, the name cannot be reached, a package
            is not installed, or the encoder does not run on the device.
    """
    if not isinstance(model, Mapping):
        return _open_folder_or_name(model, threads, device)
    encoder: Any
    if "sentence_transformers" in model:
        encoder = SentenceTransformerEncoder(model["sentence_transformers"], threads=threads, device=device)
    elif "path" in model:
        encoder = _open_folder_or_name(model["path"], threads, device)
    else:
        encoder = StaticModelEncoder(model["model2vec"], threads=threads)
    encoder.label = model["label"]
    return encoder


def _open_folder_or_name(place: str | Path, threads: int, device: str | None) -> Encoder:
    folder = find_folder(place)
    # Asked first, since a model of this project may also be a folder of sentence-transformers.
    if is_ours(folder):
        model = open_folder(place)
        model.threads = threads
        if hasattr(model, "to"):
            model.to(device)
        elif device not in (None, "cpu"):
            raise InputError(f"{model.label}: does not run on {device}")
        return model
    could_be_name = not folder.exists() and len(Path(str(place).removeprefix("hf://")).parts) <= 2
    if not (could_be_name or (folder / MODULES).is_file()):
        cause = "is not a folder with a model, ours or one of sentence-transformers"
        names = ", ".join(shipped_models())
        raise InputError(f"{place}: {cause}; models that come with the package: {names}")
    return SentenceTransformerEncoder(str(place), threads=threads, device=device)
