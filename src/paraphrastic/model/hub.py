"""Load other people's models from folders or from the Hugging Face Hub, with errors on one line."""

import os
from collections.abc import Callable
from typing import Any

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.hub_names import hub_name, place_fault

# Seconds to wait for the Hugging Face Hub, which is asked once. The libraries would retry for every file.
_PATIENCE = 10


def not_installed(name: str, package: str, *, is_place: bool = False) -> InputError:
    """Make the error about an optional package that `name` needs, which may be a model's place."""
    from_hub = is_place and hub_name(name)
    what = "is not a folder, and a model of the Hugging Face Hub needs" if from_hub else "needs"
    install = f"run pip install '.[{package}]' in the project's folder"
    return InputError(f"{name}: {what} {package}, which is not installed; {install}")


def set_tokenizer_threads(threads: int) -> None:
    """Set the threads of Hugging Face's tokenizers, which read them only from the environment."""
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    os.environ.setdefault("RAYON_NUM_THREADS", str(threads))


def load_from_hub(place: str, package: str, load: Callable[[str, bool], Any]) -> Any:
    """Load a model from a folder, or by its name on the Hugging Face Hub; see `hub_name`.

    `load`, a function of the package, takes the folder or the name, and whether to stay offline.

    Raises:
        InputError: there is no such folder, it is damaged, or the name is not on the Hub or cannot be reached
            and was not fetched before.
    """
    if fault := place_fault(place):
        raise InputError(f"{place}: {fault}")
    name = hub_name(place)
    unreachable = name and _why_unreachable(name)
    try:
        return load(name or place, bool(unreachable))
    except Exception as error:
        # For a damaged folder, each library below raises its own errors, some of them plain `Exception`s.
        if unreachable:
            advice = "give a folder that holds the model, or fetch it once on a machine with a network"
            raise InputError(
                f"{place}: is not a folder, and the Hugging Face Hub cannot be reached: {unreachable}: "
                f"{advice}"
            ) from error
        from_hub = f"is not a folder, and {package} cannot load it from the Hugging Face Hub"
        what = from_hub if name else f"{package} cannot load this model"
        raise InputError(f"{place}: {what}: {_cause(error)}") from error


def _why_unreachable(name: str) -> str | None:
    """Why the Hugging Face Hub does not answer; None if it does, whatever it says about this name."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        HfApi().model_info(name, timeout=_PATIENCE)
    except (HfHubHTTPError, HFValidationError):
        return None
    except Exception as error:
        # The error comes from the HTTP library below, which is not the same in all versions.
        return _cause(error)
    return None


def _cause(error: Exception) -> str:
    return on_one_line(error) or type(error).__name__
