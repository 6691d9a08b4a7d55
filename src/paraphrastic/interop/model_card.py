"""Model cards in the format of the Hugging Face Hub, for chosen models, imported ones and exports.

`model_card.md` beside this module is their template.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import jinja2
import yaml

from paraphrastic.base.files import atomic_output, read_csv, read_json
from paraphrastic.base.text_patterns import PYTHON, cleaning
from paraphrastic.base.units import Unknown
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
_SCORES = re.compile(r"^model-index:.*\n(?:[- ].*\n)*", re.MULTILINE)
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
        _matter(config, {**_LICENCE, **_index(config, figures)}),
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


def export_card(model: AverageEncoder, *, smaller: Rows, card: str | None, **content: Any) -> str:
    """Return the card of an export.

    Args:
        model: the model that was written.
        smaller: what was reduced and what it cost; empty for a copy.
        card: card of the model before, whose scores, training data and settings are quoted.
        content: `form`, a key of `FORMATS`, and `format_name`, its name; `folder`, its name; `compared`, the
            text of the comparison, and `comparison`, its results; `files`, SHA-256 of the files by name.
    """
    matter, sections = parts(card or "")
    if smaller:
        matter = _SCORES.sub("", matter)
    return _rendered(
        "export",
        model.config,
        matter or _matter(model.config),
        model=model,
        smaller=smaller,
        cleaning=cleaning(PYTHON),
        quoted=[text for title, text in sections if title not in _OF_FILES],
        **content,
    )


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
    kind: Literal["chosen", "import", "export"], config: Content, matter: str, **content: Any
) -> str:
    environment = jinja2.Environment(  # noqa: S701 - Markdown is not escaped as HTML is
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    separate = "architecture" in config and Architecture.from_json(config["architecture"]).separate
    unit = config.get("unit", "subword")
    about = {"kind": kind, "config": config, "matter": matter, "separate": separate, "unit": unit}
    return environment.get_template("model_card.md").render(about, encoder=encoder_name(config), **content)


def _figures(result: Content) -> list[list[str]]:
    """Return rows of the table of scores: test set, statistic, its value × 100, interval, kind of data."""
    rows = []
    without = "".join(f" without {name.partition('/')[2]}" for name in result.get("missing", ()))
    for name, measured in result["measurements"].items():
        statistic, _, testset = name.partition(" ")
        if name in _FIGURES or name.startswith(_TRACKS):
            average = f"STS 2012–2016{without}, average"
            named = average if testset == "avg" else f"STS {testset.replace('/', ' ')}"
            around = bracketed([percent(end) for end in measured["interval"]])
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
    return {"model-index": [{"name": config["model"], "results": results}]} if results else {}


def _matter(config: Content, more: Content | None = None) -> str:
    """Return the front matter, which the Hub reads."""
    matter = {
        **({"language": list(config["languages"])} if config.get("languages") else {}),
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-similarity", "feature-extraction", "paraphrastic"],
        **(more or {}),
    }
    return yaml.safe_dump(matter, sort_keys=False, allow_unicode=True)
