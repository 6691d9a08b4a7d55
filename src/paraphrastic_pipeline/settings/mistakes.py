"""Mistakes that no single setting shows and that would cost a person an hour, each on one line."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.errors import did_you_mean
from paraphrastic_pipeline.registry.addresses import secret_error
from paraphrastic_pipeline.registry.datasets import CORPUS_KINDS, KINDS, Dataset
from paraphrastic_pipeline.registry.language_labels import labels_of
from paraphrastic_pipeline.registry.opus import list_command, read_list
from paraphrastic_pipeline.settings.definitions import (
    OVERRIDABLE,
    pairs_of,
    path_of_needs,
    selection_kind,
    undefined,
)
from paraphrastic_pipeline.settings.local_files import looks_like_a_path
from paraphrastic_pipeline.settings.places import path_mistakes, place_mistakes
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.corpora import Mined, OtherEncoder

Datasets = Mapping[str, Dataset]


def mistakes(config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Mistakes in a complete configuration, besides those in its definitions."""
    if (mirror := config.mirror) and (error := secret_error(mirror)):
        yield f"mirror: {error}"
    elif mirror and not re.match("https?://[^/]", mirror) and not Path(mirror).is_dir():
        yield f"mirror: {mirror!r} is neither a folder nor an http(s) address"
    for key, models in (
        ("models", config.models),
        ("evaluation.retrieval", config.evaluation.retrieval or []),
    ):
        for model in models:
            if model not in config.definitions:
                yield f"{key}: {undefined(model, config.definitions)}"
            elif key != "models" and not config.definitions[model].held_out:
                yield f"{key}: {model!r} holds out no pairs, so nothing can be compared by it"
    yield from _dataset("language_id", config.language_id, datasets, ("fasttext", "file"))
    yield from _dataset("language_choice.uriel", config.language_choice.uriel, datasets, ("uriel",))
    yield from _testsets(config, datasets)
    taken = {name for model in config.definitions for name in (model, f"{model}-untrained")}
    for name, system in config.systems.items():
        yield from _place(f"systems.{name}", system)
        if name in taken:
            yield f"systems.{name}: the name is taken by a model: give it another name"
    languages = [{*config.definitions[model].languages} for model in config.language_choice.models]
    for model, codes in zip(config.language_choice.models, languages, strict=True):
        if len(codes) != 2 or "en" not in codes or languages.count(codes) > 1:
            yield f"language_choice.models: {model!r} is not the one model of English and another language"
    for name, mined in config.mined.items():
        yield from _corpora(f"mined.{name}.corpora", mined, config, datasets)
        yield from _mined(name, mined, config)


def definition_mistakes(model: str, own: Json, config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Mistakes in a definition; `own` is what it says itself, without the global sections."""
    # A mistake in a global section shows in every definition, so it is reported under that section.
    at = {key: f"definitions.{model}.{key}" if key in own else key for key in OVERRIDABLE}
    definition, training = config.definitions[model], config.definitions[model].training
    vectors = training.initial_vectors
    yield from _corpora(f"definitions.{model}.corpora", definition, config, datasets)
    yield from _data(model, at, own, definition, datasets)
    yield from _selection(at["selection"], definition, config, datasets)
    yield from _encoder(at, definition)
    yield from _training(at["training"], definition)
    yield from _choice(at["choose_by"], definition, config)
    yield from _dataset(f"{at['training']}.initial_vectors", vectors, datasets, ("vectors", "file"))
    for key, teacher in (("distil", training.distil), ("teacher", training.teacher)):
        yield from _teacher(f"{at['training']}.{key}", teacher, model, config) if teacher else ()


def _dataset(
    key: str, name: str | None, datasets: Datasets, kinds: Iterable[str], listed: Iterable[str] = ()
) -> Iterator[str]:
    """Mistakes in the name of a data set of one of these kinds; the user may mean one of those `listed`."""
    if name is not None and name not in datasets:
        where = f"the registry of data sets{' or in the list of OPUS' if listed else ''}"
        yield f"{key}: {name!r} is not in {where}{did_you_mean(name, [*listed, *datasets])}"
    elif name is not None and datasets[name].kind not in kinds:
        yield f"{key}: {name!r} is of kind {datasets[name].kind!r}, not {' or '.join(kinds)}"


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
    model: str, at: Mapping[str, str], own: Json, definition: Definition, datasets: Datasets
) -> Iterator[str]:
    """What does not suit a definition's data: none or two of them, or settings of other corpora."""
    key, names = f"definitions.{model}.corpora", definition.names
    if (definition.dataset is None) == (not names):
        yield f"{key}: {'cannot be given together with dataset' if names else 'is missing'}"
    for name, path in vars(definition.dataset).items() if definition.dataset else ():
        yield from path_mistakes(f"definitions.{model}.dataset.{name}", path)
    texts = [name for name in names if name in datasets and datasets[name].kind == "text"]
    if texts and len(texts) == len(names) and definition.is_trained:
        yield f"{at['training']}.epochs: {texts[0]} has no pairs to train on; set epochs to 0, or add pairs"
    for section in ("max_pairs", "weights"):
        for name, value in getattr(definition, section).items():
            yield from _dataset(at[section], name, datasets, CORPUS_KINDS)
            # A global value, or null, is for whatever definition has the corpus.
            stated = name in own.get(section, {}) and value is not None
            if stated and name in datasets and name not in names:
                yield f"{at[section]}: {name!r} is not one of this model's corpora"
    if definition.architecture.separate and len(definition.languages) == 2:
        for name in {*texts, *_corpora_of("paraphrase", definition, datasets)}:
            yield f"{key}: {name!r} has no translations, which separate languages need"


def _selection(at: str, definition: Definition, config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Filters that need a score or an identifier that there is not."""
    paraphrase, identifier = definition.selection.paraphrase, config.language_id
    for kind, filters in (("bitext", definition.selection.bitext), ("paraphrase", paraphrase)):
        if filters.language and _corpora_of(kind, definition, datasets):
            dataset = datasets.get(identifier or "")
            known = dataset is not None and dataset.kind == "fasttext"
            unknown = [code for code in definition.languages if known and not labels_of(code)]
            if identifier is None or unknown:
                why = f"{identifier} does not know {unknown[0]!r}" if unknown else "language_id is null"
                yield f"{at}.{kind}.language: {why}; set this filter to null"
    needed = {"paraphrase_score": "paraphrase_score"} if paraphrase.paraphrase_score else {}
    if paraphrase.rank and paraphrase.rank.by != "trigram_overlap":
        needed["rank.by"] = paraphrase.rank.by
    for key, score in needed.items():
        for name in _corpora_of("paraphrase", definition, datasets):
            kind_, mined = KINDS.get(datasets[name].kind), config.mined.get(name)
            translated = mined and mined.translator and score == "translation_score"
            if not translated and not (kind_ and score in kind_.scores):
                yield f"{at}.paraphrase.{key}: {name!r} has no {score.replace('_', ' ')} of its own"


def _corpora_of(kind: str, definition: Definition, datasets: Datasets) -> list[str]:
    """The corpora that this section of the selection applies to."""
    names = []
    for name in definition.names:
        try:
            pairs = pairs_of(definition, name, datasets)
        except (KeyError, InputError):
            # Such a corpus is reported under `corpora`.
            continue
        kinds = {"bitext"} if datasets[name].kind == "text" else {*map(selection_kind, pairs)}
        names += [name] if kind in kinds else []
    return names


def _encoder(at: Mapping[str, str], definition: Definition) -> Iterator[str]:
    """Settings for an LSTM, a Transformer or two languages where there are none."""
    encoder, training, vocabulary = definition.encoder, definition.training, definition.vocabulary
    parts, transformer = encoder.parts, encoder.transformer
    if transformer:
        yield from place_mistakes(f"{at['encoder']}.transformer", transformer)
        for key in ("initial_vectors", "initial_vectors_penalty", "composition_penalty", "teacher", "distil"):
            if getattr(training, key):
                yield f"{at['training']}.{key}: is not for a transformer"
    sizes = [part.dimension or training.dimension for part in parts]
    recurrent = any(part.kind == "average" and (part.pooling == "max" or part.peepholes) for part in parts)
    halves = [(part, size) for part, size in zip(parts, sizes, strict=True) if part.directions != "average"]
    split = any(part.kind != "bilstm" or size % 2 for part, size in halves)
    last = encoder.pooling == "lstm_last"
    faults = {
        "transformer: does not go together with parts": transformer
        and [part.kind for part in parts] != ["average"],
        "lstm_size: it and the pooling lstm_last need each other": last != bool(encoder.lstm_size),
        "pooling: is for a transformer, which is null": not transformer and encoder.pooling != "mean",
        "parts: the pooling max and peepholes are for lstm and bilstm": recurrent,
        "parts: only a bilstm of an even dimension has directions to concatenate": split,
        "combine: vectors of several dimensions cannot be added": encoder.combine == "add"
        and len({*sizes}) > 1,
    }
    yield from (f"{at['encoder']}.{fault}" for fault, is_there in faults.items() if is_there)
    for section, sharing in (("encoder", encoder.languages), ("vocabulary", vocabulary.languages)):
        if sharing != "shared" and (len(definition.languages) != 2 or transformer):
            yield f"{at[section]}.languages: {sharing} is for two languages, and not for a transformer"
    for unit in {*definition.architecture.units} - {"subword", "tokens"}:
        if vocabulary.of_unit(unit).unknown == "spellings":
            yield f"{at['vocabulary']}.unknown: spellings is for subwords, not for {unit}s"
    if vocabulary.only_initial_vectors and training.initial_vectors is None:
        yield f"{at['vocabulary']}.only_initial_vectors: needs training.initial_vectors, which is null"


def _training(at: str, definition: Definition) -> Iterator[str]:
    """Settings of training that do not go together, or that an engine does not know."""
    training, architecture = definition.training, definition.architecture
    lazy, transformer = training.optimizer == "lazy_adam", architecture.transformer
    fused, pieces = training.engine == "fused" or lazy, definition.vocabulary.size
    joined = (training.trained_dimension or training.dimension) * (1 + len(training.coarser))
    subwords = architecture.averaged and architecture.units == ("subword",) and not architecture.separate
    alone = training.distil or training.teacher or training.initial_vectors or training.early_stopping
    vectors, penalty = training.initial_vectors, training.initial_vectors_penalty
    only_autograd = training.only_autograd + (["initial_vectors_penalty"] if penalty else [])
    faults = {
        "engine: fused, which lazy_adam needs, trains one averaged part": fused and not architecture.averaged,
        f"{' and '.join(only_autograd)}: needs the engine autograd": fused and only_autograd,
        "optimizer: lazy_adam is for the engine fused": lazy and training.engine == "autograd",
        "init: is for embeddings, not for a transformer": transformer and training.init != "random",
        "gradient_checkpointing: is for a transformer": training.gradient_checkpointing and not transformer,
        "weight_decay: is for the optimizer adamw": training.weight_decay and training.optimizer != "adamw",
        "initial_vectors: is for words": vectors and "word" not in architecture.units,
        "initial_vectors_penalty: needs initial_vectors, which is null": penalty and not vectors,
        "composition_penalty: is for LSTMs": training.composition_penalty and not architecture.recurrent,
        "distil: it and the loss cosines need each other": bool(training.distil)
        != (training.loss == "cosines"),
        "teacher: it and init: teacher need each other": bool(training.teacher)
        != (training.init == "teacher"),
        "soup: does not go with early_stopping": training.soup > 1 and training.early_stopping,
        "trained_dimension: is for coarser": training.trained_dimension and not training.coarser,
        f"trained_dimension: the tables do not make one of {training.dimension:,}": joined
        < training.dimension,
        "coarser: is for an average of shared subwords": training.coarser and not subwords,
        "coarser: goes with no teacher, initial vectors or early_stopping": training.coarser and alone,
        "coarser: has more pieces than the vocabulary": max(training.coarser, default=0) >= pieces,
    }
    yield from (f"{at}.{fault}" for fault, is_there in faults.items() if is_there)


def _choice(at: str, definition: Definition, config: Configuration) -> Iterator[str]:
    """No measure by which a run can be chosen, or training stop."""
    there = {
        "held_out": definition.held_out is not None and not definition.dataset,
        "sts2017": "en" in definition.languages and config.evaluation.sts is not None,
    }
    needed = len(definition.runs) > 1 or definition.training.early_stopping
    if needed and not any(there[name] for name in there if definition.choose_by in ("mean", name)):
        why = "held_out needs `held_out` and corpora, and sts2017 needs English and `evaluation.sts`"
        yield f"{at}: {definition.choose_by} cannot be measured, so no run can be chosen: {why}"


def _teacher(at: str, teacher: str, model: str, config: Configuration) -> Iterator[str]:
    named = (*config.systems, *config.definitions)
    if teacher in config.definitions:
        if path_of_needs(config, ("definitions", teacher), ("definitions", model)):
            yield f"{at}: {teacher!r} cannot teach {model!r}, because it depends on it"
    elif "/" in teacher and at.endswith(".teacher"):
        yield from place_mistakes(at, teacher)
    elif teacher not in named:
        yield f"{at}: {teacher!r} is neither a definition nor one of systems{did_you_mean(teacher, named)}"


def _mined(name: str, mined: Mined, config: Configuration) -> Iterator[str]:
    """Mistakes in what makes a mined corpus."""
    at, encoder = f"mined.{name}.encoder", mined.encoder
    if mined.translator:
        yield from place_mistakes(f"mined.{name}.translator.model", mined.translator.model)
    elif not isinstance(encoder, str):
        yield from _place(at, encoder) if encoder else ()
    elif encoder not in config.definitions:
        yield f"{at}: {undefined(encoder, config.definitions)}; others are given as {{path: …}}"
    elif needs := path_of_needs(config, ("definitions", encoder), ("mined", name)):
        yield f"{at}: {encoder!r} depends on the corpus: {' needs '.join(needed for _, needed in needs)}"
    elif unknown := {*mined.languages} - {*config.definitions[encoder].languages}:
        yield f"{at}: {encoder!r} does not know {' and '.join(sorted(unknown))}"


def _place(at: str, system: OtherEncoder) -> Iterator[str]:
    if system.path:
        yield from path_mistakes(f"{at}.path", system.path, folder=True)
    else:
        yield from place_mistakes(f"{at}.{system.kind}", system.place)


def _testsets(config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Data sets of the wrong kind, or without the languages that are asked for."""
    evaluation, contamination = config.evaluation, config.contamination
    names = {f"evaluation.{task}": getattr(evaluation, task) for task in ("sts", "probes", "senteval")}
    for key, section in (
        ("evaluation.polish", evaluation.polish),
        ("contamination.testsets", contamination.testsets),
    ):
        names |= {f"{key}.{task}": name for task, name in (vars(section) if section else {}).items()}
    for task, chosen in (("tatoeba", evaluation.tatoeba), ("bucc", evaluation.bucc)):
        names[f"evaluation.{task}.testsets"] = chosen.testsets if chosen else None
        if chosen and chosen.testsets in datasets:
            pairs = [{*pair} for pair in datasets[chosen.testsets].pairs]
            for part in getattr(chosen, "languages" if task == "tatoeba" else "pairs") or ():
                if {*part.split("-"), *(["en"] if task == "tatoeba" else [])} not in pairs:
                    yield f"evaluation.{task}: {chosen.testsets!r} has nothing in {part!r}"
    for key, name in names.items():
        yield from _dataset(key, name, datasets, ("sts", "file") if key.endswith(".sts") else ("file",))
    if contamination.drop == "near" and contamination.near_duplicates is None:
        yield "contamination.drop: near needs contamination.near_duplicates, which is null"
