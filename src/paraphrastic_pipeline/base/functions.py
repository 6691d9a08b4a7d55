"""Functions by their names: `corpus.score:score_pairs` is one of the pipeline's."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def full_name(function: str) -> str:
    """Return the full name of a function that is written as `module:function`."""
    name = function.replace(":", ".")
    return name if name.startswith("paraphrastic.") else f"paraphrastic_pipeline.{name}"


def function_of(function: str) -> Callable[..., Any]:
    """Import a function that is written as `module:function`."""
    module, _, name = full_name(function).rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
