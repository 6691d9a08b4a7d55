"""The places that a configuration names: files, folders, and models on the Hugging Face Hub."""

import re
from collections.abc import Iterator
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


def place_mistakes(key: str, place: str) -> Iterator[str]:
    """Mistakes in the place of a model under `key`: a folder, or a name on the Hugging Face Hub."""
    name = hub_name(place)
    if name is None and place.startswith(PREFIX):
        yield f"{key}: {place!r} is no name on the Hugging Face Hub, which is like {PREFIX}OWNER/NAME"
    elif name is None:
        hint = f"; on the Hugging Face Hub, it is {PREFIX}{place}" if _NAME.fullmatch(place) else ""
        yield from (f"{mistake}{hint}" for mistake in path_mistakes(key, place, folder=True))
    elif Path(name).exists():
        # The libraries would look for a folder first.
        yield f"{key}: {place!r} would be read from the folder {name} that is here; rename the folder"


def path_mistakes(key: str, path: str, *, folder: bool = False) -> Iterator[str]:
    """Mistakes in a path under `key`, which must be a file or a folder."""
    what = "folder" if folder else "file"
    if cause := name_fault(path):
        yield f"{key}: {path!r} {cause}: rename the {what}"
    elif not (Path(path).is_dir() if folder else Path(path).is_file()):
        yield f"{key}: {path!r} is not a {what}"


def name_fault(path: str) -> str | None:
    """Why a configuration cannot name a file by this path; None if it can."""
    if set("{}") & set(path):
        return "contains a brace, which Snakemake reads as a wildcard"
    if any("\ud800" <= character <= "\udfff" for character in path):
        return "is not UTF-8"
    if len(path.encode()) >= 4096 or any(len(part.encode()) > 255 for part in path.split("/")):
        return "is longer than a file system allows"
    return None
