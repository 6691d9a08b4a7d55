"""Pictures that are drawn for a test."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree


def texts_of(svg: Path) -> list[str]:
    return ["".join(element.itertext()).strip() for element in ElementTree.parse(svg).iter()]


def drawn(folder: Path, plot: Callable[..., None], *arguments: Path, **settings: str) -> list[str]:
    """Draw a picture twice, as SVG and as PNG, with the same bytes, and return the texts that it shows."""
    outputs = [folder / "picture.svg", folder / "picture.png"]
    contents = []
    for _ in range(2):
        plot(*arguments, outputs, **settings)
        contents.append([path.read_bytes() for path in outputs])
    assert contents[0] == contents[1]
    assert contents[0][1].startswith(b"\x89PNG")
    return texts_of(outputs[0])
