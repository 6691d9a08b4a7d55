"""Gather the pages of the documentation for MkDocs: `python docs/site.py FOLDER`.

MkDocs wants all pages in one folder. README and the pages beside what they describe are copied there with the
pages of `docs/` and those that `generate.py` makes. Links between them are rewritten, and links to other
files become plain text.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from generate import PAGES

ROOT = Path(__file__).parents[1]
# Pages that are not in `docs/`, and their names on the site.
OTHERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "config/README.md": "configuration.md",
    "config/published/README.md": "published.md",
    "data/sample/README.md": "sample.md",
}
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def main() -> None:
    """Gather all pages."""
    site = Path(sys.argv[1])
    if site.exists():
        shutil.rmtree(site)
    pages = {ROOT / source: Path(target) for source, target in OTHERS.items()}
    for path in (ROOT / "docs").rglob("*"):
        if path.is_file() and path.suffix in (".md", ".png", ".svg", ".css", ".js"):
            pages[path] = path.relative_to(ROOT / "docs")
    pages |= {path: Path(path.name) for path in PAGES}
    for source, target in pages.items():
        (site / target).parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            text = PAGES[source]() if source in PAGES else source.read_text(encoding="utf-8")
            (site / target).write_text(with_links(text, source, target, pages), encoding="utf-8")
        else:
            shutil.copy(source, site / target)


def with_links(text: str, source: Path, target: Path, pages: dict[Path, Path]) -> str:
    """A page whose links lead to where pages are on the site."""

    def link(found: re.Match[str]) -> str:
        text, address, anchor = found[1], found[2], found[3] or ""
        if "://" in address:
            return found[0]
        path = Path(os.path.normpath(source.parent / address))
        if path not in pages:
            return text
        return f"[{text}]({os.path.relpath(pages[path], target.parent)}{anchor})"

    return _LINK.sub(link, text)


if __name__ == "__main__":
    main()
