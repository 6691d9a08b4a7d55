"""Cards of models, in the format of the Hugging Face Hub: of chosen models, imported ones and exports."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import yaml

from paraphrastic.base.files import atomic_output, read_csv, read_json
from paraphrastic.config.architecture import Architecture, encoder_name
from paraphrastic.interop.export import usage
from paraphrastic.interop.export.folder import CARD
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.files import CONFIG

Json = Mapping[str, Any]
Rows = Sequence[tuple[str, str]]

# The Hub's name of a licence that is none of its list; the card's section has those of the training data.
_LICENCE = {"license": "other", "license_name": "licences-of-the-training-data"}
# Figures of a card, of those that an evaluation's result has.
_FIGURES = ("pearson avg", "spearman avg")
_TRACKS = "pearson 2017/"
_ORIGIN = "The model that it was made from"
# What a card says of the files beside it: nothing of another folder's.
_OF_FILES = ("Comparison", "Digests")
# The Hub's own list of scores.
_SCORES = re.compile(r"^model-index:.*\n(?:[- ].*\n)*", re.MULTILINE)
_NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ"}


def write_card(
    folder: Path,
    counts: Path,
    results: Sequence[Path],
    output: Path,
    *,
    licences: Mapping[str, str],
    loads_elsewhere: bool,
) -> None:
    """Write the card of a model that `choose_model` chose.

    Args:
        folder: of the model, with the table of its sweep.
        counts: JSON file of `merge_pairs`.
        results: of the model, from `evaluate_sts`; none, if it does not know the languages of STS.
        output: the card.
        licences: by corpus; `-` is an unknown one.
        loads_elsewhere: whether sentence-transformers and model2vec load the folder.
    """
    config = read_json(folder / CONFIG)
    figures = [figure for path in results for figure in _figures(read_json(path))]
    name = f"results/models/{config['model']}"
    (chosen,) = [row["development"] for row in read_csv(folder / "sweep.csv") if row["chosen"]]
    stated = {corpus: "not stated" if licence == "-" else licence for corpus, licence in licences.items()}
    corpora = zip(config["corpora"].items(), read_json(counts)["corpora"], strict=True)
    sections = [
        *_head(config, name, {**_LICENCE, **_index(config, figures)}, ""),
        *([_elsewhere(config, name)] if loads_elsewhere else []),
        "## Scores\n",
        *([_table(["test set", "statistic", "value", "95 % interval", "data"], figures)] if figures else []),
        f"On STS 2017 en-en, on which the run was chosen: {chosen}.\n",
        "## Training data\n",
        _table(
            ["corpus", "version", "pairs", "licence"],
            [[name, version, f"{corpus['kept']:,}", stated[name]] for (name, version), corpus in corpora],
        ),
        *_settings_and_digests(config),
    ]
    with atomic_output(output) as temporary:
        temporary.write_text("\n".join(sections), encoding="utf-8")


def write_import_card(folder: Path, name: str, sources: Mapping[str, str], *, why_not: str) -> None:
    """Write the card of a model that the original code trained.

    Args:
        folder: of the model.
        name: of the folder, once it is whole.
        sources: SHA-256 of the files that the model was imported from.
        why_not: why other libraries cannot load the folder; empty if they can.
    """
    config = read_json(folder / CONFIG)
    tokenized = "\nSentences are to be given as the Moses tokenizer cuts them."
    sections = [
        *_head(config, name, {}, tokenized if config.get("tokenized") else ""),
        f"Other libraries cannot load the folder: {why_not}.\n" if why_not else _elsewhere(config, name),
        "## Where it is from\n",
        "Imported from a checkpoint of the original code, which says nothing of its training data, its\n"
        "licence or its scores.\n",
        _digests(sources),
        *_settings_and_digests(config),
    ]
    (folder / CARD).write_text("\n".join(sections), encoding="utf-8")


def export_card(
    model: AverageEncoder,
    name: str,
    *,
    usage: str,
    smaller: Rows,
    compared: str,
    comparison: Rows,
    digests: Mapping[str, str],
    card: str | None,
) -> str:
    """The card.

    Args:
        model: that was written.
        name: of the format.
        usage: how the folder is used.
        smaller: what was reduced and what it cost; empty for a copy.
        compared: the text that it was compared on.
        comparison: what that found.
        digests: SHA-256 of the folder's files.
        card: of the model before, whose scores, training data and settings are quoted as such.
    """
    matter, sections = parts(card or "")
    if smaller:
        matter = _SCORES.sub("", matter)
    quoted = [text for title, text in sections if title not in _OF_FILES]
    return "\n".join(
        [
            f"---\n{matter}---\n" if matter else _front_matter(model.config, {}),
            f"# Paraphrastic sentence embeddings: {model.config['model']}, for {name}\n",
            f"{_languages(model.config)}A sentence is the average of its "
            f"{model.config.get('unit', 'subword')}s' embeddings: {len(model.embeddings):,} pieces,\n"
            f"{model.dim} dimensions, {model.dtype}.\n",
            usage,
            *(["## What was made smaller\n", _table(("what", "result"), smaller)] if smaller else []),
            "## Comparison\n",
            f"Of this folder ({name}) with the model that was written to it, on `{compared}`:\n",
            _table(("comparison", "result"), comparison),
            "## Digests\n",
            _digests(digests),
            *([f"## {_ORIGIN}\n", *quoted] if quoted else []),
        ]
    )


def size_rows(before: AverageEncoder, after: AverageEncoder) -> list[tuple[str, str]]:
    """What was reduced in a model, for a person to read."""
    way = {"pca": "the directions in which a corpus's vectors are longest", "truncate": "the first"}
    rows = [
        ("dimensions", f"{after.dim:,}, of {before.dim:,}: {way[after.config['reduction']['method']]}"),
        ("pieces", f"{len(after.embeddings):,}, of {len(before.embeddings):,}: those that a corpus needs"),
        ("numbers", f"{after.dtype}, of {before.dtype}"),
    ]
    changed = (after.dim < before.dim, len(after.known) < len(before.known), after.dtype != before.dtype)
    return list(compress(rows, changed))


def parts(card: str) -> tuple[str, list[tuple[str, str]]]:
    """A card's front matter, and the titles and texts of its sections, whose headings are one level lower."""
    found = re.match(r"---\n(.*?)^---\n", card, re.DOTALL | re.MULTILINE)
    sections: list[tuple[str, list[str]]] = []
    for line, is_heading in _lines(card[found.end() :] if found else card):
        if is_heading and line.startswith("## "):
            sections.append((line.removeprefix("## ").strip(), []))
        if sections:
            sections[-1][1].append(f"#{line}" if is_heading else line)
    return found[1] if found else "", [(title, "\n".join(lines).rstrip() + "\n") for title, lines in sections]


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines, and whether they are headings; in code, none are."""
    in_code = False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        yield line, not in_code and re.match("#+ ", line) is not None


def _head(config: Json, name: str, more: Json, note: str) -> list[str]:
    """What a card of a model in this library begins with; `more` is for the Hub, `note` about its text."""
    return [
        _front_matter(config, more),
        f"# Paraphrastic sentence embeddings: {config['model']}\n",
        f"{_languages(config)}{_description(config)}{note}\n",
        _usage(config, name),
    ]


def _settings_and_digests(config: Json) -> list[str]:
    return [
        "## Settings\n",
        _table(["setting", "value"], [[name, str(value)] for name, value in config["training"].items()]),
        "## Digests\n",
        _digests(config["sha256"]),
    ]


def _digests(found: Mapping[str, str]) -> str:
    return _table(["file", "SHA-256"], [[name, f"`{digest}`"] for name, digest in found.items()])


def _figures(result: Json) -> list[list[str]]:
    """Rows of the scores' table: test set, kind of figure, the figure × 100, its interval, which data."""
    rows = []
    without = "".join(f" without {name.partition('/')[2]}" for name in result.get("missing", ()))
    for name, measured in result["measurements"].items():
        statistic, _, testset = name.partition(" ")
        if name in _FIGURES or name.startswith(_TRACKS):
            named = (
                f"STS 2012–2016{without}, average" if testset == "avg" else f"STS {testset.replace('/', ' ')}"
            )
            low, high = (100 * bound for bound in measured["interval"])
            figure = f"{100 * measured['value']:.1f}"
            rows.append(
                [named, _NAMES[statistic] + " × 100", figure, f"{low:.1f} to {high:.1f}", result["data"]]
            )
    return rows


def _front_matter(config: Json, more: Json) -> str:
    """What the Hub reads."""
    matter = {
        **({"language": list(config["languages"])} if config.get("languages") else {}),
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-similarity", "feature-extraction", "paraphrastic"],
        **more,
    }
    return f"---\n{yaml.safe_dump(matter, sort_keys=False, allow_unicode=True)}---\n"


def _index(config: Json, figures: Sequence[Sequence[str]]) -> Json:
    """Scores as the Hub lists them; those of the sample mean nothing elsewhere."""
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


def _usage(config: Json, folder: str) -> str:
    embedded = scored = ""
    if "architecture" in config and Architecture.from_json(config["architecture"]).separate:
        first = config["languages"][0]
        embedded, scored = f', language="{first}"', f', languages=("{first}", "{first}")'
    return f"""```python
from paraphrastic import load_model

model = load_model("{folder}")
model.embed_raw_text(["This is a test."]{embedded})  # float32 [1, {config["dimension"]}]
model.score_raw_text([("This is a test.", "This is another test.")]{scored})  # cosines
```
"""


def _elsewhere(config: Json, folder: str) -> str:
    """How other libraries load the folder as it is."""
    but = ""
    if config.get("segmentation"):
        but = " (but for the words of Chinese, which jieba finds: put spaces between them first)"
    examples = f"{usage.SENTENCE_TRANSFORMERS}\n{usage.MODEL2VEC}".format(folder=folder)
    return (
        f"The folder loads in sentence-transformers and model2vec as it is, with the same cosines{but}:\n\n"
        f"{examples}"
    )


def _languages(config: Json) -> str:
    codes = config.get("languages", ())
    return f"Languages: {' and '.join(codes)}. " if codes else ""


def _description(config: Json) -> str:
    """What a sentence's vector is, in words."""
    if config["training"].get("epochs") == 0:
        name = encoder_name(config)
        return f"A baseline: {name}, in {config['dimension']} dimensions,\nwhose parameters were not trained."
    if "architecture" not in config:
        unit = config.get("unit", "subword")
        return (
            f"A sentence is the average of its {unit}s' embeddings, in\n{config['dimension']} dimensions, "
            "trained as in *Paraphrastic Representations at Scale* (Wieting et al. 2021)."
        )
    return (
        f"The encoder is {encoder_name(config)}, in {config['dimension']} dimensions;\n"
        "`config.json` has its parts under `architecture`."
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; bars in cells stay bars."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)
