"""One system's speed on one device, measured in a process that starts with the right number of threads.

    python -m paraphrastic_pipeline.evaluation.speed_process JOB RESULT

JOB is a JSON file with the parameters of `measure_job`. RESULT is a JSON file to write: the function's return
value, or the message of an `InputError` under the key `error`.
"""

import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json, write_json
from paraphrastic.model.system import Stages
from paraphrastic.systems.open import open_system


def measure_job(
    *,
    system: str | Mapping[str, Any],
    device: str,
    cores: int,
    sentences: Sequence[str],
    batch_sizes: Sequence[int],
    **settings: Any,
) -> Json:
    """Open a system, given in the form that `open_system` takes, and measure it with every batch size.

    The device is `cpu` or `gpu`. This process is restricted to the number of cores. The other settings are
    those of `measure`.

    Returns:
        The label as `system`, `dim`, and the `rows` of `measure`; or only `left_out`, the reason for no rows.

    Raises:
        InputError: the system cannot be opened on the processor.
    """
    hold_to(cores)
    try:
        opened = open_system(system, threads=cores, device="cuda" if device == "gpu" else "cpu")
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
    """Restrict this process to this number of cores, if the operating system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def measure(
    stages: Stages, sentences: Sequence[str], *, language: str, batch_size: int, seconds: float, repeats: int
) -> list[Json]:
    """Time the embedding of sentences with preprocessing, and of the same sentences without it.

    The sentences of a batch have about the same length, as in the papers. Batches are taken in random order:
    if `seconds` are over before all are embedded, the ones that were are a random sample. Each of the
    `repeats` takes about as long.

    Returns:
        Two rows with `batch_size`, `preprocessing` (`counted` or `not counted`), the number of `sentences`
        embedded, and the `seconds` of each repeat.
    """
    ordered = sorted(sentences, key=len)
    batches = [ordered[start : start + batch_size] for start in range(0, len(ordered), batch_size)]
    batches = [batches[place] for place in np.random.default_rng(0).permutation(len(batches))]

    def embed(batch: Sequence[str]) -> None:
        stages.embed(stages.prepare(batch, language))

    # Compiling and loading that happen on first use must not be timed.
    embed(batches[0])
    done, _ = _timed(embed, batches, seconds)
    batches = batches[:done]
    counted = [_timed(embed, batches)[1] for _ in range(repeats)]
    prepared = [stages.prepare(batch, language) for batch in batches]
    not_counted = [_timed(stages.embed, prepared)[1] for _ in range(repeats)]
    count = sum(map(len, batches))
    return [
        {"batch_size": batch_size, "preprocessing": preprocessing, "sentences": count, "seconds": times}
        for preprocessing, times in (("counted", counted), ("not counted", not_counted))
    ]


def _timed(
    embed: Callable[[Any], object], batches: Sequence[Any], limit: float = math.inf
) -> tuple[int, float]:
    """Embed batches, at least one, until the limit in seconds; return their number and the time taken."""
    start, done = time.perf_counter(), 0
    for batch in batches:
        embed(batch)
        done += 1
        if time.perf_counter() - start >= limit:
            break
    return done, time.perf_counter() - start


def main(job: str, result: str) -> None:
    """Do the job described in one file, and write its result to the other."""
    try:
        measured = measure_job(**read_json(job))
    except InputError as error:
        measured = {"error": str(error)}
    write_json(Path(result), measured)


if __name__ == "__main__":
    main(*sys.argv[1:])
