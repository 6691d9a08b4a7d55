"""The places that a configuration names: files, folders, and models on the Hugging Face Hub."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

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


def name_fault(path: str) -> str | None:
    """Why a configuration cannot name a file by this path; None if it can."""
    if set("{}") & set(path):
        return "contains a brace, which Snakemake reads as a wildcard"
    if any("\ud800" <= character <= "\udfff" for character in path):
        return "is not UTF-8"
    if len(path.encode()) >= 4096 or any(len(part.encode()) > 255 for part in path.split("/")):
        return "is longer than a file system allows"
    return None


def _here(path: str, *, folder: bool = False) -> str:
    what = "folder" if folder else "file"
    if cause := name_fault(path):
        raise PydanticCustomError("path", f"{cause}: rename the {what}")
    if not (Path(path).is_dir() if folder else Path(path).is_file()):
        hint = f"; on the Hugging Face Hub, it is {PREFIX}{path}" if folder and _NAME.fullmatch(path) else ""
        raise PydanticCustomError("path", f"is not a {what}{hint}")
    return path


# What is there, or is a name on the Hub.
File = Annotated[str, AfterValidator(_here)]
Folder = Annotated[str, AfterValidator(lambda path: _here(path, folder=True))]
Place = Annotated[str, AfterValidator(lambda place: place if hub_name(place) else _here(place, folder=True))]
