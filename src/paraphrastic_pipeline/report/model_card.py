"""The template of model cards, in the format of the Hugging Face Hub: `model_card.md` beside this module."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from paraphrastic.model.architecture import Architecture, encoder_name
from paraphrastic_pipeline.report import markup
from paraphrastic_pipeline.settings.yaml import write_yaml

Content = Mapping[str, Any]

# The Hub's list of scores in the front matter.
SCORES = "model-index"


def rendered(config: Content, matter: Content, **content: Any) -> str:
    """Return a card with this front matter from the template."""
    separate = "architecture" in config and Architecture.from_json(config["architecture"]).separate
    about = {"config": config, "separate": separate, "unit": config["unit"]}
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
    environment.filters["literal"] = escaping(markup.literal)
    return environment.get_template("model_card.md")


def front_matter(config: Content) -> dict[str, Any]:
    """Return the front matter, which the Hub reads."""
    return {
        **({"language": list(config["languages"])} if config.get("languages") else {}),
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-similarity", "feature-extraction", "paraphrastic"],
    }
