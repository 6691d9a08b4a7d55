"""How many sentences per second systems embed; all are measured in one run, one after the other."""

import logging
import os
import platform
import re
import time
from collections.abc import Mapping, Sequence
from itertools import chain, product, zip_longest
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from pyarrow.dataset import dataset
from threadpoolctl import threadpool_limits

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json, write_json
from paraphrastic.model.encoder import Encoder, SentenceEncoder
from paraphrastic.model.files import MODULES
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.base.tables import read_csv, write_csv

log = logging.getLogger(__name__)

# The batch sizes of "Paraphrastic Representations at Scale", section 7, and of "Simple and Effective
# Paraphrastic Similarity from Parallel Translations", section 4.1.
BATCH_SIZES = (64, 128)
SPEED_COLUMNS = (
    "system", "source", "dim", "device", "cores", "batch_size", "preprocessing", "sentences",
    "sentences_per_second",
)  # fmt: skip


def measure_speed(
    systems: Mapping[str, Any],
    corpora: Sequence[Path],
    columns: Sequence[Sequence[str]],
    speeds: Path,
    *,
    language: str,
    threads: int,
    sentences: int,
    seconds: float,
    repeats: int,
) -> None:
    """Measure systems on the same sentences: on one core, on all cores, and on a GPU if torch sees one.

    `systems` are given by name, in the form that `open_encoder` takes. `corpora` are Parquet files with pairs
    in random order, and `columns` those of each that are in the `language`; at most so many distinct
    `sentences` of them are embedded, on at most so many `threads`. Each measurement takes about so many
    `seconds`, and is repeated. The JSON file `speeds` has the machine and the `rows` of `measure`, each with
    `system`, `dim`, `device` and `cores` (null for a GPU). A system that does not run on a GPU has no rows
    there. It is an `InputError` if there is no sentence, or if a system cannot be opened.
    """
    import torch

    chosen = choose_sentences(list(zip(corpora, columns, strict=True)), sentences)
    if not chosen:
        raise InputError(f"{corpora[0]}: contains no sentence to embed")
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    # Tokenizers of Hugging Face read their number of threads once.
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    setups = [("cpu", count) for count in sorted({1, threads})] + [("cuda", threads)] * bool(gpu)
    available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    rows: list[Json] = []
    for (name, system), (device, count) in product(systems.items(), setups):
        place: Any = system
        if device == "cuda" and isinstance(system, str) and Path(system, MODULES).is_file():
            # This library embeds averages on processors; sentence-transformers embeds them on a GPU.
            place = {"sentence_transformers": system, "label": rows[-1]["system"]}
        if available:
            os.sched_setaffinity(0, available[:count])
        try:
            with threadpool_limits(count):
                encoder = open_encoder(place, threads=count, device=device)
                about = {"system": encoder.label, "dim": encoder.dim}
                about |= {"device": "gpu"} if device == "cuda" else {"device": "cpu", "cores": count}
                for size in BATCH_SIZES:
                    found = measure(
                        encoder, chosen, language, batch_size=size, seconds=seconds, repeats=repeats
                    )
                    rows += [{**about, **row} for row in found]
        except InputError as error:
            if device == "cpu":
                raise
            log.info("%s does not run on a GPU: %s", name, error)
    machine = {"processor": processor_name(), "cores": threads, "gpu": gpu}
    write_json(speeds, {"machine": machine, "rows": rows})


def choose_sentences(corpora: Sequence[tuple[str | Path, Sequence[str]]], count: int) -> list[str]:
    """Distinct sentences, taken in turn from the beginning of each corpus, whose order is random."""
    columns = [
        dataset(path).head(count, columns=[column])[column] for path, names in corpora for column in names
    ]
    alternating = chain.from_iterable(zip_longest(*(column.to_pylist() for column in columns)))
    return list(dict.fromkeys(filter(None, alternating)))[:count]


def measure(
    encoder: Encoder,
    sentences: Sequence[str],
    language: str,
    *,
    batch_size: int,
    seconds: float,
    repeats: int,
) -> list[Json]:
    """Time the embedding of sentences with preprocessing and, for our models, without it.

    The sentences of a batch have about the same length, as in the papers. Batches are taken in random order,
    as many as can be embedded in the `seconds`, so they are a random sample.

    Returns:
        Rows with `batch_size`, `preprocessing` (`counted` or `not counted`), the number of `sentences`
        embedded, and the `seconds` of each repeat.
    """
    ordered = sorted(sentences, key=len)
    batches = [ordered[start : start + batch_size] for start in range(0, len(ordered), batch_size)]
    batches = [batches[place] for place in np.random.default_rng(0).permutation(len(batches))]

    def timed(batch: Sequence[str]) -> tuple[float, float]:
        start = time.perf_counter()
        if not isinstance(encoder, SentenceEncoder):
            encoder.encode(batch, language=language)
            return time.perf_counter() - start, 0.0
        tokens = encoder.tokenize(batch, language=language)
        middle = time.perf_counter()
        encoder.embed_tokens(tokens)
        return middle - start, time.perf_counter() - middle

    # Compiling and loading that happen on first use must not be timed.
    timed(batches[0])
    first: list[tuple[float, float]] = []
    while len(first) < len(batches) and (not first or np.sum(first) < seconds):
        first.append(timed(batches[len(first)]))
    batches = batches[: len(first)]
    # The seconds of both halves in each repeat, [repeats, 2].
    times = np.array([first, *([timed(batch) for batch in batches] for _ in range(repeats - 1))]).sum(axis=1)
    about = {"batch_size": batch_size, "sentences": sum(map(len, batches))}
    rows = [{**about, "preprocessing": "counted", "seconds": times.sum(axis=1).tolist()}]
    if isinstance(encoder, SentenceEncoder):
        rows.append({**about, "preprocessing": "not counted", "seconds": times[:, 1].tolist()})
    return rows


def processor_name() -> str:
    """The name of this machine's processor."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.is_file() else ""
    names = re.findall(r"^model name\s*: (.*)$", text, re.M)
    return names[0] if names else platform.processor() or platform.machine()


def tabulate_speed(measured: str | Path, published: str | Path, table: str | Path) -> None:
    """Write a CSV table of sentences per second, the median of all repeats, below the published figures.

    The published CSV file has some of the table's columns; the measured figures are JSON of `measure_speed`.
    """
    rows: list[Json] = [{**row, "source": "published"} for row in read_csv(published)]
    for row in read_json(measured)["rows"]:
        speed = row["sentences"] / median(row["seconds"])
        printed = f"{speed:.0f}" if speed >= 100 else f"{speed:.1f}"
        rows.append({**row, "source": "measured", "sentences_per_second": printed})
    write_csv(table, SPEED_COLUMNS, rows)
