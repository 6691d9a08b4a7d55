"""Evaluate a system on a task."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from inspect import signature
from pathlib import Path
from typing import Any

from paraphrastic.base.files import read_json, write_json
from paraphrastic.model.encoder import Encoder
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.base.functions import function_of
from paraphrastic_pipeline.evaluation.figures import Figure
from paraphrastic_pipeline.evaluation.results import Measured, Result, Source


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
    """Evaluate a `system`, as `open_encoder` takes it, with a task's function, and write its figures.

    The function `evaluate` is named as `module:function`; see `tasks.Task.function`. It takes the encoder,
    the `testsets` and the `settings`; and `gold`, `pairs` and `threads` if it has parameters of these names.
    `about` and `official` are further arguments of `write_result`.
    """
    function = function_of(evaluate)
    others = {"gold": gold, "pairs": pairs, "threads": threads}
    taken = {name: value for name, value in others.items() if name in signature(function).parameters}
    encoder = open_encoder(system, threads=threads)
    figures = function(encoder, **{"testsets": testsets, **taken, **settings})
    write_result(result, encoder, figures, official=official, **about)


def write_result(
    result: Path,
    encoder: Encoder,
    figures: Mapping[str, Figure],
    *,
    task: str,
    official: Path | None,
    source: Source,
    bootstrap_samples: int,
    sample: bool = False,
) -> None:
    """Write the figures of an encoder as JSON; see `Result`.

    Intervals are over `bootstrap_samples` resamples of the test data. `official` is a JSON file with the
    digests of the official data sets by name, or None for held-out pairs; `sample` says whether the encoder
    was trained on a sample.
    """
    known = read_json(official) if official else {}
    datasets = {
        data.name: {
            **data.about,
            "digest": data.digest,
            "official": known.get(data.name) == data.digest,
        }
        for figure in figures.values()
        for data in figure.data
    }
    kind = "official" if all(about["official"] for about in datasets.values()) else "sample"
    content = Result(
        task=task,
        system=encoder.label,
        source=source,
        data="sample" if sample else kind if official else "own",
        dim=encoder.dim,
        digest=encoder.digest,
        measurements={
            name: Measured(figure.value, figure.interval(bootstrap_samples), figure.n)
            for name, figure in figures.items()
        },
        datasets=datasets,
    )
    write_json(result, asdict(content))
