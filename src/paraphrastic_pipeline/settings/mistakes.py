"""Mistakes that no single setting shows and that would cost a person an hour, each on one line."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.errors import did_you_mean, hide_secrets
from paraphrastic_pipeline.registry.addresses import secret_error
from paraphrastic_pipeline.registry.datasets import CORPUS_KINDS, KINDS, Dataset
from paraphrastic_pipeline.registry.language_labels import labels_of
from paraphrastic_pipeline.registry.opus import list_command, read_list
from paraphrastic_pipeline.settings.datasets import pairs_of, selection_kind
from paraphrastic_pipeline.settings.definitions import OVERRIDABLE, needed, needs, undefined
from paraphrastic_pipeline.settings.places import hub_name
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.corpora import FileCorpus, Mined, looks_like_a_path

Datasets = Mapping[str, Dataset]


def mistakes(config: Configuration, registry: Datasets, datasets: Datasets) -> Iterator[str]:
    """Mistakes in a complete configuration, besides those in its definitions."""
    mirror, definitions, evaluation = config.mirror, config.definitions, config.evaluation
    if mirror and (error := secret_error(mirror)):
        yield f"mirror: {hide_secrets(mirror)!r}: {error}"
    elif mirror and not re.match("https?://[^/]", mirror) and not Path(mirror).is_dir():
        yield f"mirror: {mirror!r} is neither a folder nor an http(s) address"
    for key, models in (("models", config.models), ("evaluation.retrieval", evaluation.retrieval or [])):
        for model in models:
            if model not in definitions:
                yield f"{key}: {undefined(model, definitions)}"
            elif key != "models" and not definitions[model].held_out:
                yield f"{key}: {model!r} holds out no pairs, so nothing can be compared by it"
    languages = [{*definitions[model].languages} for model in config.language_choice.models]
    for model, codes in zip(config.language_choice.models, languages, strict=True):
        if len(codes) != 2 or "en" not in codes or languages.count(codes) > 1:
            yield f"language_choice.models: {model!r} is not the one model of English and another language"
    for name in {each for model in definitions for each in (model, f"{model}-untrained")} & {*config.systems}:
        yield f"systems.{name}: the name is taken by a model: give it another name"
    for name in config.mined.keys() & registry.keys():
        yield f"mined.{name}: the name is in the registry of data sets: give it another name"
    yield from _files(config, {*registry, *config.mined})
    yield from _testsets(config, datasets)
    for name, mined in config.mined.items():
        yield from _corpora(f"mined.{name}.corpora", mined, config, datasets)
        encoder = mined.encoder if isinstance(mined.encoder, str) else None
        if encoder and encoder not in definitions:
            hint = "; others are given as {path: …}"
            yield f"mined.{name}.encoder: {undefined(encoder, definitions)}{hint}"
        elif encoder and (unknown := {*mined.languages} - {*definitions[encoder].languages}):
            yield f"mined.{name}.encoder: {encoder!r} does not know {' and '.join(sorted(unknown))}"
        if ("mined", name) in (found := needed(config, needs(config, mined))):
            yield f"mined.{name}: it needs itself: {' needs '.join(key[1] for key in found)}"


def definition_mistakes(model: str, own: Json, config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Mistakes in a definition; `own` is what it says itself, without the global sections."""
    definition, at = config.definitions[model], f"definitions.{model}"
    # A mistake in a global section shows in every definition, so it is reported under that section.
    place = {key: f"{at}.{key}" if key in own else key for key in OVERRIDABLE}
    yield from _corpora(f"{at}.corpora", definition, config, datasets)
    for section in ("max_pairs", "weights"):
        for name in getattr(definition, section):
            yield from _dataset(place[section], name, datasets, CORPUS_KINDS)
    vectors = definition.training.initial_vectors
    yield from _dataset(f"{place['training']}.initial_vectors", vectors, datasets, ("vectors", "file"))
    named = (*config.systems, *config.definitions)
    for key in ("teacher", "distil"):
        teacher = getattr(definition.training, key)
        is_place = key == "teacher" and teacher and (Path(teacher).is_dir() or hub_name(teacher))
        if teacher and teacher not in named and not ("/" in teacher and is_place):
            hint = did_you_mean(teacher, named)
            yield f"{place['training']}.{key}: {teacher!r} is neither a definition nor one of systems{hint}"
    if ("definitions", model) in (found := needed(config, needs(config, definition))):
        yield f"{at}: it needs itself: {' needs '.join(key[1] for key in found)}"
    for key, is_wrong, why in (*_data(definition, config, datasets), *_training(definition)):
        section = key.partition(".")[0]
        if is_wrong:
            yield f"{place.get(section, f'{at}.{section}')}{key.removeprefix(section)}: {why}"


def _dataset(
    key: str, name: str | None, datasets: Datasets, kinds: Iterable[str], listed: Iterable[str] = ()
) -> Iterator[str]:
    """Mistakes in the name of a data set of one of these kinds; the user may mean one of those `listed`."""
    if name is not None and name not in datasets:
        where = f"the registry of data sets{' or in the list of OPUS' if listed else ''}"
        yield f"{key}: {name!r} is not in {where}{did_you_mean(name, [*listed, *datasets])}"
    elif name is not None and datasets[name].kind not in kinds:
        yield f"{key}: {name!r} is of kind {datasets[name].kind!r}, not {' or '.join(kinds)}"


def _testsets(config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Data sets for evaluation and language identification that are unknown, or of another kind."""
    evaluation, searched = config.evaluation, config.contamination.testsets
    names = {f"evaluation.{task}": getattr(evaluation, task) for task in ("sts", "probes", "senteval")}
    names["language_id"], names["language_choice.uriel"] = config.language_id, config.language_choice.uriel
    for task in ("tatoeba", "bucc"):
        names[f"evaluation.{task}.testsets"] = getattr(getattr(evaluation, task), "testsets", None)
    for key, section in (("evaluation.polish", evaluation.polish), ("contamination.testsets", searched)):
        names |= {f"{key}.{task}": name for task, name in (vars(section) if section else {}).items()}
    kinds = {"sts": "sts", "language_id": "fasttext", "uriel": "uriel"}
    for key, name in names.items():
        kind = kinds.get(key.rpartition(".")[2])
        yield from _dataset(key, name, datasets, filter(None, (kind, "file")))


def _files(config: Configuration, taken: set[str]) -> Iterator[str]:
    """Files in other languages than their definition's, and those whose name another corpus has."""
    known: dict[str | None, FileCorpus] = {}
    entries = (("definitions", config.definitions), ("mined", config.mined))
    for at, entry in ((f"{key}.{name}", entry) for key, of in entries for name, entry in of.items()):
        for number, file in enumerate(entry.corpora):
            if not isinstance(file, FileCorpus):
                continue
            key, codes = f"{at}.corpora.{number}", file.languages or []
            if not codes or {*codes} - {*entry.languages} or (file.kind == "text" and len(codes) > 1):
                among = f"one or two of the definition's, {', '.join(entry.languages)}"
                yield f"{key}.languages: {codes} should be {among}, and one for text"
            first = known.setdefault(file.name, file)
            # A file may have several pairs of languages, but each in one order.
            turned = (first.languages or [])[::-1] == codes != first.languages
            same = all(
                getattr(first, name) == getattr(file, name) for name in ("path", "target", "kind", "columns")
            )
            if turned or not same or entry.names.count(file.name or "") > 1 or file.name in taken:
                yield f"{key}.name: {file.name!r} is also another corpus, or has its languages in another order"


def _corpora(at: str, entry: Definition | Mined, config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Corpora that are unknown, or have nothing in the languages of a definition."""
    lists = {pair: read_list(pair) for pair in combinations(entry.languages, 2)}
    listed = {name: corpus for entries in lists.values() for name, corpus in (entries or {}).items()}
    unlisted = next((pair for pair, entries in lists.items() if entries is None), None)
    for name in entry.names:
        hint = ""
        if name not in datasets and looks_like_a_path(name):
            hint = f"; a file is given as {{path: {name}}}"
        elif unlisted and (name not in datasets or datasets[name].kind == "opus"):
            hint = f"; to use corpora of OPUS, list them first: {list_command(unlisted, config.mirror)}"
        elif same := next((other for other in listed if other.lower() == name.lower()), None):
            hint = f"; OPUS has it as {same!r}"
        faults = [*_dataset(at, name, datasets, CORPUS_KINDS, listed)]
        try:
            if not faults:
                pairs_of(entry, name, datasets)
                if isinstance(entry, Mined):
                    datasets[name].select(tuple(entry.languages))
                # Which pairs of languages such a corpus has is known only from all lists.
                if unlisted and name in listed and listed[name].file() in datasets[name].files:
                    faults = [f"{at}: {name!r}: OPUS's list of {'-'.join(unlisted)} is missing"]
        except InputError as error:
            faults = [f"{at}: {error}"]
        yield from (fault + hint for fault in faults)


def _data(
    definition: Definition, config: Configuration, datasets: Datasets
) -> Iterator[tuple[str, Any, str]]:
    """Settings, whether they are wrong, and why: of a definition's data, and of filters and choice by them."""
    names, training, filters = definition.names, definition.training, definition.selection
    kinds = {name: _kinds(definition, name, datasets) for name in names}
    texts = [name for name in names if name in datasets and datasets[name].kind == "text"]
    alone = [name for name in names if name in texts or "paraphrase" in kinds[name]]
    yield "corpora", bool(names) == bool(definition.dataset), "is missing, or given together with dataset"
    separate = definition.architecture.separate and len(definition.languages) == 2
    yield "corpora", separate and alone, f"separate languages need translations; not so {' and '.join(alone)}"
    only = training.epochs and texts and len(texts) == len(names)
    yield "training.epochs", only, "text has no pairs to train on: set epochs to 0, or add pairs"
    identifier = datasets.get(config.language_id or "")
    unknown = [code for code in definition.languages if not labels_of(code)]
    for kind, has in (("bitext", filters.bitext.language), ("paraphrase", filters.paraphrase.language)):
        if has and any(kind in of for of in kinds.values()):
            why = f"{config.language_id} does not know {' and '.join(unknown)}: set this filter to null"
            known_only = identifier and identifier.kind == "fasttext"
            yield f"selection.{kind}.language", known_only and unknown, why
            needs_it = "needs language_id, which is null: set this filter to null"
            yield f"selection.{kind}.language", config.language_id is None, needs_it
    score = filters.paraphrase.paraphrase_score and "paraphrase_score"
    ranked = filters.paraphrase.rank and filters.paraphrase.rank.by
    for key, by in (("paraphrase_score", score), ("rank.by", ranked)):
        for name in names if by and by != "trigram_overlap" else ():
            of_kind, mined = (
                KINDS.get(datasets[name].kind) if name in datasets else None,
                config.mined.get(name),
            )
            has = (of_kind and by in of_kind.scores) or (mined and mined.translator and "translation" in by)
            wrong = "paraphrase" in kinds[name] and not has
            yield f"selection.paraphrase.{key}", wrong, f"{name!r} has no {by} of its own"
    held_out = definition.held_out and not definition.dataset
    measured = {"held_out": held_out, "sts2017": "en" in definition.languages and config.evaluation.sts}
    measured["mean"] = any(measured.values())
    chosen = len(definition.runs) > 1 or training.early_stopping
    why = "cannot be measured: held_out needs `held_out` and corpora, sts2017 English and `evaluation.sts`"
    yield "choose_by", chosen and not measured[definition.choose_by], why


def _kinds(definition: Definition, name: str, datasets: Datasets) -> set[str]:
    """The sections of the selection that apply to a corpus; none if it is unknown."""
    try:
        pairs = pairs_of(definition, name, datasets)
    except (KeyError, InputError):
        # Such a corpus is reported under `corpora`.
        return set()
    return {"bitext"} if datasets[name].kind == "text" else {*map(selection_kind, pairs)}


def _training(definition: Definition) -> list[tuple[str, Any, str]]:
    """Settings of a model, whether they are wrong, and why."""
    training, vocabulary, architecture = definition.training, definition.vocabulary, definition.architecture
    transformer, vectors = architecture.transformer, training.initial_vectors
    averages = [part.kind for part in definition.encoder.parts] == ["average"]
    single = transformer or len(definition.languages) != 2
    fused = training.engine == "fused" or training.optimizer == "lazy_adam"
    slow = " and ".join(training.only_autograd) or "initial_vectors_penalty"
    subwords = architecture.averaged and architecture.units == ("subword",) and not architecture.separate
    whole = training.distil or training.teacher or vectors or training.early_stopping
    smaller = max(training.coarser, default=0) < vocabulary.size
    shared, distils = "is for two languages, and not for a transformer", bool(training.distil)
    return [
        ("encoder.languages", single and definition.encoder.languages != "shared", shared),
        ("vocabulary.languages", single and vocabulary.languages != "shared", shared),
        ("encoder.transformer", transformer and not averages, "does not go together with parts"),
        ("training.initial_vectors", vectors and "word" not in architecture.units, "is for words"),
        ("training.distil", transformer and distils, "is not for a transformer"),
        (
            "training.distil",
            distils != (training.loss == "cosines"),
            "it and the loss cosines need each other",
        ),
        ("training.init", transformer and training.init != "random", "is not for a transformer"),
        (
            "training.teacher",
            bool(training.teacher) != (training.init == "teacher"),
            "it and init: teacher need each other",
        ),
        (
            "vocabulary.only_initial_vectors",
            vocabulary.only_initial_vectors and not vectors,
            "needs training.initial_vectors, which is null",
        ),
        (
            "training.engine",
            fused and not training.trains_fused(architecture),
            f"fused, which lazy_adam needs, trains a single average, and knows no {slow}",
        ),
        (
            "training.coarser",
            training.coarser and (whole or not subwords or not smaller),
            "needs shared subwords, smaller sizes than the vocabulary's, and no teacher or early_stopping",
        ),
        (
            "training.soup",
            training.soup > 1 and training.early_stopping,
            "does not go together with early_stopping",
        ),
    ]
