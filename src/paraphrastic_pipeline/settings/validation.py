"""Errors in a configuration that its schema cannot find, each on one line with the path of the key."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import combinations
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.errors import did_you_mean
from paraphrastic_pipeline.registry.datasets import CORPUS_KINDS, KINDS
from paraphrastic_pipeline.registry.language_labels import labels_of
from paraphrastic_pipeline.registry.opus import list_command, read_list
from paraphrastic_pipeline.settings.data_errors import Registry, dataset_errors, testset_errors
from paraphrastic_pipeline.settings.declared import as_json
from paraphrastic_pipeline.settings.definitions import (
    OVERRIDABLE,
    pairs_of,
    path_of_needs,
    selection_kind,
    undefined,
)
from paraphrastic_pipeline.settings.encoders import architecture_errors
from paraphrastic_pipeline.settings.local_files import looks_like_a_path, path_errors, place_errors
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.corpora import Mined
from paraphrastic_pipeline.settings.sections.selection import (
    BitextSelection,
    LengthFilter,
    ParaphraseSelection,
    Rank,
    Span,
)
from paraphrastic_pipeline.settings.system_kinds import name_errors, published_errors, system_errors

LANGUAGE_ID_KINDS = ("fasttext", "file")
VECTOR_KINDS = ("vectors", "file")


def semantic_errors(config: Configuration, written: Mapping[str, Json], registry: Registry) -> Iterator[str]:
    """Errors in a completed configuration; `written` holds the definitions before completion."""
    mirror = config.mirror
    if mirror is not None and not re.match("https?://[^/]", mirror) and not Path(mirror).is_dir():
        yield f"mirror: {mirror!r} is neither a folder nor an http(s) address"
    for model in config.models:
        if model not in written:
            yield f"models: {undefined(model, written)}"
    yield from dataset_errors("language_id", config.language_id, registry, LANGUAGE_ID_KINDS)
    for name, mined in config.mined.items():
        yield from _corpora_errors(f"mined.{name}.corpora", mined, registry, mirror, bitext=True)
        yield from _mining_encoder_errors(name, config)
    yield from _language_choice_errors(config, registry)
    yield from testset_errors(config, registry)
    for name, system in config.systems.items():
        yield from system_errors(f"systems.{name}", system)
    yield from name_errors(config)
    yield from published_errors(config)
    for model, definition in config.definitions.items():
        # An error in a global section shows up in every definition, so report it under that section.
        path = {key: f"definitions.{model}.{key}" if key in written[model] else key for key in OVERRIDABLE}
        yield from _data_errors(f"definitions.{model}", definition)
        yield from _corpora_errors(f"definitions.{model}.corpora", definition, registry, mirror)
        yield from architecture_errors(path, definition)
        training, at = definition.training, path["training"]
        if training.weight_decay > 0 and training.optimizer != "adamw":
            yield f"{at}.weight_decay: is for the optimizer adamw, not for {training.optimizer}"
        yield from _teacher_errors(model, at, definition, config)
        texts = _texts(definition, registry)
        if texts and len(texts) == len(definition.corpora) and definition.is_trained:
            yield (
                f"{at}.epochs: there are no pairs to train on in {' and '.join(map(repr, texts))}; set "
                "epochs to 0, so that the model remains what it begins as, or add a corpus of pairs"
            )
        vectors = training.initial_vectors
        yield from dataset_errors(f"{at}.initial_vectors", vectors, registry, VECTOR_KINDS)
        for key in ("max_pairs", "weights"):
            of_corpus: Mapping[str, float | None] = getattr(definition, key)
            of_model = written[model].get(key, {})
            for name in of_corpus:
                yield from dataset_errors(path[key], name, registry, CORPUS_KINDS)
            # A further configuration file can change the corpora, and then only take back a value by null.
            stated = {name for name in of_model if of_corpus.get(name) is not None} & set(registry)
            for name in sorted({name for name in stated if key == "weights"} & set(texts)):
                yield f"{path[key]}: {name!r} has no pairs that could be repeated"
            for name in sorted(stated - set(definition.corpora)):
                yield f"{path[key]}: {name!r} is not one of this model's corpora"
        yield from _choice_errors(path["choose_by"], definition, config)
        yield from _selection_errors(path["selection"], definition, config, registry)
        if definition.architecture.separate and len(definition.languages) == 2:
            kinds = {"paraphrases": _corpora_of_kind("paraphrase", definition, registry)}
            for what, names in {**kinds, "sentences without pairs": texts}.items():
                for name in names:
                    why = f"has {what}, which suit only models whose languages share everything"
                    yield f"definitions.{model}.corpora: {name!r} {why}"


def _data_errors(key: str, definition: Definition) -> Iterator[str]:
    """Errors in a definition's `dataset`, or its lack of both corpora and `dataset`."""
    files = definition.dataset
    if files is None:
        if not definition.corpora:
            yield f"{key}.corpora: is missing"
        return
    if definition.corpora:
        yield f"{key}.dataset: cannot be given together with corpora; remove one of them"
    for name, path in as_json(files).items():
        yield from path_errors(f"{key}.dataset.{name}", path)
    architecture = definition.architecture
    if architecture.units != ("subword",) or architecture.separate:
        yield f"{key}.dataset: holds subwords that the languages share, not those of {architecture.name}"


def _corpora_errors(
    path: str, definition: Definition | Mined, registry: Registry, mirror: str | None, *, bitext: bool = False
) -> Iterator[str]:
    """Errors in corpora that a definition names, which must all have translations if `bitext` is set."""
    lists = {pair: read_list(pair) for pair in combinations(definition.languages, 2)}
    listed = {name: corpus for entries in lists.values() for name, corpus in (entries or {}).items()}
    unlisted = next((pair for pair, entries in lists.items() if entries is None), None)
    for name in definition.corpora:
        errors = list(dataset_errors(path, name, registry, CORPUS_KINDS, listed))
        in_opus = name not in registry or registry[name].kind == "opus"
        if not errors:
            try:
                if bitext:
                    registry[name].select(tuple(definition.languages))
                pairs_of(definition, name, registry)
                # Which pairs of languages such a corpus has is known only if all of OPUS's lists are there.
                if not (unlisted and name in listed and listed[name].file() in registry[name].files):
                    continue
                errors = [f"{path}: {name!r}: OPUS's list of {'-'.join(unlisted)} is missing"]
            except InputError as error:
                errors = [f"{path}: {error}"]
        hint = ""
        if name not in registry and looks_like_a_path(name):
            hint = f"; a file is given as {{path: {name}}}"
        elif unlisted and in_opus:
            hint = f"; to use corpora of OPUS, list them first: {list_command(unlisted, mirror)}"
        elif same := next((other for other in listed or () if other.lower() == name.lower()), None):
            hint = f"; OPUS has it as {same!r}"
        yield from (error + hint for error in errors)


def _mining_encoder_errors(name: str, config: Configuration) -> Iterator[str]:
    """Errors in the encoder of a mined corpus."""
    mined, definitions = config.mined[name], config.definitions
    encoder, at = mined.encoder, f"mined.{name}.encoder"
    if (encoder is None) == (mined.translator is None):
        yield f"mined.{name}: needs either an encoder or a translator"
    elif mined.translator:
        yield from place_errors(f"mined.{name}.translator.model", mined.translator.model)
    elif not isinstance(encoder, str):
        for key, place in as_json(encoder).items():
            errors = path_errors(f"{at}.path", place, folder=True) if key == "path" else None
            yield from errors or place_errors(f"{at}.{key}", place)
    elif encoder not in definitions:
        others = "other models are given as {path: …} or {sentence_transformers: …}"
        hint = did_you_mean(encoder, definitions, otherwise=others)
        yield f"{at}: {encoder!r} is not described under definitions{hint}"
    elif needs := path_of_needs(config, ("definitions", encoder), ("mined", name)):
        told = " needs ".join(needed for _, needed in needs)
        yield f"{at}: {encoder!r} depends on the corpus that it is meant to mine: {told}"
    elif unknown := [code for code in mined.languages if code not in definitions[encoder].languages]:
        known = " and ".join(definitions[encoder].languages)
        yield f"{at}: {encoder!r} is a model of {known}, and does not know {' and '.join(unknown)}"


def _choice_errors(path: str, definition: Definition, config: Configuration) -> Iterator[str]:
    """Errors about the measure by which runs are chosen, or training stops, if the model has none such."""
    if len(definition.runs) < 2 and not definition.training.early_stopping:
        return
    measures = {
        "held_out": definition.held_out is not None and not definition.dataset,
        "sts2017": "en" in definition.languages and config.evaluation.sts is not None,
    }
    if not any(there for name, there in measures.items() if definition.choose_by in ("mean", name)):
        yield (
            f"{path}: {definition.choose_by} cannot be measured for {'-'.join(definition.languages)}, so no "
            "run can be chosen and training cannot stop early: held_out needs `held_out` and corpora, and "
            "sts2017 needs English and `evaluation.sts`"
        )


def _teacher_errors(model: str, path: str, definition: Definition, config: Configuration) -> Iterator[str]:
    """Errors in the teachers of a definition, in the section `path`."""
    training = definition.training
    for key, teacher, setting, wanted in (
        ("distil", training.distil, ("the loss", training.loss), "cosines"),
        ("teacher", training.teacher, ("init:", training.init), "teacher"),
    ):
        at = f"{path}.{key}"
        if (teacher is None) != (setting[1] != wanted):
            needed = f"{setting[0]} {wanted}"
            yield f"{at}: a teacher and {needed} need each other; they are {teacher!r} and {setting[1]}"
        if teacher is None:
            continue
        named = [*config.systems, *config.definitions]
        if teacher in config.definitions and path_of_needs(
            config, ("definitions", teacher), ("definitions", model)
        ):
            yield f"{at}: {teacher!r} cannot teach {model!r}, because it depends on it"
        elif key == "teacher" and teacher not in named and "/" in teacher:
            yield from place_errors(at, teacher)
        elif teacher not in named:
            hint = did_you_mean(teacher, named, otherwise="others are named under systems first")
            yield f"{at}: {teacher!r} is neither a definition nor one of systems{hint}"
        if definition.encoder.transformer is not None:
            yield f"{at}: is for averages and LSTMs, not for a transformer"
        if definition.dataset is not None:
            yield f"{at}: needs sentences to embed, but {model!r} has a dataset"


def _selection_errors(
    path: str, definition: Definition, config: Configuration, registry: Registry
) -> Iterator[str]:
    for kind in ("bitext", "paraphrase"):
        filters: BitextSelection = getattr(definition.selection, kind)
        for field in fields(filters):
            allowed = getattr(filters, field.name)
            if isinstance(allowed, LengthFilter | Span | Rank) and allowed.min > allowed.max:
                yield f"{path}.{kind}.{field.name}: min {allowed.min} is more than max {allowed.max}"
        if not (corpora := _corpora_of_kind(kind, definition, registry)):
            continue
        if filters.language:
            yield from _language_errors(f"{path}.{kind}.language", definition.languages, config, registry)
        if not isinstance(filters, ParaphraseSelection):
            continue
        if filters.paraphrase_score:
            at = f"{path}.{kind}.paraphrase_score"
            yield from _score_errors(at, "paraphrase_score", corpora, config, registry)
        rank = filters.rank
        if rank and rank.min == rank.max:
            yield f"{path}.{kind}.rank: no pair has a rank from {rank.min} to {rank.max}"
        if rank and rank.by != "trigram_overlap":
            yield from _score_errors(f"{path}.{kind}.rank.by", rank.by, corpora, config, registry)


def _language_errors(
    key: str, languages: Iterable[str], config: Configuration, registry: Registry
) -> Iterator[str]:
    """Errors in a filter by language, for which there has to be an identifier that knows the languages."""
    name = config.language_id
    if name is None:
        yield f"{key}: needs language_id, which is null"
    elif name in registry and registry[name].kind == "fasttext":
        for language in languages:
            if not labels_of(language):
                yield (
                    f"{key}: {name} does not know {language!r}, as it has no label for it; set this filter "
                    "to null, or name an identifier that knows the language under language_id"
                )


def _texts(definition: Definition, registry: Registry) -> list[str]:
    """The corpora of sentences without pairs."""
    return [name for name in definition.corpora if name in registry and registry[name].kind == "text"]


def _corpora_of_kind(kind: str, definition: Definition, registry: Registry) -> list[str]:
    """The corpora that this section of the selection applies to."""
    names = []
    for name in definition.corpora:
        pairs: Sequence[Sequence[str]]
        try:
            pairs = pairs_of(definition, name, registry)
        except (KeyError, InputError):
            # Such a corpus is an error that is reported under `corpora`.
            pairs = [definition.languages]
        is_text = name in registry and registry[name].kind == "text"
        names += [name for pair in pairs if ("bitext" if is_text else selection_kind(pair)) == kind]
    return names


def _score_errors(
    path: str, score: str, corpora: Iterable[str], config: Configuration, registry: Registry
) -> Iterator[str]:
    """Errors for corpora that lack a score."""
    for name in corpora:
        kind = KINDS.get(registry[name].kind) if name in registry else None
        translated = name in config.mined and config.mined[name].translator
        if score == "translation_score" and translated:
            continue
        if name in registry and not (kind and score in kind.scores):
            yield f"{path}: {name!r} has no {score.replace('_', ' ')} of its own"


def _language_choice_errors(config: Configuration, registry: Registry) -> Iterator[str]:
    study = config.language_choice
    yield from dataset_errors("language_choice.uriel", study.uriel, registry, ("uriel",))
    models: dict[str, str] = {}
    for number, model in enumerate(study.models):
        at = f"language_choice.models.{number}: {model!r}"
        definition = config.definitions[model]
        languages = definition.languages
        if len(languages) != 2 or "en" not in languages:
            known = " and ".join(languages)
            yield f"{at} is a model of {known}; a model of English and another language is needed"
            continue
        (other,) = set(languages) - {"en"}
        if other in models:
            yield f"{at} and {models[other]!r} are both models of {other}; give each language once"
        models.setdefault(other, model)
        if study.prefixed and definition.architecture.tables == "separate":
            yield f"{at} shares nothing between its languages, so a prefix would change nothing"
