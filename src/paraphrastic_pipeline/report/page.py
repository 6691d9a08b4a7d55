"""The page of a run: a single file that needs no network and shows whatever the run has made."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, read_json
from paraphrastic_pipeline.evaluation.results import bracketed
from paraphrastic_pipeline.report.contents import CHAPTERS, TABLES
from paraphrastic_pipeline.report.outcome import read_outcomes
from paraphrastic_pipeline.report.shown_tables import Table, read_table
from paraphrastic_pipeline.report.summary import read_headline, read_pairs, read_speeds, trained_models

_FOLDER = Path(__file__).parent
_POINTS_A_PIXEL = 0.75


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG as a `data:` address, its name in a series of pictures, and its size in pixels."""

    address: str
    name: str
    width: int
    height: int


def write_report(
    results: str | Path,
    output: str | Path,
    *,
    captions: Mapping[str, str] | None = None,
    figures: Collection[str] | None = None,
) -> None:
    """Write the page of a run.

    Args:
        results: the pipeline's folder of results, with `tables`, `figures` and `provenance.json`.
        output: the HTML file.
        captions: captions of the tables to show, by name. If None, all tables that exist are shown.
        figures: names of the pictures to show, such as `sts` or `training/en/{run}`; if None, all.

    Raises:
        InputError: `results` is not a folder.
    """
    folder = Path(results)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder of results")
    tables = folder / "tables"
    given = captions or {name: table.caption for name, table in TABLES.items()}
    captions = {name: given[name] for name in given if (tables / f"{name}.csv").exists()}
    shown = {name: _read_table(tables, name) for name in captions}
    pictures = _read_pictures(folder / "figures", figures)
    facts = read_json(path) if (path := folder / "provenance.json").exists() else None

    def read(table: str, reader: Callable[[Path], Any]) -> Any:
        return reader(tables) if table in shown else None

    made = {*shown, *pictures}
    sections = {chapter: [each for each in chapter.sections if each.name in made] for chapter in CHAPTERS}
    content = {
        "outcomes": read("held_out", read_outcomes),
        "headline": read("sts", read_headline),
        "speeds": read("speed", read_speeds),
        "pairs": read("funnel", read_pairs),
        "chapters": {chapter: there for chapter, there in sections.items() if there},
        "tables": shown,
        "captions": captions,
        "pictures": pictures,
        "provenance": facts,
        "trained": trained_models(facts["config"]) if facts else {},
        "missing": [
            section.title for chapter in CHAPTERS for section in chapter.sections if section.name not in made
        ],
    }
    with atomic_output(output) as temporary:
        temporary.write_text(_render(content), encoding="utf-8")


def _read_table(tables: Path, name: str) -> Table:
    intervals = tables / "intervals" / f"{name}.csv"
    return read_table(tables / f"{name}.csv", intervals if intervals.exists() else None)


def _read_pictures(folder: Path, names: Collection[str] | None) -> dict[str, list[Picture]]:
    """The pictures of each section; those of a series lie in the folder of its name."""
    pictures: dict[str, list[Picture]] = {}
    for path in sorted(folder.rglob("*.svg")):
        name = path.relative_to(folder).with_suffix("")
        if names is None or name.as_posix() in names:
            pictures.setdefault(name.parts[0], []).append(embed_svg(path, ", ".join(name.parts[1:])))
    return pictures


def embed_svg(path: Path, name: str) -> Picture:
    """Read an SVG of matplotlib; as the source of an image, it is shown without scripts and links."""
    svg = path.read_bytes()
    sides = [float(re.search(rb'%s="([\d.]+)pt"' % side, svg)[1]) for side in (b"width", b"height")]  # type: ignore[index]
    address = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    return Picture(address, name, *(round(side / _POINTS_A_PIXEL) for side in sides))


def _render(content: Mapping[str, Any]) -> str:
    """Fill in the template; the page's security policy lets no script run but its own."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["bracketed"] = bracketed
    environment.filters["json"] = lambda value: json.dumps(value, indent=2, ensure_ascii=False)
    style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return environment.get_template("page.html").render(
        **content,
        style=Markup(style),  # noqa: S704 - a file of this package
        script=Markup(script),  # noqa: S704 - a file of this package
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
