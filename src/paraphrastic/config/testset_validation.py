"""Faults of the configuration's test sets that a schema cannot find."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from paraphrastic.registry.datasets import Dataset

Json = Mapping[str, Any]
Registry = Mapping[str, Dataset]
# Faults of a key with the name of a data set, which must be of one of these kinds.
NameFaults = Callable[[str, str | None, Registry, tuple[str, ...]], Iterator[str]]


def testset_faults(config: Json, registry: Registry, name_faults: NameFaults) -> Iterator[str]:
    """What is wrong with the data sets that models are evaluated on, and that training data must not have."""
    evaluation = config["evaluation"]
    yield from name_faults("evaluation.sts", evaluation["sts"], registry, ("sts", "file"))
    for task, faults in (("tatoeba", _tatoeba_faults), ("bucc", _bucc_faults)):
        if evaluation[task] is not None:
            key, name = f"evaluation.{task}", evaluation[task]["testsets"]
            unnamed = list(name_faults(f"{key}.testsets", name, registry, ("file",)))
            yield from unnamed or faults(key, evaluation[task], registry[name])
    name = evaluation["senteval"]
    yield from name_faults("evaluation.senteval", name, registry, ("file",))
    if name in registry and len(registry[name].files) != 1:
        yield f"evaluation.senteval: {name!r} has {len(registry[name].files)} files; needed is one archive"
    for dataset, name in (evaluation["polish"] or {}).items():
        yield from name_faults(f"evaluation.polish.{dataset}", name, registry, ("file",))
    for testset, name in config["contamination"]["testsets"].items():
        kinds = ("sts", "file") if testset == "sts" else ("file",)
        yield from name_faults(f"contamination.testsets.{testset}", name, registry, kinds)


def _tatoeba_faults(key: str, settings: Json, dataset: Dataset) -> Iterator[str]:
    files = [set(file.languages) for file in dataset.files]
    there = {
        language for languages in files if files.count(languages | {"en"}) == 2 for language in languages
    }
    if not there:
        yield f"{key}.testsets: {dataset.name!r} has no language with a file of its own and an English one"
        return
    for language in settings["languages"] or ():
        if language not in there - {"en"}:
            yield f"{key}.languages: {dataset.name!r} has nothing in {language!r} and English"


def _bucc_faults(key: str, settings: Json, dataset: Dataset) -> Iterator[str]:
    if any(len(file.languages) != 2 or len(file.members) != 3 for file in dataset.files):
        yield f"{key}.testsets: {dataset.name!r} has files that are no archive of two languages"
        return
    there = ["-".join(pair) for pair in dataset.pairs]
    for pair in settings["pairs"] or ():
        if pair not in there:
            yield f"{key}.pairs: {dataset.name!r} has nothing in {pair!r}; it has {', '.join(there)}"
