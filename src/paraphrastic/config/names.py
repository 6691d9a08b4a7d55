"""Names in a configuration that stand for something else, and messages about those that stand for nothing."""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from paraphrastic.registry.datasets import Dataset
from paraphrastic.registry.opus import OpusCorpus


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """The end of a message about an unknown name: the known one that is most like it, or `otherwise`."""
    guess = difflib.get_close_matches(name, list(known), n=1)
    hint = f"did you mean {guess[0]!r}?" if guess else otherwise
    return f"; {hint}" if hint else ""


def undefined(model: str, definitions: Iterable[str]) -> str:
    """A message about a model that has no definition."""
    return f"{model!r} is not described under definitions; there are {', '.join(definitions)}"


def dataset_faults(
    key: str,
    name: str | None,
    registry: Mapping[str, Dataset],
    kinds: Iterable[str],
    listed: Mapping[str, OpusCorpus] | None = None,
) -> Iterator[str]:
    """What is wrong with the name of a data set, which is to be of one of these kinds, or None.

    `listed` are corpora of OPUS that may have been meant.
    """
    if name is None:
        return
    if name not in registry:
        where = "the registry of data sets" + (" or in OPUS's list" if listed else "")
        yield f"{key}: {name!r} is not in {where}{did_you_mean(name, [*(listed or ()), *registry])}"
    elif registry[name].kind not in kinds:
        yield f"{key}: {name!r} is of kind {registry[name].kind!r}; needed is {' or '.join(kinds)}"
