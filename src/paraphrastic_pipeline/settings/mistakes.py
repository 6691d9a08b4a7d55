"""Mistakes that no single setting shows and that would cost a person an hour, each on one line."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic_pipeline.base.errors import did_you_mean
from paraphrastic_pipeline.registry.datasets import CORPUS_KINDS, KINDS
from paraphrastic_pipeline.registry.language_labels import labels_of
from paraphrastic_pipeline.registry.opus import list_command, read_list
from paraphrastic_pipeline.settings.datasets import Datasets, Entry, needed, needs, pairs_of, selection_kind
from paraphrastic_pipeline.settings.definitions import OVERRIDABLE, undefined
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.settings.sections.corpora import FileCorpus, Mined, looks_like_a_path

# A setting, whether it is wrong, and why.
Row = tuple[str, Any, str]


def mistakes(config: Configuration, registry: Datasets, datasets: Datasets) -> Iterator[str]:
    """Mistakes in a complete configuration, besides those in its definitions."""
    definitions = config.definitions
    models = {"models": config.models, "language_choice.models": config.language_choice.models}
    models["evaluation.retrieval"] = config.evaluation.retrieval or []
    for key, named in models.items():
        yield from (f"{key}: {undefined(name, definitions)}" for name in named if name not in definitions)
    of_models = {each for model in definitions for each in (model, f"{model}-untrained")}
    for section, own, taken in (("systems", config.systems, of_models), ("mined", config.mined, registry)):
        for name in own.keys() & {*taken}:
            yield f"{section}.{name}: the name is taken: give it another one"
    yield from _files(config, registry)
    yield from _testsets(config, datasets)
    for key, of_corpora in vars(config.extraction).items():
        for name in of_corpora:
            yield from _dataset(f"extraction.{key}", name, datasets, CORPUS_KINDS)
    for name, (low, high) in config.extraction.score_range.items():
        if low >= high:
            yield f"extraction.score_range.{name}: {low:g} is not below {high:g}"
    for name, mined in config.mined.items():
        yield from _corpora(f"mined.{name}.corpora", mined, config, datasets)
        encoder = mined.encoder if isinstance(mined.encoder, str) else None
        if encoder and encoder not in definitions:
            yield f"mined.{name}.encoder: {undefined(encoder, definitions)}; others are given as {{path: …}}"
        elif encoder and (unknown := {*mined.languages} - {*definitions[encoder].languages}):
            yield f"mined.{name}.encoder: {encoder!r} does not know {' and '.join(sorted(unknown))}"
    for needy, entry in needed(config, (("definitions", model) for model in definitions)).items():
        if needy in (circle := needed(config, needs(config, entry))):
            yield f"{'.'.join(needy)}: needs itself, by way of {', '.join(name for _, name in circle)}"
            break


def definition_mistakes(model: str, own: Json, config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Mistakes in a definition; `own` is what it says itself, without the global sections."""
    definition, at = config.definitions[model], f"definitions.{model}"
    # A mistake in a global section shows in every definition, so it is reported under that section.
    place = {key: f"{at}.{key}" if key in own else key for key in OVERRIDABLE}
    training, named = definition.training, (*config.systems, *config.definitions)
    yield from _corpora(f"{at}.corpora", definition, config, datasets)
    for section in ("max_pairs", "weights"):
        for name in getattr(definition, section):
            yield from _dataset(place[section], name, datasets, CORPUS_KINDS)
    at_vectors, vectors = f"{place['training']}.initial_vectors", training.initial_vectors
    yield from _dataset(at_vectors, vectors, datasets, ("vectors", "file"))
    if (teacher := training.teacher) and teacher not in named:
        hint = did_you_mean(teacher, named)
        yield f"{place['training']}.teacher: {teacher!r} is neither a definition nor one of systems{hint}"
    for key, is_wrong, why in (*_data(definition, config, datasets), *_model(definition)):
        if is_wrong:
            section, _, setting = key.partition(".")
            yield ".".join(filter(None, (place.get(section, f"{at}.{section}"), setting))) + f": {why}"


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
    """Data sets for evaluation and language identification that are unknown, or not of the right kind."""
    evaluation, searched = config.evaluation, vars(config.contamination.testsets)
    names = {f"evaluation.{task}": getattr(evaluation, task) for task in ("sts", "senteval")}
    names |= {f"evaluation.polish.{task}": name for task, name in (evaluation.polish or {}).items()}
    names |= {f"contamination.testsets.{task}": name for task, name in searched.items()}
    names |= {"language_id": config.language_id, "language_choice.uriel": config.language_choice.uriel}
    for task in ("tatoeba", "bucc"):
        names[f"evaluation.{task}.testsets"] = getattr(getattr(evaluation, task), "testsets", None)
    for task, name in searched.items():
        evaluated = names.get(f"evaluation.{task}.testsets") or names.get(f"evaluation.{task}")
        if name and evaluated and name != evaluated:
            yield f"contamination.testsets.{task}: {name!r} is not the data set of evaluation.{task}"
    kinds = {"sts": "sts", "language_id": "fasttext", "uriel": "uriel"}
    for key, name in names.items():
        yield from _dataset(key, name, datasets, {"file", kinds.get(key.rpartition(".")[2], "file")})


def _files(config: Configuration, registry: Datasets) -> Iterator[str]:
    """Files in other languages than their definition's, and names that several files have."""
    known: dict[Any, Any] = dict.fromkeys((*registry, *config.mined))
    entries: list[tuple[str, Entry]] = []
    entries += ((f"definitions.{name}", entry) for name, entry in config.definitions.items())
    entries += ((f"mined.{name}", entry) for name, entry in config.mined.items())
    for at, entry in entries:
        for number, file in enumerate(entry.corpora):
            if not isinstance(file, FileCorpus):
                continue
            codes, name = file.languages or [], file.name or ""
            if not codes or {*codes} - {*entry.languages} or (file.kind == "text" and len(codes) > 1):
                why = f"{codes} should be one or two of {', '.join(entry.languages)}, and one for text"
                yield f"{at}.corpora.{number}.languages: {why}"
            # A file may have several pairs of languages, but each in one order for all definitions.
            same = (file.path, file.target, file.kind, file.columns)
            facts = {name: same, (type(entry), name, *sorted(codes)): codes}
            another = any(known.setdefault(*fact) != fact[1] for fact in facts.items())
            if another or entry.names.count(name) > 1:
                yield f"{at}.corpora.{number}.name: {name!r} is another corpus, too, or has another order"


def _corpora(at: str, entry: Entry, config: Configuration, datasets: Datasets) -> Iterator[str]:
    """Corpora that are unknown, or have nothing in the languages of a definition."""
    lists = {pair: read_list(pair) for pair in combinations(entry.languages, 2)}
    listed = {name: corpus for entries in lists.values() for name, corpus in (entries or {}).items()}
    unlisted = next((pair for pair, entries in lists.items() if entries is None), None)
    of_opus = {name for name in listed.keys() & datasets if listed[name].file() in datasets[name].files}
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
            if not faults and isinstance(entry, Mined):
                datasets[name].select(tuple(entry.languages))
            elif not faults and pairs_of(entry, name, datasets) and unlisted and name in of_opus:
                # Which pairs of languages such a corpus has is known only from all lists.
                faults = [f"{at}: {name!r}: OPUS's list of {'-'.join(unlisted)} is missing"]
        except InputError as error:
            faults = [f"{at}: {error}"]
        yield from (fault + hint for fault in faults)


def _data(definition: Definition, config: Configuration, datasets: Datasets) -> Iterator[Row]:
    """Settings that do not suit the data of a definition."""
    names, training, filters = definition.names, definition.training, definition.selection
    texts = [name for name in names if name in datasets and datasets[name].kind == "text"]
    kinds: dict[str, set[str]] = {name: {"bitext"} if name in texts else set() for name in names}
    for name in {*names} & datasets.keys() - {*texts}:
        # A corpus without the definition's languages is told of above.
        with suppress(InputError):
            kinds[name] = {*map(selection_kind, pairs_of(definition, name, datasets))}
    if definition.architecture.separate and len(definition.languages) == 2:
        alone = [name for name in names if name in texts or "paraphrase" in kinds[name]]
        yield "corpora", alone, f"{alone} has no translations, which separate languages need"
    identifier = datasets.get(config.language_id or "")
    known = identifier and (identifier.kind != "fasttext" or all(map(labels_of, definition.languages)))
    why = f"language_id ({config.language_id}) does not know all of {definition.languages}: set this to null"
    for kind, section in (("bitext", filters.bitext), ("paraphrase", filters.paraphrase)):
        needed_here = section.language and any(kind in each for each in kinds.values())
        yield f"selection.{kind}.language", needed_here and not known, why
    rank = filters.paraphrase.rank
    by = rank.by if rank else "trigram_overlap"
    for name in (name for name in names if "paraphrase" in kinds[name]):
        of_kind, mined = KINDS.get(datasets[name].kind), config.mined.get(name)
        has = of_kind.scores if of_kind else ("translation_score",) if mined and mined.translator else ()
        lacks = by not in (*has, "trigram_overlap")
        yield "selection.paraphrase.rank.by", lacks, f"{name!r} has no {by} of its own"
    held_out, sts = definition.held_out and names, "en" in definition.languages and config.evaluation.sts
    measured = {"held_out": held_out, "sts2017": sts, "mean": held_out or sts}[definition.choose_by]
    chosen = len(definition.runs) > 1 or training.early_stopping
    why = "cannot be measured: there are neither held-out pairs nor STS in English"
    yield "choose_by", chosen and not measured, why


def _model(definition: Definition) -> Iterator[Row]:
    """Settings of a model that do not go together."""
    training, encoder, architecture = definition.training, definition.encoder, definition.architecture
    transformer, whole = architecture.transformer, "is for two languages, and not for a transformer"
    for section, sharing in (("encoder", encoder.languages), ("vocabulary", definition.vocabulary.languages)):
        alone = transformer or len(definition.languages) != 2
        yield f"{section}.languages", alone and sharing != "shared", f"{sharing} {whole}"
    others = len(encoder.parts) > 1 or encoder.parts[0].kind != "average" or training.init != "random"
    yield "encoder.transformer", transformer and (others or training.soup > 1), "has no parts, init or soup"
