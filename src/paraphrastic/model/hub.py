"""Load other people's models from folders or from the Hugging Face Hub, with errors on one line."""

from collections.abc import Callable
from typing import Any

from paraphrastic.base.errors import InputError, on_one_line

# Before a name, it says that a model of the Hub is meant.
PREFIX = "hf://"


def not_installed(place: str, package: str) -> InputError:
    """Make the error about an optional package that the model at `place` needs."""
    return InputError(f"{place}: needs {package}, which is not installed: pip install '{package}'")


def load_from_hub(place: str, package: str, load: Callable[[str], Any]) -> Any:
    """Load a model from a folder if it exists, or else by its name on the Hugging Face Hub.

    The name may have `hf://` before it. With HF_HUB_OFFLINE=1, only what was fetched before is found. `load`,
    a function of the package, takes the folder or the name.

    Raises:
        InputError: there is neither such a folder nor such a name, or the model is damaged.
    """
    try:
        return load(place.removeprefix(PREFIX))
    except Exception as error:
        # The libraries raise errors of many kinds, some of them plain `Exception`s.
        cause = on_one_line(error) or type(error).__name__
        cause = f"cannot load it from a folder or the Hugging Face Hub: {cause}"
        raise InputError(f"{place}: {package} {cause}") from error
