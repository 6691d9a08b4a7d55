"""The page of a run: one file that needs no network, of whatever the run has made."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import jinja2
from markupsafe import Markup

from paraphrastic.errors import InputError
from paraphrastic.files import atomic_output
from paraphrastic.provenance import NAME as PROVENANCE
from paraphrastic.report.contents import CHAPTERS, Chapter, Part
from paraphrastic.report.summary import read_facts, read_headline, read_ledger, summarise_provenance
from paraphrastic.report.svg import Picture, inline_svg
from paraphrastic.report.tables import Table, read_table

_FOLDER = Path(__file__).parent
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Shown:
    """A part of a chapter, as far as it is there."""

    part: Part
    caption: str
    table: Table | None
    pictures: list[tuple[str, Picture]]


@dataclass(frozen=True, slots=True)
class _Missing:
    title: str
    why: str


def write_report(
    results: str | Path,
    output: str | Path,
    *,
    captions: Mapping[str, str] | None = None,
    absent: Mapping[str, str] | None = None,
) -> None:
    """Write the page of a run. What the run has not made, or is damaged, is named in it.

    Args:
        results: the folder with `tables`, `figures` and `provenance.json`, as the pipeline has them.
        output: the HTML file.
        captions: of tables, by name; where they are not given, those of the tables' Markdown are taken.
        absent: why a table was not made, by name.

    Raises:
        InputError: `results` is no folder.
    """
    folder = Path(results)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder of results")
    missing: list[_Missing] = []
    page = _Page(folder, captions or {}, absent or {}, missing)
    tables = folder / "tables"
    content = {
        "headline": page.attempt("Headline", read_headline, tables),
        "facts": page.attempt("The run in figures", read_facts, tables) or [],
        "chapters": [(chapter, list(page.parts(chapter))) for chapter in CHAPTERS],
        "ledger": page.attempt("The ledger", read_ledger, tables / "ledger.csv"),
        "provenance": page.attempt("Provenance", summarise_provenance, folder / PROVENANCE),
        "missing": missing,
        "titles": {part.name: part.title for chapter in CHAPTERS for part in chapter.parts},
    }
    with atomic_output(output) as temporary:
        temporary.write_text(_rendered(content), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Page:
    """What is read of a run, and what could not be."""

    folder: Path
    captions: Mapping[str, str]
    absent: Mapping[str, str]
    missing: list[_Missing]

    def attempt(self, title: str, read: Callable[[Path], _T], path: Path) -> _T | None:
        """What a function reads; None, and a line of why, if it cannot."""
        try:
            return read(path)
        except (InputError, KeyError, ValueError) as error:
            why = str(error) if isinstance(error, InputError) else f"{path}: not readable: {error!r}"
            if not path.exists():
                why = f"{path} is not there"
            self.missing.append(_Missing(title, why))
            return None

    def parts(self, chapter: Chapter) -> Iterator[_Shown]:
        """Parts of a chapter of which anything is there."""
        for part in chapter.parts:
            path = self.folder / "tables" / f"{part.name}.csv"
            if part.table and not path.exists():
                why = self.absent.get(part.name, "")
                self.missing.append(_Missing(part.title, why or f"{path} is not there"))
            table = self.attempt(part.title, self._table(part), path) if path.exists() else None
            pictures = list(self._pictures(part))
            if table or pictures:
                yield _Shown(part, self._caption(part), table, pictures)

    def _table(self, part: Part) -> Callable[[Path], Table]:
        def read(path: Path) -> Table:
            intervals = path.parent / "intervals" / path.name
            return read_table(path, intervals if part.intervals and intervals.exists() else None)

        return read

    def _pictures(self, part: Part) -> Iterator[tuple[str, Picture]]:
        figures = self.folder / "figures"
        pattern = f"{part.name}.svg" if part.figures is None else part.figures
        paths = sorted(figures.glob(pattern)) if pattern else []
        table = self.folder / "tables" / f"{part.name}.csv"
        if pattern and not paths and (table.exists() or not part.table):
            self.missing.append(_Missing(f"{part.title}: picture", f"{figures / pattern} is not there"))
        for number, path in enumerate(paths):
            name = ", ".join(path.relative_to(figures).with_suffix("").parts[1:])
            label = f"{part.title}{name and ': '}{name}"

            def read(path: Path, prefix: str = f"{part.name}-{number}-", label: str = label) -> Picture:
                return inline_svg(path, prefix=prefix, label=label)

            if picture := self.attempt(f"{part.title}: picture", read, path):
                yield name, picture

    def _caption(self, part: Part) -> str:
        if part.name in self.captions or not part.table:
            return self.captions.get(part.name, "")
        path = self.folder / "tables" / f"{part.name}.md"
        try:
            return path.read_text(encoding="utf-8").partition("\n")[0]
        except (OSError, ValueError):
            return ""  # nobody rendered it


def _rendered(content: Mapping[str, object]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["json"] = lambda value: json.dumps(value, indent=2, ensure_ascii=False)
    environment.filters["bytes"] = lambda number: f"{number:,}"
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    style = re.sub(r"\n\s*", "\n", (_FOLDER / "page.css").read_text(encoding="utf-8"))
    # The page may run this script, and nothing that found its way into it.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 - files of this package
    return environment.get_template("page.html").render(**content, **own, script_digest=digest)
