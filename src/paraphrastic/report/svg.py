"""Pictures inside a page, each an image of its own: it runs nothing and loads nothing."""

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from paraphrastic.base.errors import InputError

_POINTS_A_PIXEL = 0.75


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG as the address of an image (`data:`), what it shows in words, and its width in pixels."""

    address: str
    label: str
    width: int


def embed_svg(path: Path, *, label: str) -> Picture:
    """Read an SVG file for a page that is one file.

    Browsers show an SVG that is the source of an image without its scripts, links and outside files.

    Args:
        path: the file.
        label: what the picture shows, for readers who do not see it.

    Raises:
        InputError: the file is missing, or is not an SVG with a size.
    """
    try:
        content = path.read_bytes()
        root = ElementTree.fromstring(content)  # noqa: S314 - expat limits the growth of entities
    except (OSError, ElementTree.ParseError) as error:
        raise InputError(f"{path}: not readable as SVG: {error}") from None
    width, height = (re.fullmatch(r"([0-9.]+)(pt|px)?", root.get(side, "")) for side in ("width", "height"))
    if root.tag != "{http://www.w3.org/2000/svg}svg" or not width or not height:
        raise InputError(f"{path}: is no SVG with a size")
    pixels = float(width[1]) / (_POINTS_A_PIXEL if width[2] == "pt" else 1)
    address = f"data:image/svg+xml;base64,{base64.b64encode(content).decode()}"
    return Picture(address, label, round(pixels))
