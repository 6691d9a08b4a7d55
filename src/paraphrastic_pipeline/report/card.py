"""The card of a model that the pipeline has trained, chosen and evaluated, for the Hugging Face Hub."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from paraphrastic.base.files import atomic_output, read_json
from paraphrastic.model.architecture import Architecture, encoder_name
from paraphrastic.model.files import TRANSFORMER
from paraphrastic.model.folder import read_config
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation.results import Result, bracketed, percent
from paraphrastic_pipeline.report import markup
from paraphrastic_pipeline.report.outcome import read_outcome
from paraphrastic_pipeline.settings.yaml import write_yaml

Content = Mapping[str, Any]

# What the Hub calls licences that are not on its list, which the card has below.
_LICENCES = {
    "allowed": "commercial-use-allowed-by-the-licences-of-the-training-data",
    "forbidden": "licences-of-the-training-data",
    "unknown": "licences-of-the-training-data",
}
# The figures of an evaluation that a card shows.
_FIGURES = ("pearson avg", "spearman avg")
_TRACKS = "pearson 2017/"
# What becomes of text that a vocabulary has no piece for, by the model's setting.
_UNKNOWN = {
    "bytes": "becomes its bytes in UTF-8",
    "spellings": "is left out, unless training saw a spelling like it",
    "shared": "has one vector, whatever it is",
    "omit": "is left out",
}
# The scores on the development data, as parts of a sentence.
_DEVELOPMENT = {
    "held_out": "the share of held-out sentences that find their partner ({} %)",
    "sts2017": "Pearson's r × 100 on STS 2017 en-en ({})",
}
_NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ"}


def write_card(
    sweep: Path,
    counts: Path,
    results: Sequence[Path],
    card: Path,
    *,
    corpora: Sequence[tuple[str, str, str]],
    unknown: Mapping[str, str],
    loads_elsewhere: bool,
    held_out: Sequence[Path] = (),
) -> None:
    """Write the card of a model that `choose_model` chose.

    Args:
        sweep: the table of the model's sweep, in its folder.
        counts: JSON file of `merge_pairs`.
        results: the model's results of `evaluate_sts`; empty if it does not know the languages of STS.
        card: the Markdown file.
        corpora: name, version and licence of each corpus in `counts`; a licence of `-` is an unknown one.
        unknown: what becomes of text without a piece, by unit of the model.
        loads_elsewhere: whether other libraries load the folder.
        held_out: JSON files of `evaluate_held_out` after training and, if there is one, before it; or none.
    """
    folder = sweep.parent
    config = read_config(folder)
    figures = [figure for path in results for figure in _figures(Result.read(path))]
    (run,) = [row for row in read_csv(sweep) if row["chosen"]]
    chosen = " and ".join(text.format(run[name]) for name, text in _DEVELOPMENT.items() if run[name])
    rows = [
        (name, version, f"{counted['kept']:,}", "not stated" if licence == "-" else licence)
        for (name, version, licence), counted in zip(corpora, read_json(counts)["corpora"], strict=True)
    ]
    outcome = read_outcome(config["model"], *held_out) if held_out else None
    text = rendered(
        config,
        {"license_name": _LICENCES[config["commercial_use"]], **_index(config, figures)},
        folder=f"results/models/{config['model']}",
        loads_elsewhere=loads_elsewhere,
        figures=figures,
        outcome=outcome.sentence if outcome else None,
        chosen=chosen,
        unknown=[(unit, _UNKNOWN[setting]) for unit, setting in unknown.items()],
        corpora=rows,
        transformer=config["encoder"] == TRANSFORMER,
    )
    with atomic_output(card) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _figures(result: Result) -> list[list[str]]:
    """Return rows of the table of scores: test set, statistic, its value × 100, interval, kind of data."""
    rows = []
    _, *without = result.without.partition(" ")
    for name, measured in result.measurements.items():
        statistic, _, testset = name.partition(" ")
        if name in _FIGURES or name.startswith(_TRACKS):
            average = f"STS 2012–2016{''.join(without)}, average"
            named = average if testset == "avg" else f"STS {testset.replace('/', ' ')}"
            around = Markup(bracketed([percent(end) for end in measured.interval]))  # noqa: S704 - numbers
            rows.append([named, f"{_NAMES[statistic]} × 100", percent(measured.value), around, result.data])
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


def rendered(config: Content, matter: Content, **content: Any) -> str:
    """Return a card from the template, in which every value is escaped for Markdown.

    `matter` is added to the front matter, which the Hub reads.
    """

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
    front = {
        **({"language": list(config["languages"])} if config.get("languages") else {}),
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-similarity", "feature-extraction", "paraphrastic"],
        "license": "other",
        **matter,
    }
    return environment.get_template("model_card.md").render(
        config=config,
        matter=Markup(write_yaml(front, block=True)),  # noqa: S704 - YAML
        unit=config["unit"],
        encoder=encoder_name(config),
        separate="architecture" in config and Architecture.from_json(config["architecture"]).separate,
        **content,
    )
