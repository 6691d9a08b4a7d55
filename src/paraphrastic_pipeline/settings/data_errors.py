"""Errors in the data sets that a configuration names, besides the corpora of its models."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from paraphrastic_pipeline.base.errors import did_you_mean
from paraphrastic_pipeline.registry.datasets import Dataset
from paraphrastic_pipeline.registry.opus import OpusCorpus
from paraphrastic_pipeline.settings.declared import as_json
from paraphrastic_pipeline.settings.definitions import undefined
from paraphrastic_pipeline.settings.sections.configuration import Configuration
from paraphrastic_pipeline.settings.sections.evaluation import Bucc, Tatoeba

Registry = Mapping[str, Dataset]

# Data sets of one file by their keys, and what the file is.
_ONE_FILE = {
    "evaluation.senteval": "one archive",
    "evaluation.probes": "one table",
    "contamination.testsets.senteval": "one archive",
}


def dataset_errors(
    key: str,
    name: str | None,
    registry: Registry,
    kinds: Iterable[str],
    listed: Mapping[str, OpusCorpus] | None = None,
) -> Iterator[str]:
    """Errors in the name of a data set, which must have one of these kinds or be None.

    `listed` holds corpora of OPUS that the user may have meant.
    """
    if name is None:
        return
    if name not in registry:
        where = "the registry of data sets" + (" or in OPUS's list" if listed else "")
        yield f"{key}: {name!r} is not in {where}{did_you_mean(name, [*(listed or ()), *registry])}"
    elif registry[name].kind not in kinds:
        yield f"{key}: {name!r} is of kind {registry[name].kind!r}, not {' or '.join(kinds)}"


def testset_errors(config: Configuration, registry: Registry) -> Iterator[str]:
    """Errors in the data sets for evaluation and for the contamination check."""
    evaluation, contamination = config.evaluation, config.contamination
    names = {f"evaluation.{task}": getattr(evaluation, task) for task in ("sts", "probes", "senteval")}
    names |= {f"evaluation.polish.{task}": name for task, name in (as_json(evaluation.polish) or {}).items()}
    names |= {
        f"contamination.testsets.{task}": name for task, name in as_json(contamination.testsets).items()
    }
    for key, name in names.items():
        kinds = ("sts", "file") if key.endswith(".sts") else ("file",)
        yield from dataset_errors(key, name, registry, kinds)
    for task, check in (("tatoeba", _tatoeba_errors), ("bucc", _bucc_errors)):
        settings: Tatoeba | Bucc | None = getattr(evaluation, task)
        if settings is not None:
            key, name = f"evaluation.{task}", settings.testsets
            unnamed = list(dataset_errors(f"{key}.testsets", name, registry, ("file",)))
            yield from unnamed or check(key, settings, registry[name])
    for key, wanted in _ONE_FILE.items():
        name = names[key]
        if name in registry and len(registry[name].files) != 1:
            yield f"{key}: {name!r} has {len(registry[name].files)} files; {wanted} is needed"
    if bucc := registry.get(contamination.testsets.bucc or ""):
        yield from _bucc_file_errors("contamination.testsets.bucc", bucc)
    for name in evaluation.retrieval or ():
        definition = config.definitions.get(name)
        if definition is None:
            yield f"evaluation.retrieval: {undefined(name, config.definitions)}"
        elif definition.dataset or not definition.held_out:
            lacks = "has training data without text" if definition.dataset else "holds out no pairs"
            yield f"evaluation.retrieval: {name!r} {lacks}, so nothing can be compared by it"
    if contamination.drop == "near" and contamination.near_duplicates is None:
        yield "contamination.drop: near needs contamination.near_duplicates, which is null"


def _tatoeba_errors(key: str, settings: Any, dataset: Dataset) -> Iterator[str]:
    files = [set(file.languages) for file in dataset.files]
    known = {
        language for languages in files if files.count(languages | {"en"}) == 2 for language in languages
    }
    if not known:
        yield f"{key}.testsets: {dataset.name!r} has no language with its own file and an English one"
        return
    for language in settings.languages or ():
        if language not in known - {"en"}:
            yield f"{key}.languages: {dataset.name!r} has nothing in {language!r} and English"


def _bucc_file_errors(key: str, dataset: Dataset) -> Iterator[str]:
    if any(len(file.languages) != 2 or len(file.members) != 3 for file in dataset.files):
        yield f"{key}: {dataset.name!r} has files that are not archives of two languages"


def _bucc_errors(key: str, settings: Any, dataset: Dataset) -> Iterator[str]:
    if errors := list(_bucc_file_errors(f"{key}.testsets", dataset)):
        yield from errors
        return
    present = ["-".join(pair) for pair in dataset.pairs]
    for pair in settings.pairs or ():
        if pair not in present:
            yield f"{key}.pairs: {dataset.name!r} has nothing in {pair!r}; it has {', '.join(present)}"
