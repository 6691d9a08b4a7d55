"""Model cards in the format of the Hugging Face Hub, for chosen models, imported ones and exports.

`model_card.md` beside this module is their template.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import jinja2
import yaml
from markupsafe import Markup

from paraphrastic.base import markup
from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.text_patterns import PYTHON, cleaning
from paraphrastic.base.yaml_text import read_yaml, write_yaml
from paraphrastic.model.architecture import Architecture, encoder_name
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.config_file import read_config
from paraphrastic.model.files import CARD, CONFIG

Content = Mapping[str, Any]
Rows = Sequence[tuple[str, str]]

# Sections about the files beside a card, which the card of another folder does not quote.
_OF_FILES = ("Comparison", "Digests")
# The Hub's list of scores in the front matter.
SCORES = "model-index"


def write_import_card(folder: Path, name: str, sources: Mapping[str, str], *, why_not: str) -> None:
    """Write the card of a model that the original code trained.

    Args:
        folder: folder of the model.
        name: name of the folder once it is complete.
        sources: SHA-256 of the files that the model was imported from, by name.
        why_not: why other libraries cannot load the folder; empty if they can.
    """
    config = read_config(folder / CONFIG)
    card = rendered(
        "import",
        config,
        front_matter(config),
        folder=name,
        why_not=why_not,
        loads_elsewhere=not why_not,
        sources=sources,
    )
    (folder / CARD).write_text(card, encoding="utf-8")


def read_card(folder: Path) -> str | None:
    """Read the card of a model's folder, if it has one; an `InputError` if that is not text."""
    try:
        return (folder / CARD).read_text(encoding="utf-8") if (folder / CARD).is_file() else None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / CARD}: cannot be read: {on_one_line(error)}") from None


def export_card(model: AverageEncoder, *, smaller: Rows, card: str | None, **content: Any) -> str:
    """Return the card of an export.

    Args:
        model: the model that was written.
        smaller: what was reduced and what it cost; empty for a copy.
        card: card of the model before, whose scores, training data and settings are quoted.
        content: `form`, a key of `FORMATS`, and `format_name`, its name; `folder`, its name; `compared`, the
            text of the comparison, and `comparison`, its results; `files`, SHA-256 of the files by name.
    """
    front, sections = parts(card or "")
    matter = _read_matter(front, model.config["model"]) if front else front_matter(model.config)
    if smaller:
        matter.pop(SCORES, None)
    quoted = "\n".join(text for title, text in sections if title not in _OF_FILES)
    return rendered(
        "export",
        model.config,
        matter,
        model=model,
        smaller=smaller,
        cleaning=cleaning(PYTHON),
        quoted=Markup(markup.without_links(quoted)),  # noqa: S704 - Markdown without HTML
        **content,
    )


def _read_matter(text: str, model: str) -> dict[str, Any]:
    """Read the front matter of a model's card."""
    try:
        matter = read_yaml(text)
    except (yaml.YAMLError, ValueError) as error:
        cause = on_one_line(getattr(error, "problem", None) or error)
        raise InputError(f"{model}: the front matter of {CARD} cannot be read: {cause}") from None
    if not isinstance(matter, dict):
        raise InputError(f"{model}: the front matter of {CARD} is no mapping of keys")
    return matter


def parts(card: str) -> tuple[str, list[tuple[str, str]]]:
    """Return a card's front matter and its sections' titles and texts, with headings one level lower."""
    header = re.match(r"---\n(.*?)^---\n", card, re.DOTALL | re.MULTILINE)
    sections: list[tuple[str, list[str]]] = []
    in_code = False
    for line in card[header.end() if header else 0 :].splitlines():
        in_code ^= line.startswith("```")
        is_heading = not in_code and re.match("#+ ", line)
        if is_heading and line.startswith("## "):
            sections.append((line.removeprefix("## ").strip(), []))
        if sections:
            sections[-1][1].append(f"#{line}" if is_heading else line)
    return header[1] if header else "", [
        (title, "\n".join(lines).rstrip() + "\n") for title, lines in sections
    ]


def rendered(
    kind: Literal["chosen", "import", "export"], config: Content, matter: Content, **content: Any
) -> str:
    """Return a card from its template: of a `chosen`, imported or exported model."""
    separate = "architecture" in config and Architecture.from_json(config["architecture"]).separate
    unit = config.get("unit", "subword")
    about = {"kind": kind, "config": config, "separate": separate, "unit": unit}
    about["matter"] = Markup(write_yaml(matter, block=True))  # noqa: S704 - YAML
    return _template().render(about, encoder=encoder_name(config), **content)


@cache
def _template() -> jinja2.Template:
    """Return the template, in which every value is escaped for Markdown."""

    def escaping(escape: Callable[[str], str]) -> Callable[[Any], Markup]:
        # What is escaped already, such as the output of a macro, stays as it is.
        return lambda value: value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Jinja itself would escape for HTML, and finds nothing left to do.
        autoescape=True,
        finalize=escaping(markup.markdown),
    )
    environment.filters |= {"code": escaping(markup.markdown_code), "literal": escaping(markup.literal)}
    return environment.get_template("model_card.md")


def front_matter(config: Content) -> dict[str, Any]:
    """Return the front matter, which the Hub reads."""
    return {
        **({"language": list(config["languages"])} if config.get("languages") else {}),
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-similarity", "feature-extraction", "paraphrastic"],
    }
