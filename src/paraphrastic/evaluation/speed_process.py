"""One system's speed on one device, in a process that has its number of threads from the start.

    python -m paraphrastic.evaluation.speed_process JOB RESULT

JOB is JSON with the parameters of `measure_job`, RESULT what it returns; after a fault of the input, its
`error`.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, write_json
from paraphrastic.model.system import Stages
from paraphrastic.systems.open import open_system

Json = dict[str, Any]


def measure_job(
    *,
    encoder: str | Mapping[str, Any],
    device: str,
    cores: int,
    sentences: Sequence[str],
    batch_sizes: Sequence[int],
    **settings: Any,
) -> Json:
    """Open a system and measure it with every batch size.

    Args:
        encoder: as `open_system` takes it.
        device: `cpu` or `gpu`.
        cores: of the processor, which this process is held to.
        sentences: to embed.
        batch_sizes: sentences that are embedded at a time.
        settings: `language`, `seconds` and `repeats`, see `measure`.

    Returns:
        `system`, its label; `dim`; and `rows` as `measure` gives them. Or `left_out`: why there are none.

    Raises:
        InputError: the system cannot be opened on the processor.
    """
    hold_to(cores)
    try:
        opened = open_system(encoder, threads=cores, device="cuda" if device == "gpu" else "cpu")
    except InputError as error:
        if device == "cpu":
            raise
        return {"left_out": str(error)}
    if opened.stages is None:
        return {"left_out": "its vectors were computed elsewhere"}
    rows = [
        row for size in batch_sizes for row in measure(opened.stages, sentences, batch_size=size, **settings)
    ]
    return {"system": opened.label, "dim": opened.dim, "rows": rows}


def hold_to(cores: int) -> None:
    """Hold this process to some of the cores that it may use, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def measure(
    stages: Stages, sentences: Sequence[str], *, language: str, batch_size: int, seconds: float, repeats: int
) -> list[Json]:
    """Time the embedding of sentences with preprocessing, and of the same sentences without.

    Batches are of sentences of about the same length, as in the papers. They are taken in random order: where
    `seconds` end before them, those that were embedded are a random sample of all.

    Args:
        stages: of the system.
        sentences: to embed.
        language: of the sentences.
        batch_size: sentences of a batch.
        seconds: that a repeat may take, about.
        repeats: of each measurement.

    Returns:
        A row each: `batch_size`, `preprocessing` (`counted` or `not counted`), `sentences` that were
        embedded, and `seconds` of each repeat.
    """
    ordered = sorted(sentences, key=len)
    batches = [ordered[start : start + batch_size] for start in range(0, len(ordered), batch_size)]
    batches = [batches[place] for place in np.random.default_rng(0).permutation(len(batches))]

    def embed(batch: Sequence[str]) -> None:
        stages.embed(stages.prepare(batch, language))

    # What is made when it is first needed is made here.
    embed(batches[0])
    batches = batches[: _done_in(seconds, embed, batches)]
    counted = [_seconds(embed, batches) for _ in range(repeats)]
    prepared = [stages.prepare(batch, language) for batch in batches]
    not_counted = [_seconds(stages.embed, prepared) for _ in range(repeats)]
    return [
        {
            "batch_size": batch_size,
            "preprocessing": preprocessing,
            "sentences": sum(map(len, batches)),
            "seconds": times,
        }
        for preprocessing, times in (("counted", counted), ("not counted", not_counted))
    ]


def _done_in(seconds: float, embed: Callable[[Any], object], batches: Sequence[Any]) -> int:
    """How many batches are embedded in this time; one at least."""
    end = time.perf_counter() + seconds
    for number, batch in enumerate(batches, start=1):
        embed(batch)
        if time.perf_counter() >= end:
            return number
    return len(batches)


def _seconds(embed: Callable[[Any], object], batches: Sequence[Any]) -> float:
    start = time.perf_counter()
    for batch in batches:
        embed(batch)
    return time.perf_counter() - start


def main(job: str, result: str) -> None:
    """Do the job in one file, and write its result into the other."""
    try:
        found = measure_job(**read_json(job))
    except InputError as error:
        found = {"error": str(error)}
    write_json(Path(result), found)


if __name__ == "__main__":
    main(*sys.argv[1:])
