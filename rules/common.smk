"""The checked configuration, the registry, and the paths that several phases share."""

import sys
from pathlib import Path

# This checkout's library, whatever is installed.
sys.path.insert(0, str(Path(workflow.basedir, "src")))

from snakemake.exceptions import WorkflowError

from paraphrastic.code_version import code_version
from paraphrastic.config import CORPUS_KINDS, check_config, pair_of, selection_kind, sweep_runs
from paraphrastic.errors import InputError
from paraphrastic.estimate import estimate
from paraphrastic.registry import read_registry
from paraphrastic.sources import named_datasets, opus_corpora

try:
    REGISTRY = read_registry(config.get("registry", "config/datasets.tsv"))
    config.update(
        check_config(
            config,
            schema=Path(workflow.basedir, "workflow/schemas/config.schema.yaml"),
            registry=REGISTRY,
        )
    )
    OPUS_CORPORA = {
        corpus.file().location: corpus
        for model in config["models"]
        for corpus in opus_corpora(config["definitions"][model], REGISTRY)
    }
    REGISTRY |= named_datasets(config, REGISTRY)
except InputError as error:
    raise WorkflowError(str(error)) from None

# Corpora by name, the registry's and those that only the configuration names.
CORPORA = [name for name, dataset in REGISTRY.items() if dataset.kind in CORPUS_KINDS]
TABLES = {
    "sts": "Pearson's r × 100 on STS 2012–2016: mean over the datasets of a year, then over the years",
    "sts_spearman": "Spearman's ρ × 100 on STS 2012–2016: over each year's concatenated datasets without 2013's SMT",
}


def downloads(name, languages=()):
    """Files of a data set, all or those of the languages, as the download rule names them.

    A file that lies elsewhere is known by its digest, not by its time.
    """
    files = REGISTRY[name].select(tuple(languages)) if languages else REGISTRY[name].files
    return [ancient(file.location) if file.path else file.location for file in files]


def corpus_files(name, languages):
    """What is to be known of a corpus's files to read them; one with a path has its digest as version."""
    return [
        {"languages": file.languages, "members": file.members, "version": file.version}
        for file in REGISTRY[name].select(languages)
    ]


def version_of(name, file_name):
    """Version of a file of a data set; within OPUS's corpora it differs by language pair."""
    return {file.name: file.version for file in REGISTRY[name].files}.get(file_name)


def opus_estimate():
    """Lines on what the corpora of OPUS that are still to be downloaded will cost."""
    return estimate([corpus for path, corpus in OPUS_CORPORA.items() if not Path(path).exists()])


def pair_name(model):
    """The language pair of a model's training pairs, such as en-fr, or en-en for paraphrases."""
    return "-".join(pair_of(config["definitions"][model]))


def languages_of(pair):
    """The languages of a pair's name, each once."""
    return tuple(dict.fromkeys(pair.split("-")))


def language_id_model():
    """The language-identification model: a download, or trained on a download; none where it is off."""
    name = config["language_id"]
    if name is None:
        return []
    return [f"resources/language_id/{name}.bin"] if REGISTRY[name].kind == "labelled" else downloads(name)


def model_description(model):
    """What a model's config.json says beside its training."""
    definition = config["definitions"][model]
    return {
        "model": model,
        "languages": definition["languages"],
        "corpora": {
            name: REGISTRY[name].select(tuple(definition["languages"]))[0].version
            for name in definition["corpora"]
        },
        "lowercase": config["text"]["lowercase"],
        "segmentation": {
            language: mode
            for language, mode in config["text"]["segmentation"].items()
            if language in definition["languages"] and mode != "none"
        },
    }
