"""The systems that are evaluated, and the tables that are made of their results."""

import hashlib
import json

from paraphrastic.evaluation.layouts import LAYOUTS, TRANSLATION_QUALITY
from paraphrastic.evaluation.tasks import TRACKS
from paraphrastic.evaluation.transfer_tasks import LANGUAGES
from paraphrastic.config.evaluation_validation import SYSTEM_KINDS, is_trained
from paraphrastic.config.studies import seed_runs

# Models before training, by the names of their folders in results/eval.
UNTRAINED = {f"{model}-untrained": model for model in config["definitions"]}
# All systems that are evaluated, in the order of the tables' rows.
SYSTEMS = [*config["systems"]]
for model in config["models"]:
    # One without epochs is untrained itself.
    twice = config["evaluation"]["untrained"] and is_trained(config["definitions"][model])
    SYSTEMS += [f"{model}-untrained", model] if twice else [model]
# Tables of systems, with the intervals of their figures, and tables of the corpora.
SYSTEM_CAPTIONS = {
    "sts": "Pearson's r × 100 on STS 2012–2016: mean over the datasets of a year, then over the years",
    "sts_spearman": "Spearman's ρ × 100 on STS 2012–2016: over each year's concatenated datasets without 2013's SMT",
    "xling_sts": "Pearson's r × 100 on the tracks of STS 2017",
    "xling_sts_spearman": "Spearman's ρ × 100 on the tracks of STS 2017",
    "xling_sts_4b": "Pearson's r and Spearman's ρ × 100 on STS 2017's track 4b, Spanish and English, of translation quality",
    "stsb": "Pearson's r × 100 on STS Benchmark: all pairs, captions only, and without captions",
    "stsb_spearman": "Spearman's ρ × 100 on STS Benchmark: all pairs, captions only, and without captions",
    "tatoeba": "Error rate × 100 on Tatoeba: sentences whose nearest English neighbour is not their translation",
    "bucc": "Precision, recall and F1 × 100 of the translations mined from BUCC 2018's sentences, at the threshold of the "
    "highest F1",
    "senteval": "SentEval's tasks, a logistic regression on fixed vectors: accuracy × 100, of MRPC also F1 × 100; of "
    "SICK-R Pearson's r × 100",
    "polish": "Polish tasks, a network with a hidden layer on fixed vectors: accuracy × 100; of CDSC-R and SICK-R "
    "Spearman's ρ × 100",
}
CORPUS_TABLES = {
    "contamination": "Selected pairs with a sentence of a test set: exact in its normal form, or nearly the same; "
    "share in %",
    "corpora": "The corpora, and the pairs of them that models are trained on: length in tokens, IDF and entropies in "
    "nats, each with its standard deviation where it is a mean",
    "funnel": "Pairs read, dropped by the first filter that does not accept them, then as duplicates, as contaminated "
    "or over the cap, and kept",
    "filter_overlap": "Pairs that neither of two filters accepts; where the two are the same, pairs that it does not "
    "accept, whatever the others say",
}
SWEEP_TABLES = {
    "sweep": "Pearson's r × 100 on STS 2017 en-en of every run of a model's sweep, by which one is chosen",
}
STUDY_TABLES = {
    "filter_study": "Pearson's r × 100 of models that were trained on a sample of each part of the corpus, ranked "
    "from the lowest values to the highest: on STS 2017 en-en, by which the best part is chosen, and on average on "
    "STS 2012–2016 with its 95 % interval",
}
STUDIES_TABLES = {
    "studies": "Pearson's r × 100 of models that differ in the setting alone: on STS 2017 en-en, and on average on STS "
    "2012–2016 with its 95 % interval",
}
CHOICE_TABLES = {
    "language_choice": "Models of English and another language: overlap of the two languages' pieces, distances from "
    "English (URIEL), and Pearson's r × 100 on average on STS 2012–2016 with its 95 % interval, where pieces that are "
    "spelled alike share an embedding and where the other language's are prefixed",
    "language_choice_correlations": "Spearman's ρ × 100, over languages, of the average on STS 2012–2016 with overlap "
    "and distances, with its 95 % interval and the probability of a ρ as far from 0 if they were unrelated",
}
SPEED_TABLES = {
    "speed": "Sentences embedded a second in batches of sentences of about the same length: published, and measured "
    "in one run on one machine",
}
# Speed is that of English sentences, as in the papers.
SPEED_MODELS = [
    model
    for model in config["models"]
    if "en" in config["definitions"][model]["languages"] and model in CORPUS_MODELS
]
SPEED = bool(config["evaluation"]["speed"] and SPEED_MODELS)
# The languages of the paper's correlations, which those of fewer are not compared with.
PAPER_LANGUAGES = 46


def system_files(system):
    """The files of a system's encoder; none of one that has only a name."""
    if system not in config["systems"]:
        return [f"{system_encoder(system)}/{name}" for name in MODEL_FILES]
    kind, place = system_kind(system)
    if kind == "vectors":
        return [place["sentences"], place["vectors"]]
    return sorted(str(file) for file in Path(place).rglob("*") if file.is_file())


def system_kind(system):
    """What an entry under `systems` is opened by, and where it is."""
    entry = config["systems"][system]
    return next((kind, entry[kind]) for kind in SYSTEM_KINDS if entry.get(kind))


def system_encoder(system):
    """A system's encoder, as `encoders.open_system` takes it."""
    if system in config["systems"]:
        kind, place = system_kind(system)
        return {kind: place, "label": config["systems"][system]["label"] or system}
    model = UNTRAINED.get(system)
    return f"results/untrained/{model}" if model else f"results/models/{system}"


def system_source(system):
    """What the tables say of a system's figures."""
    return "untrained" if system in UNTRAINED else "measured"


def system_languages(system):
    """The languages that a system knows; None of one that is taken to know all."""
    if system in config["systems"]:
        return config["systems"][system]["languages"]
    return config["definitions"][UNTRAINED.get(system, system)]["languages"]


def knows(system, *languages):
    known = system_languages(system)
    return known is None or set(languages) <= set(known)


def tracks_of(system):
    """The tracks of STS 2017 whose languages a system knows."""
    return [name for name in config["evaluation"]["tracks"] if knows(system, *TRACKS[name].languages)]


def card_results(model):
    """The results that a model's card tells of, in the languages that the model knows."""
    tasks = {"sts": knows(model, "en"), "xling_sts": tracks_of(model)}
    return [f"results/eval/{model}/{task}.json" for task, known in tasks.items() if known]


def tokenizer_files(model):
    """What other libraries need to load a model; nothing where only this one can."""
    architecture = architecture_of(config["definitions"][model])
    loads = architecture.averaged and not architecture.separate and architecture.units != ("trigram",)
    return [f"results/models/{model}/{name}.json" for name in ("tokenizer", "modules")] if loads else []


def tatoeba_of(system):
    """The languages in which a system is evaluated on Tatoeba."""
    settings = config["evaluation"]["tatoeba"]
    pairs = tatoeba_pairs(settings["testsets"]) if settings else []
    return [language for language, english in pairs if knows(system, language, english)]


def bucc_of(system):
    """The pairs of languages in which a system is evaluated on BUCC."""
    settings = config["evaluation"]["bucc"]
    pairs = bucc_pairs(settings["testsets"]) if settings else []
    return ["-".join(pair) for pair in pairs if knows(system, *pair)]


def testsets_of(task):
    """The data set that a task is done on."""
    settings = config["evaluation"][task]
    if settings is None:
        raise WorkflowError(f"config: evaluation.{task}: is null, so that nothing is evaluated on it")
    return settings["testsets"]


def evaluated_on(task, system):
    """The languages of Tatoeba or the pairs of BUCC that a system is evaluated on, one at least."""
    testsets = testsets_of(task)
    found = {"tatoeba": tatoeba_of, "bucc": bucc_of}[task](system)
    if not found:
        raise WorkflowError(f"{system}: knows none of the languages that are evaluated of {testsets}")
    return found


def systems_of(task):
    """The systems that a task is done with, in the order of the tables' rows."""
    chosen = config["evaluation"]["only"].get(task)
    return [system for system in SYSTEMS if (chosen is None or system in chosen) and is_for(task, system)]


def is_for(task, system):
    """Whether a system knows the languages of a task."""
    if task == "xling_sts":
        return bool(tracks_of(system))
    if task == "speed" and system in UNTRAINED:
        return False  # as fast as after training
    if task == "tatoeba":
        return bool(tatoeba_of(system))
    if task == "bucc":
        return bool(bucc_of(system))
    if task in LANGUAGES:
        # One that is named may know a related language.
        named = system in config["evaluation"]["only"].get(task, [])
        return config["evaluation"][task] is not None and (named or knows(system, LANGUAGES[task]))
    return knows(system, "en")


def transfer_files(suite):
    """The files with the data of a suite of transfer tasks, by data set."""
    testsets = config["evaluation"][suite]
    if testsets is None:
        raise WorkflowError(f"config: evaluation.{suite}: is null, so that nothing is evaluated on it")
    testsets = testsets if suite == "polish" else {suite: testsets}
    return {dataset: downloads(name) for dataset, name in testsets.items()}


def testset_tables():
    """The prepared test sets of the evaluation, as `gather_sentences` takes them."""
    languages = dict.fromkeys(language for system in systems_of("tatoeba") for language in tatoeba_of(system))
    pairs = dict.fromkeys(pair for system in systems_of("bucc") for pair in bucc_of(system))
    return [
        "results/testsets/sts.parquet",
        *expand("results/testsets/tatoeba/{language}.parquet", language=languages),
        *expand("results/testsets/bucc/{pair}.parquet", pair=pairs),
        *[f"results/testsets/{suite}.parquet" for suite in LANGUAGES if systems_of(suite)],
    ]


def speed_corpora():
    """The models' pairs, of which speed is measured on the English sentences, with the columns of these."""
    if not SPEED:
        raise WorkflowError("config: evaluation.speed: is null, or no model knows English: there is no speed")
    return {
        f"results/corpora/{DATA_MODELS[model]}/pairs.parquet": [
            column
            for column, language in zip(("source", "target"), pair_of(config["definitions"][model]))
            if language == "en"
        ]
        for model in SPEED_MODELS
    }


def system_results(table):
    """The results of all training runs of each system of a table, by the system's name."""
    task = LAYOUTS[table].task
    return {
        system: [f"results/eval/{run}/{task}.json" for run in seed_runs(config, system)]
        for system in rows_of(table)
    }


def trained_results(table):
    """Those of systems that are not models before training."""
    return {system: paths for system, paths in system_results(table).items() if system not in UNTRAINED}


def published_as():
    """Names of the published systems that each system stands for."""
    systems = {**config["definitions"], **config["systems"]}
    return {name: entry["published_as"] for name, entry in systems.items() if entry["published_as"]}


def config_digests():
    """Digest of what defines each system."""
    systems = {**config["definitions"], **config["systems"]}
    texts = {name: json.dumps(entry, sort_keys=True) for name, entry in systems.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def tables_off():
    """Why published tables are not among those that are made."""
    reasons = {
        "caption_differences": "the other system is InferSent, and dataset_differences.csv has no figure of it",
        "corpus_choice": "back-translations of its corpora are not published",
    }
    if 0 < (languages := len(config["language_choice"]["models"])) < PAPER_LANGUAGES:
        reasons["language_choice_correlations"] = (
            f"the published figure is over {PAPER_LANGUAGES} languages, the configuration's over {languages}"
        )
    for table in PUBLISHED:
        if table in LAYOUTS and table not in SYSTEM_TABLES:
            reasons[table] = f"no system of the configuration is evaluated on {LAYOUTS[table].task}"
        elif table not in SYSTEM_TABLES and table not in TABLES:
            reasons.setdefault(table, f"the configuration asks for no table {table}")
    return reasons


def rows_of(table):
    """The systems that a table has rows of."""
    systems = systems_of(LAYOUTS[table].task)
    if table == "xling_sts_4b":
        return [system for system in systems if TRANSLATION_QUALITY in tracks_of(system)]
    return systems


def published_file(table):
    """The file of published figures for a table; none of a table without any."""
    return [path for path in [f"config/published/{table}.csv"] if Path(workflow.basedir, path).exists()]


SYSTEM_TABLES = {table: caption for table, caption in SYSTEM_CAPTIONS.items() if rows_of(table)}
DIFFERENCE_TABLES = {
    "dataset_differences": "How much two systems differ in Pearson's r × 100 on a dataset of STS 2012–2016: mean "
    "absolute difference, mean difference, and those on captions",
}
TABLES = (
    SYSTEM_TABLES
    | (DIFFERENCE_TABLES if len(trained_results("sts")) > 1 else {})
    | (CORPUS_TABLES if MODEL_CORPORA else {})
    | SWEEP_TABLES
    | (STUDY_TABLES if STUDY in config["models"] else {})
    | (STUDIES_TABLES if STUDY_MODELS else {})
    | (CHOICE_TABLES if config["language_choice"]["models"] else {})
    | (SPEED_TABLES if SPEED else {})
)
FIGURES = [
    *SYSTEM_TABLES,
    *(["funnel"] if MODEL_CORPORA else []),
    "sweep",
    *(STUDY_TABLES if STUDY in config["models"] else []),
    *(["language_choice"] if config["language_choice"]["models"] else []),
    *(SPEED_TABLES if SPEED else []),
]


def absent_tables():
    """Why tables that the page could have are not made."""
    possible = STUDY_TABLES | STUDIES_TABLES | CHOICE_TABLES | SPEED_TABLES | DIFFERENCE_TABLES
    reasons = {table: "the configuration asks for none" for table in possible if table not in TABLES}
    for table in SYSTEM_CAPTIONS:
        if table not in TABLES:
            reasons[table] = f"no system of the configuration is evaluated on {LAYOUTS[table].task}"
    return reasons


# Published tables, and those of other forms that are compared with them.
PUBLISHED = sorted(path.stem for path in Path(workflow.basedir, "config/published").glob("*.csv"))
LEDGER_TABLES = [
    table
    for table in PUBLISHED
    if table in TABLES and table not in SYSTEM_TABLES and table not in tables_off()
]
