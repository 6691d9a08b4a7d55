"""How many sentences per second systems embed; all are measured in one run, one after the other."""

import logging
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, product, zip_longest
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from pyarrow.dataset import dataset
from threadpoolctl import threadpool_limits

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json, write_json
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import Encoder, SentenceEncoder
from paraphrastic.model.tokenizer import Tokens
from paraphrastic.model.transformer import TransformerEncoder
from paraphrastic.systems.external import SentenceTransformerEncoder
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


class Halves(NamedTuple):
    """The two halves of embedding; `tokenize` is None if an encoder does not let them be told apart."""

    tokenize: Callable[[Sequence[str]], Any] | None
    embed: Callable[[Any], Any]

    def both(self, sentences: Sequence[str]) -> None:
        """Embed sentences."""
        self.embed(self.tokenize(sentences) if self.tokenize else sentences)


def measure_speed(
    systems: Mapping[str, str | Mapping[str, Any]],
    corpora: Sequence[str | Path],
    columns: Sequence[Sequence[str]],
    speeds: str | Path,
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
    `seconds`, and is repeated.

    The JSON file `speeds` has the machine and the `rows` of `measure`, each with `system`, `dim`, `device`
    and `cores` (null for a GPU). A system that does not run on a GPU has no rows there. It is an `InputError`
    if there is no sentence, or if a system cannot be opened.
    """
    import torch

    chosen = choose_sentences(list(zip(corpora, columns, strict=True)), sentences)
    if not chosen:
        raise InputError(f"{corpora[0]}: contains no sentence to embed")
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    # Tokenizers of Hugging Face read their number of threads once.
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    setups = [("cpu", count) for count in sorted({1, threads})] + ([("gpu", threads)] if gpu else [])
    rows: list[Json] = []
    for (name, system), (device, count) in product(systems.items(), setups):
        with held_to(count):
            encoder = open_encoder(system, threads=count, device="cpu" if device == "cpu" else None)
            halves = halves_of(encoder, language, device)
            if halves is None:
                log.info("%s does not run on a GPU", name)
                continue
            about = {"system": encoder.label, "dim": encoder.dim, "device": device}
            about["cores"] = count if device == "cpu" else None
            for size in BATCH_SIZES:
                found = measure(halves, chosen, batch_size=size, seconds=seconds, repeats=repeats)
                rows += [{**about, **row} for row in found]
    machine = {"processor": processor_name(), "cores": threads, "gpu": gpu}
    write_json(speeds, {"machine": machine, "distinct_sentences": len(chosen), "rows": rows})


def choose_sentences(corpora: Sequence[tuple[str | Path, Sequence[str]]], count: int) -> list[str]:
    """Distinct sentences, taken in turn from the beginning of each corpus, whose order is random."""
    columns = [
        dataset(path).head(count, columns=[column])[column] for path, names in corpora for column in names
    ]
    alternating = chain.from_iterable(zip_longest(*(column.to_pylist() for column in columns)))
    return list(dict.fromkeys(filter(None, alternating)))[:count]


@contextmanager
def held_to(cores: int) -> Iterator[None]:
    """Restrict this process and its libraries to this number of cores."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    try:
        if allowed:
            os.sched_setaffinity(0, sorted(allowed)[:cores])
        with threadpool_limits(cores):
            yield
    finally:
        if allowed:
            os.sched_setaffinity(0, allowed)


def halves_of(encoder: Encoder, language: str, device: str) -> Halves | None:
    """The halves of an encoder; None if it does not run on the device."""
    if device == "gpu" and isinstance(encoder, AverageEncoder):
        return averages_on("cuda", encoder, language)
    if device == "gpu" and not isinstance(encoder, TransformerEncoder | SentenceTransformerEncoder):
        return None
    if isinstance(encoder, SentenceEncoder):
        return Halves(lambda sentences: encoder.tokenize(sentences, language=language), encoder.embed_tokens)
    return Halves(None, lambda sentences: encoder.encode(sentences, language=language))


def averages_on(device: str, model: AverageEncoder, language: str) -> Halves:
    """The halves of a model that averages, the second of which torch computes on a device."""
    import torch

    table = torch.from_numpy(np.concatenate([model.embeddings, model.unknown[None]])).float()
    if model.weights is not None:
        table[:-1] *= torch.from_numpy(model.weights)[:, None]
    table = table.to(device)

    def averages(block: Tokens) -> Float32:
        # A sentence with only unknown pieces gets the last row; one without any piece is zero.
        unknown = block.has_text & (np.diff(block.ends) == 0)
        rows = np.insert(block.ids.astype(np.int64), block.ends[:-1][unknown], len(table) - 1)
        starts = block.ends[:-1] + np.cumsum(unknown) - unknown
        tokens, offsets = (torch.from_numpy(array).to(device) for array in (rows, starts))
        bags = torch.nn.functional.embedding_bag(tokens, table, offsets, mode="mean")
        return bags.cpu().numpy()

    return Halves(lambda sentences: model.tokenize(sentences, language=language), averages)


def measure(
    halves: Halves, sentences: Sequence[str], *, batch_size: int, seconds: float, repeats: int
) -> list[Json]:
    """Time the embedding of sentences with preprocessing and, if it can be told apart, without it.

    The sentences of a batch have about the same length, as in the papers. Batches are taken in random order,
    as many as can be embedded in the `seconds`, so they are a random sample.

    Returns:
        Rows with `batch_size`, `preprocessing` (`counted` or `not counted`), the number of `sentences`
        embedded, and the `seconds` of each repeat.
    """
    ordered = sorted(sentences, key=len)
    batches = [ordered[start : start + batch_size] for start in range(0, len(ordered), batch_size)]
    batches = [batches[place] for place in np.random.default_rng(0).permutation(len(batches))]
    # Compiling and loading that happen on first use must not be timed.
    halves.both(batches[0])
    start, done = time.perf_counter(), 0
    while done < len(batches) and (done == 0 or time.perf_counter() - start < seconds):
        halves.both(batches[done])
        done += 1
    batches = batches[:done]
    times = {"counted": [_seconds(halves.both, batches) for _ in range(repeats)]}
    if halves.tokenize:
        tokenized = [halves.tokenize(batch) for batch in batches]
        times["not counted"] = [_seconds(halves.embed, tokenized) for _ in range(repeats)]
    about = {"batch_size": batch_size, "sentences": sum(map(len, batches))}
    return [{**about, "preprocessing": name, "seconds": taken} for name, taken in times.items()]


def _seconds(embed: Callable[[Any], object], batches: Sequence[Any]) -> float:
    start = time.perf_counter()
    for batch in batches:
        embed(batch)
    return time.perf_counter() - start


def processor_name() -> str:
    """The name of this machine's processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
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
