"""HTML pages that are a single file and need no network."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from paraphrastic.base.files import atomic_output

_FOLDER = Path(__file__).parent


def write_page(
    output: str | Path,
    folder: Path,
    content: Mapping[str, Any],
    *,
    modules: str = "",
    filters: Mapping[str, Callable[..., Any]] | None = None,
) -> int:
    """Write the page of the template `page.html` in a folder of this package; return its size in bytes.

    Beside the template are `page.css` and `page.js`; `modules` is JavaScript that comes before the latter.
    The template includes `page_head.html`, whose security policy lets the page run its own script alone, in
    case data inject another one. `content` has its variables, and `filters` its filters besides Jinja's own.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _FOLDER]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters or {})
    script = modules + (folder / "page.js").read_text(encoding="utf-8")
    style = re.sub(r"\n\s*", "\n", (folder / "page.css").read_text(encoding="utf-8"))
    page = environment.get_template("page.html").render(
        **content,
        style=Markup(style),  # noqa: S704 - a file of this package
        script=Markup(script),  # noqa: S704 - files of this package
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    with atomic_output(output) as temporary:
        return temporary.write_bytes(page.encode())
