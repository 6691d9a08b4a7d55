"""Evaluate a system on a task."""

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.base.functions import function_of
from paraphrastic_pipeline.evaluation.results import write_result


def evaluate_system(
    result: Path,
    testsets: Path | Sequence[Path],
    *,
    gold: Sequence[Path] = (),
    pairs: Path | Sequence[Path] = (),
    official: Path | None = None,
    system: str | Mapping[str, Any],
    evaluate: str,
    settings: Mapping[str, Any],
    about: Mapping[str, Any],
    threads: int,
) -> None:
    """Evaluate a system with a task's function, and write its figures.

    Args:
        result: the JSON file.
        testsets: what the function takes under this name.
        gold: what the function takes under this name, if it does.
        pairs: what the function takes under this name, if it does.
        official: JSON file with the digests of the official data; None for held-out pairs.
        system: the system, as `open_encoder` takes it.
        evaluate: the function, as `module:function`; see `tasks.Task.function`.
        settings: its other arguments.
        about: the other arguments of `write_result`.
        threads: threads of the encoder, and of a function that takes `threads`.
    """
    function = function_of(evaluate)
    others = {"gold": gold, "pairs": pairs, "threads": threads}
    taken = {name: value for name, value in others.items() if name in signature(function).parameters}
    encoder = open_encoder(system, threads=threads)
    figures = function(encoder, **{"testsets": testsets, **taken, **settings})
    write_result(result, encoder, figures, official=official, **about)
