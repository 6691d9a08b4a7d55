"""Models as values: how they are pickled, copied and sent to other processes.

A model that was opened from a folder, or that comes with the package, is pickled by reference: the pickle has
its place and its digest, which is checked when it is opened again. Any other model, such as one that was just
made smaller, is pickled whole. So is `model.portable()`, for processes that cannot read the folder.
"""

import copy
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any, Self

from paraphrastic.base.errors import InputError
from paraphrastic.model.shipped import folder_of

# A worker process gets the model anew with each task. It keeps so many models that it has opened.
_KEPT = 2

# What makes a model again: a function of a module, and its arguments.
Recipe = tuple[Callable[..., Any], tuple[Any, ...]]


class Value(ABC):
    """What makes a model a value. Models do not change, so copies share what is in memory."""

    origin: str | None = None
    """Where the model was opened; see `shipped.origin_of`."""

    def portable(self) -> Self:
        """The same model, but its pickles hold all of it, and not a reference to its folder."""
        other = copy.copy(self)
        other.origin = None
        return other

    @property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""

    @property
    @abstractmethod
    def preparation(self) -> dict[str, Any]:
        """How text becomes units, which the digest does not cover."""

    @abstractmethod
    def whole(self) -> Recipe:
        """What makes the model again from its content alone."""

    def __reduce__(self) -> Recipe:
        return self.whole() if self.origin is None else (reopened, (self.origin, self._identity))

    @cached_property
    def _identity(self) -> str:
        """What tells the model from others: all that determines its vectors."""
        return json.dumps([self.digest, self.preparation], sort_keys=True)

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        make, content = self.whole()
        other: Self = make(*copy.deepcopy(content, memo))
        other.origin = self.origin
        return other


def opener() -> Any:
    """The module that opens every kind of model. It imports all of them, so they find it by its name."""
    return import_module("paraphrastic.model.folder")


@lru_cache(_KEPT)
def reopened(origin: str, identity: str) -> Value:
    """Open a model that was pickled by reference.

    Raises:
        InputError: the folder is not there or damaged, or it holds another model by now.
    """
    remedy = "pickle model.portable() to have all of a model in the pickle"
    try:
        model: Value = opener().open_folder(folder_of(origin))
    except InputError as error:
        raise InputError(f"{error}; the model was pickled by reference: {remedy}") from None
    if model._identity != identity:
        raise InputError(f"{origin}: holds another model than when it was pickled by reference: {remedy}")
    return model
