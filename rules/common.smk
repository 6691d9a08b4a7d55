"""The checked configuration, the registry, and the paths that several phases share."""

import json
import os
import re
import sys
from hashlib import sha256
from pathlib import Path

# This checkout's library, whatever is installed.
sys.path.insert(0, str(Path(workflow.basedir, "src")))

from snakemake.exceptions import WorkflowError

from paraphrastic.base.code_version import code_version
from paraphrastic.config.check import check_config
from paraphrastic.config.validation import CORPUS_KINDS, MEASURES
from paraphrastic.config.definitions import (
    dropped_kinds,
    pair_of,
    selection_kind,
    study_settings,
    sweep_runs,
)
from paraphrastic.base.errors import InputError
from paraphrastic.pipeline.estimate import estimate
from paraphrastic.config.dependencies import definitions_needed, encoder_model
from paraphrastic.registry.datasets import read_registry
from paraphrastic.config.local_files import dataset_versions, opus_corpora
from paraphrastic.config.architecture import architecture_of, vocabularies, vocabulary_settings
from paraphrastic.config.studies import data_models, prefixed_name, setting_name, variants

# A run ends with the settings that it began with, whatever becomes of the files: its jobs on other nodes, which
# are runs of their own, read them from a copy that is written before the first of them (hooks.smk).
if workflow.is_main_process:
    SETTINGS = json.dumps(config, default=str)  # values that JSON has not are refused below
    settings_file = Path(".snakemake", "settings", f"{sha256(SETTINGS.encode()).hexdigest()}.json")
    os.environ["PARAPHRASTIC_SETTINGS"] = str(settings_file.absolute())
elif settings_copy := os.environ.setdefault("PARAPHRASTIC_SETTINGS", ""):
    config.clear()
    config.update(json.loads(Path(settings_copy).read_text(encoding="utf-8")))


envvars:
    "PARAPHRASTIC_SETTINGS",


try:
    schema = Path(workflow.basedir, "workflow/schemas/config.schema.yaml")
    checked, REGISTRY = check_config(config, schema=schema)
    config.update(checked)
    registered = read_registry(config["registry"])
    OPUS_CORPORA = {
        corpus.file().location: corpus
        for definition in definitions_needed(config)
        for corpus in opus_corpora(definition, {*registered, *config["mined"]})
    }
except InputError as error:
    raise WorkflowError(str(error)) from None

# Corpora by name, the registry's and those that only the configuration names.
CORPORA = [name for name, dataset in REGISTRY.items() if dataset.kind in CORPUS_KINDS]
# Models that have training data of the original code in the place of corpora, and the others.
DATASET_MODELS = [model for model, definition in config["definitions"].items() if definition["dataset"]]
CORPUS_MODELS = [model for model in config["definitions"] if model not in DATASET_MODELS]
# The models of the tables of corpora, and each with each of its corpora, as they list them.
TABLE_MODELS = [model for model in config["models"] if model in CORPUS_MODELS]
MODEL_CORPORA = [
    (model, corpus) for model in TABLE_MODELS for corpus in config["definitions"][model]["corpora"]
]
# Each model with the one whose training data and vocabularies are also its own.
DATA_MODELS = data_models(config)
# A model's files.
MODEL_FILES = ("model.safetensors", "sentencepiece.model", "config.json")
# Study, setting and model of each row of the studies' table.
STUDY_MODELS = [
    (study, setting_name(settings), model)
    for study, entry in config["studies"].items()
    for model, settings in variants(study, entry).items()
]
# The filter study is of one of the models, where it is on.
STUDY = config["filter_study"]["model"]
STUDY_PARTS = range(1, config["filter_study"]["parts"] + 1)


def default_targets():
    """All models and their table; or the files that are named after `--forcerun RULE`.

    Snakemake takes every word after that option as something to run again, so that in
    `--forcerun train_model results/models/fr/model.safetensors` the file is no target, although it is meant.
    """
    forced = [name for name in workflow.dag_settings.forcerun if name.startswith("results/")]
    models = expand("results/models/{model}/README.md", model=config["models"])
    return sorted(forced) or ["results/tables/sts.csv", *models]


def one_of(names):
    """A regular expression for one of the names, which matches nothing where there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def downloads(name, languages=()):
    """Files of a data set, all or those of the languages, as the download rule names them.

    A file that lies elsewhere is known by its digest, not by its time.
    """
    files = REGISTRY[name].select(tuple(languages)) if languages else REGISTRY[name].files
    return [ancient(file.location) if file.path else file.location for file in files]


def expected_file(dataset, name):
    """Version and digest of a file, as the registry has them."""
    of_dataset = REGISTRY[dataset].files
    return next(((file.version, file.sha256) for file in of_dataset if file.name == name), None)


def corpus_files(name, languages):
    """What is to be known of a corpus's files to read them; one with a path has its digest as version."""
    return [
        {"languages": file.languages, "members": file.members, "version": file.version}
        for file in REGISTRY[name].select(languages)
    ]


def bitext_pair(mined):
    """The pair of the bitexts that a corpus is mined from, such as de-en for English paraphrases."""
    return "-".join(config["mined"][mined]["languages"])


def encoder_files(mined):
    """The files of the encoder that a corpus is mined with; none of one that has only a name."""
    encoder = config["mined"][mined]["encoder"]
    if isinstance(encoder, str):
        return [f"results/models/{encoder}/{name}" for name in MODEL_FILES]
    files = Path(encoder["path"]).rglob("*") if "path" in encoder else []
    return sorted(str(file) for file in files if file.is_file())


def testset_names():
    """Data sets with the test sentences that training data must not have, by the way they are read."""
    testsets = config["contamination"]["testsets"].items()
    return {name: testset for testset, name in testsets if name is not None}


def testset_files(model):
    """The test sets' files for a model's training data, each after the way it is read.

    Of files in two languages, those that the model knows, and of these what the evaluation names, if it names any:
    which other models there are is no reason to train it again.
    """
    known = set(config["definitions"][model]["languages"])
    found = []
    for name, testset in testset_names().items():
        named = {"tatoeba": named_tatoeba, "bucc": named_bucc}.get(testset, lambda name: None)(name)
        found += [
            (testset, file)
            for file in REGISTRY[name].files
            if len(pair := set(file.languages)) < 2 or (pair <= known and (named is None or pair in named))
        ]
    return found


def model_languages():
    """The languages of the models, in their order."""
    models = config["models"]
    return list(dict.fromkeys(code for model in models for code in config["definitions"][model]["languages"]))


def named_tatoeba(name):
    """The pairs with English that the evaluation names for Tatoeba; None where it names none."""
    settings = config["evaluation"]["tatoeba"]
    if not settings or settings["testsets"] != name or settings["languages"] is None:
        return None
    return [{language, "en"} for language in settings["languages"]]


def named_bucc(name):
    """The pairs that the evaluation names for BUCC; None where it names none."""
    settings = config["evaluation"]["bucc"]
    if not settings or settings["testsets"] != name or settings["pairs"] is None:
        return None
    return [set(pair.split("-")) for pair in settings["pairs"]]


def tatoeba_pairs(name):
    """The pairs with English that Tatoeba is wanted in: of the languages that the evaluation names, or the models'."""
    if named_tatoeba(name) is not None:
        return [(language, "en") for language in config["evaluation"]["tatoeba"]["languages"]]
    there = {frozenset(pair) for pair in REGISTRY[name].pairs}
    return [(code, "en") for code in model_languages() if {code, "en"} in there]


def bucc_pairs(name):
    """The pairs that BUCC is wanted in: those that the evaluation names, or those of the models' languages."""
    named, known = named_bucc(name), set(model_languages())
    return [
        pair for pair in REGISTRY[name].pairs if (set(pair) <= known if named is None else set(pair) in named)
    ]


def study_files(name):
    """Files of the filter study, of all measures, and of all parts if `{part}` is in the name."""
    if STUDY is None:
        raise WorkflowError("config: filter_study.model: is null, so that there is no filter study")
    paths = f"results/filter_study/{STUDY}/{{measure}}/{name}"
    measures = config["filter_study"]["rank_by"]
    if "{part}" not in name:
        return expand(paths, measure=measures)
    return expand(paths, measure=measures, part=STUDY_PARTS)


def choice_files(path, prefixed=False):
    """A file of each model of the study of languages, or of each one's variant with prefixed tokens."""
    study = config["language_choice"]
    if not study["models"]:
        raise WorkflowError(
            "config: language_choice.models: is empty, so that there is no study of languages"
        )
    if prefixed:
        return [path.format(model=prefixed_name(model)) for model in study["models"] if study["prefixed"]]
    return expand(path, model=study["models"])


def development_testsets(settings):
    """The test sets with the development data, which training is scored on.

    Only where the scores decide when to stop are other test sets a reason to train again.
    """
    path = "results/testsets/sts.parquet"
    return path if settings["early_stopping"] else ancient(path)


def code_of(script, without=()):
    """Version of the code of a rule: its script, and the modules of the library that this imports.

    Snakemake's own look at code, which counts a docstring and the time of a file, is off (profiles/default).
    """
    return code_version(script=Path(workflow.basedir, "workflow/scripts", f"{script}.py"), without=without)


def training_code(settings):
    """Version of the code that training runs; that of scoring counts only where scores decide when to stop."""
    scoring = [] if settings["early_stopping"] else ["paraphrastic.evaluation.development"]
    return code_of("train_model", without=scoring)


def gpus(model):
    """GPUs that training a model takes; where the device is auto, a profile says so (set-resources)."""
    return int(config["definitions"][model]["training"]["device"] == "cuda")


def training_figures():
    """Names of the pictures of every run of the models' sweeps."""
    return [f"training/{model}/{run}" for model in config["models"] for run in sweep_runs(config, model)]


def opus_estimate():
    """Lines on what the corpora of OPUS that are still to be downloaded will cost."""
    return estimate([corpus for path, corpus in OPUS_CORPORA.items() if not Path(path).exists()])


def vocabulary_files(model):
    """The sentencepiece models of a model, in the order of units and languages."""
    names = vocabularies(config["definitions"][model])
    return [f"results/vocabulary/{DATA_MODELS[model]}/{name}.model" for name in names]


def vocabulary_training(model, vocabulary):
    """What a vocabulary is trained with, but for the seed."""
    definition = config["definitions"][model]
    unit, sides = vocabularies(definition)[vocabulary]
    settings = vocabulary_settings(definition, unit)
    settings.pop("max_pieces")
    return {"unit": unit, "sides": list(sides), **settings}


def dataset_units(model):
    """How sentences are cut into each unit, as `dataset.UnitVocabulary` takes it."""
    definition = config["definitions"][model]
    models = {}
    for (unit, _), path in zip(vocabularies(definition).values(), vocabulary_files(model), strict=True):
        models.setdefault(unit, []).append(path)
    return [
        {
            "unit": unit,
            "models": paths,
            "max_pieces": vocabulary_settings(definition, unit)["max_pieces"],
        }
        for unit, paths in models.items()
    ]


def dataset_file(name):
    """A function of the wildcards: a file of a model's `dataset`, which is known by its digest, not by its time."""
    return lambda wildcards: ancient(config["definitions"][wildcards.model]["dataset"][name])


def initial_vectors(model):
    """The file of word vectors that a model's embeddings begin with; none of random ones."""
    name = config["definitions"][model]["training"]["initial_vectors"]
    return downloads(name) if name else []


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


def corpora_of(model):
    """Version and licence of each corpus that a model is trained on, by its name; `-` is an unknown licence."""
    definition = config["definitions"][model]
    if definition["dataset"]:
        hdf5, version = next(iter(dataset_versions(DATA_MODELS[model], definition["dataset"]).items()))
        return {hdf5: (version, "-")}
    languages = tuple(definition["languages"])
    sets = {name: REGISTRY[name] for name in definition["corpora"]}
    return {name: (corpus.select(languages)[0].version, corpus.licence) for name, corpus in sets.items()}


def model_description(model):
    """What a model's config.json says beside its training."""
    definition = config["definitions"][model]
    return {
        "model": model,
        "languages": definition["languages"],
        "corpora": {name: version for name, (version, _) in corpora_of(model).items()},
        "lowercase": config["text"]["lowercase"],
        "unit": architecture_of(definition).units[0],
        "segmentation": text_modes(definition["languages"], "segmentation"),
        "folding": text_modes(definition["languages"], "folding"),
    }


def text_modes(languages, setting):
    """What a setting of the text says of the languages, by language; nothing of those that it leaves alone."""
    modes = config["text"][setting].items()
    return {language: mode for language, mode in modes if language in languages and mode != "none"}
