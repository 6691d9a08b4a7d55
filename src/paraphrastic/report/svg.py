"""Pictures inside a page: SVG that the page's other parts cannot meet, and that does nothing."""

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from markupsafe import Markup

from paraphrastic.base.errors import InputError

_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}href"
# All that pictures of matplotlib are drawn with; whatever runs, links or styles the page is not among it.
_ELEMENTS = {
    "svg", "g", "defs", "path", "clipPath", "rect", "circle", "ellipse", "line", "polyline", "polygon",
    "use", "text", "tspan", "image", "linearGradient", "radialGradient", "stop", "pattern", "title", "desc",
}  # fmt: skip
_POINTS_A_PIXEL = 0.75


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG to put into a page as it stands, and its width in pixels."""

    markup: Markup
    width: int


def inline_svg(path: str | Path, *, prefix: str, label: str) -> Picture:
    """Read an SVG file as an element of a page.

    Its ids, and what refers to them, begin with `prefix`, so that several pictures can stand in one page.
    What is no drawing is left out: scripts, styles, links, and images that are not in the file itself.

    Args:
        path: the file.
        prefix: unique in the page.
        label: what the picture shows, for who does not see it.

    Raises:
        InputError: the file is missing or is no SVG.
    """
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 - expat limits the growth of entities
    except (OSError, ElementTree.ParseError) as error:
        raise InputError(f"{path}: not readable as SVG: {error}") from None
    if root.tag != f"{_SVG}svg" or not (size := _size(root)):
        raise InputError(f"{path}: is no SVG with a size")
    _clean(root, prefix)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("viewBox", root.get("viewBox", f"0 0 {size[0]:g} {size[1]:g}"))
    root.set("role", "img")
    root.set("aria-label", label)
    # Matplotlib ends every number's line with a new one.
    return Picture(Markup(ElementTree.tostring(root, encoding="unicode")), round(size[0]))  # noqa: S704


def _size(root: ElementTree.Element) -> tuple[float, float] | None:
    """Width and height in pixels."""
    found = [re.fullmatch(r"([0-9.]+)(pt|px)?", root.get(name, "")) for name in ("width", "height")]
    pixels = [float(each[1]) / (_POINTS_A_PIXEL if each[2] == "pt" else 1) for each in found if each]
    return (pixels[0], pixels[1]) if len(pixels) == 2 else None


def _clean(element: ElementTree.Element, prefix: str) -> None:
    """Leave what draws, in names without namespaces, as HTML has them, and with ids of the page's own."""
    element.tag = element.tag.removeprefix(_SVG)
    if not (element.text or "").strip():
        element.text = None
    element.tail = (element.tail or "").strip() or None
    for name, value in list(element.attrib.items()):
        del element.attrib[name]
        if name == "id":
            element.set("id", prefix + value)
        elif name in ("href", _XLINK):
            if value.startswith("#"):
                element.set("href", f"#{prefix}{value[1:]}")
            elif re.match(r"data:image/(png|jpeg);base64,", value):
                element.set("href", re.sub(r"\s", "", value))
        elif not name.startswith(("on", "{")) and (own := _own_references(value, prefix)) is not None:
            element.set(name, re.sub(r"\s+", " ", own).strip())
    for child in list(element):
        if child.tag.removeprefix(_SVG) in _ELEMENTS and child.tag.startswith(_SVG):
            _clean(child, prefix)
        else:
            element.remove(child)


def _own_references(value: str, prefix: str) -> str | None:
    """A value with references under their new names; None of one that refers to another file."""
    own = re.sub(r"url\(\s*[\"']?#([^)\"']*)[\"']?\s*\)", rf"url(#{prefix}\1)", value)
    return None if re.search(r"url\((?!#)|@import|javascript:", own, re.I) else own
