"""A first configuration for somebody's own corpora, as `paraphrastic new` writes it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from paraphrastic.base.errors import InputError
from paraphrastic.config.check import SCHEMA, check_config
from paraphrastic.config.local_files import looks_like_a_path, opus_corpora
from paraphrastic.pipeline.sizes import SAMPLED, first_rows
from paraphrastic.registry.datasets import Dataset

# From this number of pairs on, a model is as large as the papers'.
_MANY = 1_000_000
# The settings of `config/small.yaml` for fewer pairs; docs/recipe.md has the measurements.
_SMALL = {"vocabulary": {"size": 8000}, "training": {"dimension": 300, "epochs": 8}}
_SCORE = "paraphrase_score"


def starter_configuration(languages: Sequence[str], corpora: Sequence[str], output: str) -> str:
    """The text of a configuration, with comments, that trains one model on these corpora.

    Args:
        languages: one for paraphrases, two for translations, in the order of a file's columns.
        corpora: files, and names of data sets of the registry or of OPUS.
        output: the name of the file that the text is for, which its comments mention.

    Raises:
        InputError: the pipeline would refuse the configuration, such as for a file that is not there.
    """
    foreign = [code for code in languages if code != "en"] or ["en"]
    model = "-".join(foreign)
    files = [corpus for corpus in corpora if looks_like_a_path(corpus) or Path(corpus).exists()]
    if missing := [name for name in files if not Path(name).is_file()]:
        raise InputError(f"{missing[0]}: is not a file")
    entries: list[Any] = [{"path": corpus} if corpus in files else corpus for corpus in corpora]
    definition: dict[str, Any] = {"languages": list(languages), "corpora": entries}
    config: dict[str, Any] = {"models": [model], "definitions": {model: definition}}
    checked, datasets = check_config(config, schema=SCHEMA)
    names = checked["definitions"][model]["corpora"]
    pairs, scored = _measure(checked["definitions"][model], [datasets[name] for name in names])
    notes = []
    if len(languages) == 1 and not scored:
        definition["selection"] = {"paraphrase": {_SCORE: None}}
        notes.append("The corpora have no paraphrase scores, so no pair is dropped for its score.")
    if pairs is not None and pairs < _MANY:
        config |= _SMALL
        notes.append("These settings suit fewer than a million pairs; the defaults are for more.")
    about = f"about {float(f'{pairs:.2g}'):,.0f} pairs" if pairs is not None else "of unknown size"
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)
    lines = [
        f"A model of {' and '.join(languages)} from {', '.join(corpora)} ({about}).",
        *notes,
        "",
        f"  snakemake -n --configfile {output}            shows what would run",
        f"  snakemake --cores all --configfile {output}   makes results/models/{model} and results/tables",
        f"  paraphrastic config --configfile {output}     shows all settings, with their defaults",
        "",
        "config/README.md explains every setting.",
    ]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n" + text


def _measure(definition: Mapping[str, Any], corpora: Sequence[Dataset]) -> tuple[int | None, bool]:
    """About how many pairs corpora have together, None if it is not known; and whether any has scores."""
    listed = {corpus.name: corpus.pairs for corpus in opus_corpora(definition, ())}
    total: int | None = 0
    scored = False
    for dataset in corpora:
        pairs = listed.get(dataset.name)
        scored |= dataset.kind == "paranmt"
        (file, *_) = dataset.files
        if dataset.kind in SAMPLED and Path(file.location).is_file():
            rows, share = first_rows(dataset.kind, file.location, file)
            pairs = round(sum(1 for _ in rows.rows) / share)
            scored |= _SCORE in rows.scores
        total = None if total is None or pairs is None else total + pairs
    return total, scored
