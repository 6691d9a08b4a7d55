"""Names of models on the Hugging Face Hub, and how they are told from folders."""

import re
from pathlib import Path

# Before a name, it says that no folder is meant.
PREFIX = "hf://"
_PART = r"(?!\w*\.git$)[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_NAME = re.compile(rf"(?!.*(?:--|\.\.))(?:{_PART}/)?{_PART}")
# The folders of the pipeline are nobody's names, even where they do not exist.
_OURS = ("results", "resources")


def hub_name(place: str) -> str | None:
    """The name on the Hub that a place stands for; None if it is a folder, whether or not that exists.

    `hf://OWNER/NAME` is always a name. `OWNER/NAME` and `NAME` are names, too, unless they exist here,
    or OWNER is a folder here: beside a folder `models`, `models/enn` is a folder with a mistyped name.
    """
    name = place.removeprefix(PREFIX)
    if not _NAME.fullmatch(name):
        return None
    owner, slash, _ = name.partition("/")
    is_here = Path(name).exists() or (slash and (owner in _OURS or Path(owner).is_dir()))
    return None if is_here and not place.startswith(PREFIX) else name


def place_fault(place: str) -> str | None:
    """Why a place is neither a folder nor a name on the Hub; None if it is one of them."""
    name = hub_name(place)
    if name is None and place.startswith(PREFIX):
        return f"is no name on the Hugging Face Hub, which is like {PREFIX}OWNER/NAME"
    if name is None and not Path(place).is_dir():
        hint = f"; for the model of this name on the Hugging Face Hub, write {PREFIX}{place}"
        return f"is not a folder{hint if _NAME.fullmatch(place) else ''}"
    # The libraries would look for a folder first.
    if name and Path(name).exists():
        return f"would be read from the folder {name} that is here; rename the folder"
    return None
