"""Paraphrastic sentence embeddings: train a model for any language, then embed and compare sentences."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import InputError

if TYPE_CHECKING:
    from paraphrastic.base.rows import Source
    from paraphrastic.interop.estimator import SentenceVectors as SentenceVectors
    from paraphrastic.model.embed_files import embed_file
    from paraphrastic.model.encoder import SentenceEncoder
    from paraphrastic.neighbours.bitext import best_pairs
    from paraphrastic.neighbours.duplicates import near_duplicates
    from paraphrastic.neighbours.matrix_search import search

__all__ = [
    "InputError",
    "SentenceEncoder",
    "Source",
    "best_pairs",
    "embed_file",
    "load_model",
    "near_duplicates",
    "search",
]


def load_model(path: str | Path | None = None, *, sp_model: str | Path | None = None) -> "SentenceEncoder":
    """Load a model that comes with the package, a model folder, or a checkpoint of the authors' code.

    Args:
        path: the name of a model that comes with the package, such as `en`; a folder, such as
            `results/models/en`; or a checkpoint, such as `model.para.lc.100.pt`. Without a path, the model
            of the most languages that comes with the package is loaded.
        sp_model: the checkpoint's sentencepiece model, such as `paranmt.model`; None for a folder.

    Raises:
        InputError: a file of the folder is missing or damaged, the folder holds another kind of model, or
            the checkpoint is one that `interop.checkpoint.open_checkpoint` refuses.
    """
    if sp_model is None:
        from paraphrastic.model.folder import choose_folder, open_folder

        return open_folder(choose_folder(path))
    if path is None:
        raise InputError("sp_model belongs to a checkpoint; name the checkpoint, too")
    from paraphrastic.interop.checkpoint import open_checkpoint

    return open_checkpoint(path, sp_model)


def __getattr__(name: str) -> Any:
    # Imported when they are asked for, so that everybody loads only what they need.
    match name:
        case "SentenceEncoder":
            from paraphrastic.model.encoder import SentenceEncoder

            return SentenceEncoder
        case "SentenceVectors":
            try:
                from paraphrastic.interop.estimator import SentenceVectors
            except ModuleNotFoundError:
                raise ImportError(f"{name} needs scikit-learn: pip install scikit-learn") from None
            return SentenceVectors
        case "Source":
            from paraphrastic.base.rows import Source

            return Source
        case "best_pairs":
            from paraphrastic.neighbours.bitext import best_pairs

            return best_pairs
        case "embed_file":
            from paraphrastic.model.embed_files import embed_file

            return embed_file
        case "near_duplicates":
            from paraphrastic.neighbours.duplicates import near_duplicates

            return near_duplicates
        case "search":
            from paraphrastic.neighbours.matrix_search import search

            return search
        case "__version__":
            from importlib.metadata import version

            return version("paraphrastic")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "SentenceVectors"})
