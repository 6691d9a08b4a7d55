"""The page of a run: a single file that needs no network and shows whatever the run has made."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

import jinja2
from markupsafe import Markup

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, read_json
from paraphrastic_pipeline.evaluation.percentages import bracketed
from paraphrastic_pipeline.report.contents import CHAPTERS, Chapter, Section
from paraphrastic_pipeline.report.first_screen import surprises
from paraphrastic_pipeline.report.markup import text_of_markdown
from paraphrastic_pipeline.report.outcome import read_outcomes
from paraphrastic_pipeline.report.provenance import NAME as PROVENANCE
from paraphrastic_pipeline.report.shown_tables import Table, read_table, words
from paraphrastic_pipeline.report.summary import (
    provenance_facts,
    read_headline,
    read_pairs,
    read_speeds,
    trained_models,
)

_FOLDER = Path(__file__).parent
_T = TypeVar("_T")
_POINTS_A_PIXEL = 0.75
# What a browser does not show of an SVG, and characters that an address in an attribute cannot have.
_UNSEEN = re.compile(r"<\?xml.*?\?>|<!DOCTYPE[^>\[]*>|<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_FILTERS: dict[str, Callable[..., str]] = {
    "json": partial(json.dumps, indent=2, ensure_ascii=False),
    "bracketed": bracketed,
}
_ESCAPED = {ord(letter): f"%{ord(letter):02X}" for letter in '%#"&'}


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG as a `data:` address, a description of it in words, and its size in pixels."""

    address: Markup
    label: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class _Shown:
    """A section of a chapter, with the table and the pictures that exist."""

    section: Section
    caption: str
    table: Table | None
    pictures: list[tuple[str, Picture]]


def write_report(
    results: str | Path,
    output: str | Path,
    *,
    captions: Mapping[str, str] | None = None,
    figures: Collection[str] | None = None,
    absent: Mapping[str, str] | None = None,
) -> None:
    """Write the page of a run; it lists tables and pictures that are missing or damaged.

    Args:
        results: the pipeline's folder of results, with `tables`, `figures` and `provenance.json`.
        output: the HTML file.
        captions: captions of the tables to show, by name. If None, all existing tables are shown, with the
            captions of their Markdown.
        figures: names of the pictures to show, such as `sts` or `training/en/{run}`; if None, all.
        absent: why a table was not made, by name.

    Raises:
        InputError: `results` is not a folder.
    """
    folder = Path(results)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder of results")
    page = _Page(folder, captions, figures, absent or {})
    chapters = [*CHAPTERS, *page.others()]
    headline = page.brief("Headline", read_headline, "sts")
    provenance = page.attempt("Provenance", _summarise_provenance, folder / PROVENANCE)
    outcomes = page.brief("Held-out pairs", partial(read_outcomes, folder), "held_out") or []
    content = {
        "outcomes": outcomes,
        "trained": trained_models(provenance["content"]) if provenance else {},
        "headline": headline,
        "speeds": page.brief("Speed", read_speeds, "speed") or [],
        "pairs": page.brief("Number of training pairs", read_pairs, "funnel"),
        "surprises": page.attempt(
            "What surprised",
            lambda tables: surprises(tables, headline, outcomes, page.is_there),
            folder / "tables",
        ),
        "chapters": [(chapter, list(page.sections(chapter))) for chapter in chapters],
        "provenance": provenance,
        "missing": page.missing,
        "titles": {section.name: section.title for chapter in chapters for section in chapter.sections},
    }
    _write(output, content)


def _write(output: str | Path, content: Mapping[str, Any]) -> None:
    """Write the page; its security policy lets its own script run alone, in case data inject another one."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    style = re.sub(r"\n\s*", "\n", (_FOLDER / "page.css").read_text(encoding="utf-8"))
    page = environment.get_template("page.html").render(
        **content,
        style=Markup(style),  # noqa: S704 - a file of this package
        script=Markup(script),  # noqa: S704 - a file of this package
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    with atomic_output(output) as temporary:
        temporary.write_text(page, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Page:
    """Reads the files of a run, and notes what is missing."""

    folder: Path
    captions: Mapping[str, str] | None
    figures: Collection[str] | None
    absent: Mapping[str, str]
    missing: list[tuple[str, str]] = field(default_factory=list)

    def attempt(self, title: str, read: Callable[[Path], _T], path: Path) -> _T | None:
        """What a function reads from a file; None, with the reason noted, if it fails."""
        try:
            return read(path)
        except (InputError, KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
            why = str(error) if isinstance(error, InputError) else f"{path}: not readable: {error!r}"
            if not path.exists():
                why = f"{path} does not exist"
            self.missing.append((title, why))
            return None

    def brief(self, title: str, read: Callable[[Path], _T], table: str) -> _T | None:
        """What a function reads from a table; None if it fails or there is no such table."""
        path = self.folder / "tables" / f"{table}.csv"
        return self.attempt(title, read, path) if self.is_there(table) else None

    def others(self) -> Iterator[Chapter]:
        """A chapter with the tables that belong to no other, if there are any."""
        known = {section.name for chapter in CHAPTERS for section in chapter.sections}
        paths = sorted((self.folder / "tables").glob("*.csv"))
        names = [path.stem for path in paths if path.stem not in known and self.is_there(path.stem)]
        if names:
            drawn = {path.name for path in (self.folder / "figures").glob("*.svg")}
            pictures = {name: f"{name}.svg" for name in names if f"{name}.svg" in drawn}
            sections = [Section(name, words(name), figures=pictures.get(name, "")) for name in names]
            yield Chapter("more", "More", "Other tables of this run.", sections)

    def sections(self, chapter: Chapter) -> Iterator[_Shown]:
        """The sections of a chapter that have a table or a picture."""
        for section in chapter.sections:
            path = self.folder / "tables" / f"{section.name}.csv"
            is_there = self.is_there(section.name)
            if section.table and not is_there:
                command = f"not made yet: snakemake --cores all {path}, with the configuration of the run"
                self.missing.append((section.title, self.absent.get(section.name) or command))
            intervals = path.parent / "intervals" / path.name
            read = partial(
                read_table,
                intervals=intervals if section.intervals and intervals.exists() else None,
            )
            table = self.attempt(section.title, read, path) if is_there else None
            pictures = list(self._pictures(section))
            if table or pictures:
                yield _Shown(section, self._caption(section), table, pictures)

    def is_there(self, table: str) -> bool:
        """Whether a table exists and belongs to this run, not to an earlier run with other settings."""
        is_wanted = self.captions is None or table in self.captions
        return is_wanted and (self.folder / "tables" / f"{table}.csv").exists()

    def _pictures(self, section: Section) -> Iterator[tuple[str, Picture]]:
        figures, pattern = self.folder / "figures", section.figures
        if not pattern:
            return
        # A picture is named by its path in the folder.
        every = {path.relative_to(figures).with_suffix(""): path for path in sorted(figures.glob(pattern))}
        wanted = self.figures
        pictures = {name: path for name, path in every.items() if wanted is None or name.as_posix() in wanted}
        if not pictures and (self.is_there(section.name) or not section.table):
            why = self.absent.get(section.name) or f"{figures / pattern} does not exist"
            self.missing.append((f"{section.title}: picture", why))
        for place, path in pictures.items():
            name = ", ".join(place.parts[1:])
            label = f"{section.title}{name and ': '}{name}"
            if picture := self.attempt(f"{section.title}: picture", partial(embed_svg, label=label), path):
                yield name, picture

    def _caption(self, section: Section) -> str:
        if self.captions is not None or not section.table:
            return (self.captions or {}).get(section.name, "")
        path = self.folder / "tables" / f"{section.name}.md"
        try:
            return text_of_markdown(path.read_text(encoding="utf-8").partition("\n")[0])
        except (OSError, ValueError):
            return ""  # the table was not rendered


def _summarise_provenance(path: Path) -> dict[str, Any]:
    content = read_json(path)
    return {"content": content, "facts": provenance_facts(content)}


def embed_svg(path: Path, *, label: str) -> Picture:
    """Read an SVG file to embed it in the page.

    As the source of an image, an SVG is shown without its scripts, links and external files.

    Args:
        path: the SVG file.
        label: what the picture shows, for readers who cannot see it.

    Raises:
        InputError: the file is missing, or is not an SVG with a size.
    """
    try:
        content = path.read_bytes()
        root = ElementTree.fromstring(content)  # noqa: S314 - expat limits the growth of entities
        text = content.decode("utf-8")
    except (OSError, ElementTree.ParseError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as SVG: {error}") from None
    width, height = (re.fullmatch(r"([0-9.]+)(pt|px)?", root.get(side, "")) for side in ("width", "height"))
    if root.tag != "{http://www.w3.org/2000/svg}svg" or not width or not height:
        raise InputError(f"{path}: is not an SVG with a size")
    pixels = [round(float(side[1]) / (_POINTS_A_PIXEL if side[2] == "pt" else 1)) for side in (width, height)]
    return Picture(_address(text), label, *pixels)


def _address(svg: str) -> Markup:
    """A `data:` address of an SVG, which is a third shorter than Base64 of the file.

    A picture has no use for matplotlib's comments and metadata, and for more than hundredths of a point.
    """
    short = _UNSEEN.sub("", svg)
    used = set(re.findall(r"#([^\s)'\"]+)", short))
    short = re.sub(r'<g id="([^"]*)"', lambda tag: tag[0] if tag[1] in used else "<g", short)
    short = re.sub(r"<[^<>]*>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), short)
    short = re.sub(r' transform="rotate\(-?0 [^"]*"', "", short)
    short = re.sub(r"\s+", " ", short).replace("> <", "><").strip()
    # Nothing that is left can end the attribute or begin an entity.
    return Markup(f"data:image/svg+xml,{short.translate(_ESCAPED)}")  # noqa: S704
