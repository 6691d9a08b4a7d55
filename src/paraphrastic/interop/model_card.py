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
from paraphrastic.base.files import atomic_output, read_json
from paraphrastic.base.tables import read_csv
from paraphrastic.base.text_patterns import PYTHON, cleaning
from paraphrastic.base.units import Unknown
from paraphrastic.base.yaml_text import read_yaml, write_yaml
from paraphrastic.config.architecture import Architecture, encoder_name
from paraphrastic.corpus.counts import read_merged, read_selected
from paraphrastic.corpus.losses import UNREADABLE, losses
from paraphrastic.evaluation.percentages import bracketed, percent
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.config_file import read_config
from paraphrastic.model.files import CARD, CONFIG, TRANSFORMER

Content = Mapping[str, Any]
Rows = Sequence[tuple[str, str]]

# What the Hub calls a licence that is not on its list; the card has the training data's licences below.
_LICENCE = {"license": "other", "license_name": "licences-of-the-training-data"}
# The figures of an evaluation that a card shows.
_FIGURES = ("pearson avg", "spearman avg")
_TRACKS = "pearson 2017/"
# Sections about the files beside a card, which the card of another folder does not quote.
_OF_FILES = ("Comparison", "Digests")
# The Hub's list of scores in the front matter.
_SCORES = "model-index"
# What becomes of text that a vocabulary has no piece for, by the model's setting.
_UNKNOWN: dict[Unknown, str] = {
    "bytes": "becomes its bytes in UTF-8",
    "spellings": "is left out, unless training saw a spelling like it",
    "shared": "has one vector, whatever it is",
    "omit": "is left out",
}
_NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ"}


def write_card(
    folder: Path,
    counts: Path,
    results: Sequence[Path],
    output: Path,
    *,
    corpora: Sequence[tuple[str, str, str]],
    unknown: Mapping[str, Unknown],
    loads_elsewhere: bool,
    selected: Sequence[Path] = (),
) -> None:
    """Write the card of a model that `choose_model` chose.

    Args:
        folder: folder of the model, with the table of its sweep.
        counts: JSON file of `merge_pairs`.
        results: the model's results of `evaluate_sts`; empty if it does not know the languages of STS.
        output: the card.
        corpora: name, version and licence of each corpus in `counts`; a licence of `-` is an unknown one.
        unknown: what becomes of text without a piece, by unit of the model.
        loads_elsewhere: whether other libraries load the folder.
        selected: JSON files of `select_pairs` for each corpus in `counts`, or none.

    Raises:
        InputError: the folder is a Transformer's, and does not agree with itself in sentence-transformers.
    """
    config = read_config(folder / CONFIG)
    comparison = None
    if config["encoder"] == TRANSFORMER:
        # A late import, since other models need none of it.
        from paraphrastic.interop.transformer import compare_folder

        comparison = compare_folder(folder).table()
    figures = [figure for path in results for figure in _figures(read_json(path))]
    (chosen,) = [row["development"] for row in read_csv(folder / "sweep.csv") if row["chosen"]]
    rows = [
        (name, version, f"{of['kept']:,}", "not stated" if licence == "-" else licence)
        for (name, version, licence), of in zip(corpora, read_json(counts)["corpora"], strict=True)
    ]
    steps = zip(corpora, map(read_selected, selected), read_merged(counts), strict=True) if selected else ()
    drops = [
        sentence
        for (name, *_), (first, content), then in steps
        for unreadable in [content.get(UNREADABLE, 0)]
        for sentence in losses(
            name,
            {"read": first.read + unreadable, UNREADABLE: unreadable, **first.dropped, **then.dropped},
        )
    ]
    card = _rendered(
        "chosen",
        config,
        {**_matter(config), **_LICENCE, **_index(config, figures)},
        folder=f"results/models/{config['model']}",
        loads_elsewhere=loads_elsewhere,
        figures=figures,
        chosen=chosen,
        unknown=[(unit, _UNKNOWN[setting]) for unit, setting in unknown.items()],
        corpora=rows,
        drops=drops,
        comparison=comparison,
    )
    with atomic_output(output) as temporary:
        temporary.write_text(card, encoding="utf-8")


def write_import_card(folder: Path, name: str, sources: Mapping[str, str], *, why_not: str) -> None:
    """Write the card of a model that the original code trained.

    Args:
        folder: folder of the model.
        name: name of the folder once it is complete.
        sources: SHA-256 of the files that the model was imported from, by name.
        why_not: why other libraries cannot load the folder; empty if they can.
    """
    config = read_config(folder / CONFIG)
    card = _rendered(
        "import",
        config,
        _matter(config),
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
    matter = _read_matter(front, model.config["model"]) if front else _matter(model.config)
    if smaller:
        matter.pop(_SCORES, None)
    quoted = "\n".join(text for title, text in sections if title not in _OF_FILES)
    return _rendered(
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
    found = re.match(r"---\n(.*?)^---\n", card, re.DOTALL | re.MULTILINE)
    sections: list[tuple[str, list[str]]] = []
    in_code = False
    for line in card[found.end() if found else 0 :].splitlines():
        in_code ^= line.startswith("```")
        is_heading = not in_code and re.match("#+ ", line)
        if is_heading and line.startswith("## "):
            sections.append((line.removeprefix("## ").strip(), []))
        if sections:
            sections[-1][1].append(f"#{line}" if is_heading else line)
    return found[1] if found else "", [(title, "\n".join(lines).rstrip() + "\n") for title, lines in sections]


def _rendered(
    kind: Literal["chosen", "import", "export"], config: Content, matter: Content, **content: Any
) -> str:
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


def _figures(result: Content) -> list[list[str]]:
    """Return rows of the table of scores: test set, statistic, its value × 100, interval, kind of data."""
    rows = []
    without = "".join(f" without {name.partition('/')[2]}" for name in result.get("missing", ()))
    for name, measured in result["measurements"].items():
        statistic, _, testset = name.partition(" ")
        if name in _FIGURES or name.startswith(_TRACKS):
            average = f"STS 2012–2016{without}, average"
            named = average if testset == "avg" else f"STS {testset.replace('/', ' ')}"
            around = Markup(bracketed([percent(end) for end in measured["interval"]]))  # noqa: S704 - numbers
            value = percent(measured["value"])
            rows.append([named, f"{_NAMES[statistic]} × 100", value, around, result["data"]])
    return rows


def _index(config: Content, figures: Sequence[Sequence[str]]) -> Content:
    """Return scores in the Hub's form; scores on the sample are left out, as they mean nothing elsewhere."""
    results = [
        {
            "task": {"type": "STS"},
            "dataset": {"type": "sts", "name": testset},
            "metrics": [{"type": statistic.split("'")[0].lower(), "value": float(value)}],
        }
        for testset, statistic, value, _, data in figures
        if data == "official"
    ]
    return {_SCORES: [{"name": config["model"], "results": results}]} if results else {}


def _matter(config: Content) -> dict[str, Any]:
    """Return the front matter, which the Hub reads."""
    return {
        **({"language": list(config["languages"])} if config.get("languages") else {}),
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-similarity", "feature-extraction", "paraphrastic"],
    }
