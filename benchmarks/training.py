"""Speed of training: `python benchmarks/training.py [--repeats N] [--threads N] [--clock cpu] [--device D]`.

Trains on random sentences, whose tokens follow Zipf's law and whose translations share half of their tokens,
and measures whole mega-batches. The fused engine is measured in each precision of mining, and a plain
reference beside it in the same run (autograd without padding, torch's dense Adam, torch's matrix product and
its two maxima). The fused engine's steps are counted from 20,000, since bias corrections have died out for
most of a long run. Writes results/benchmarks/training.json.

With --device cuda, measures the engine for GPUs in each precision of mining: whole mega-batches, their two
parts, and the least time that a pair could take with the bandwidth and the matrix product that are measured
in the same run. Writes results/benchmarks/training_gpu.json.

With --memory-pairs N, measures memory instead. A process of its own trains on N pairs with the pipeline's
loop and checkpoints, from shortly before the end of the first window into the second one. Its peak memory is
compared with the size of the table and the moments. Writes results/benchmarks/training_memory.json.
"""

import argparse
import contextlib
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import CLOCKS, add_clock

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.model.architecture import Architecture
from paraphrastic_pipeline.base.devices import choose_device
from paraphrastic_pipeline.settings.sections.fields import recipe_values
from paraphrastic_pipeline.settings.sections.training import MiningPrecision, TrainingSettings
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.checkpoint import Checkpoints
from paraphrastic_pipeline.training.dataset import SIDES, append_sentences, create_side, new_dataset
from paraphrastic_pipeline.training.device.engine import DeviceEngine
from paraphrastic_pipeline.training.device.selection import held_device
from paraphrastic_pipeline.training.device.sparse_rows import MiniBatches
from paraphrastic_pipeline.training.encoder_modules import initial_encoder
from paraphrastic_pipeline.training.fingerprints import fingerprints
from paraphrastic_pipeline.training.fused import FusedEngine
from paraphrastic_pipeline.training.history import Report
from paraphrastic_pipeline.training.loop import Engine, TrainingRun
from paraphrastic_pipeline.training.negative_mining import hardest_negatives, precision_on
from paraphrastic_pipeline.training.pair_dataset import PairDataset, UnitTable
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers
from paraphrastic_pipeline.training.train import build_engine

BATCH = 128
TOKENS = 14
PRECISIONS: tuple[MiningPrecision, ...] = ("float32", "bfloat16", "int8", "leading")
# Dimension, M and dropout of each case.
CASES = [(1024, 60, 0.0), (1024, 100, 0.0), (1024, 60, 0.1), (300, 5, 0.0), (300, 5, 0.1)]
SETTINGS = replace(
    TrainingSettings(**recipe_values(TrainingSettings, "paper"), dropout=0.0, megabatch=1, seed=1),
    epochs=1, batch_size=BATCH, megabatch_anneal=1, mining_precision="auto", engine="fused",
)  # fmt: skip

Clock = Callable[[], float]


def main() -> None:
    """Measure, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000, help="rows of the table")
    parser.add_argument("--repeats", type=int, default=5, help="mega-batches, of which the median counts")
    parser.add_argument("--threads", type=int, default=2, help="of both engines")
    add_clock(parser)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: on a GPU")
    parser.add_argument("--memory-pairs", type=int, help="measure memory on this many pairs instead")
    parser.add_argument("--window", type=int, default=SETTINGS.shuffle_window, help="pairs shuffled together")
    parser.add_argument("--steps", type=int, default=400, help="mini-batches with --memory-pairs")
    parser.add_argument("--quick", action="store_true", help="small dimensions and mega-batches")
    parser.add_argument("--output", help="JSON of all figures")
    options = parser.parse_args()
    if options.memory_pairs:
        measure_memory(options)
        return
    cases = [(32, 2, 0.0), (32, 2, 0.1)] if options.quick else CASES
    if options.device == "cuda":
        measure_gpu(options, cases)
        return
    figures: dict[str, Any] = {}
    for dimension, megabatch, dropout in cases:
        name = f"{dimension} dimensions, M {megabatch}, dropout {dropout}"
        figures[name] = measure(
            replace(SETTINGS, dimension=dimension, megabatch=megabatch, dropout=dropout),
            rows=options.rows, repeats=options.repeats, threads=options.threads, clock=CLOCKS[options.clock],
        )  # fmt: skip
        for precision in PRECISIONS:
            row = figures[name][precision]
            parts = "  ".join(f"{part} {row[part]:.1f}" for part in ("average", "mine", "step"))
            print(f"{name}, {precision}: {row['pairs_per_second']:,.0f} pairs/s, "
                  f"{row['ratio']:.1f} times the reference's; µs a pair: {parts}")  # fmt: skip
    about = {
        "clock": options.clock,
        "threads": options.threads,
        "rows": options.rows,
        "fastest_precision": precision_on("cpu", "auto"),
    }
    write_json(options.output or "results/benchmarks/training.json", {**about, "cases": figures})


def measure_gpu(options: argparse.Namespace, cases: list[tuple[int, int, float]]) -> None:
    """Measure on a GPU, and print and write the figures."""
    try:
        kind = choose_device("cuda", key="--device")
    except InputError as error:
        sys.exit(str(error))
    figures: dict[str, Any] = {}
    with held_device(kind) as device:
        for dimension, megabatch, dropout in cases:
            for precision in ("float32", "bfloat16"):
                settings = replace(
                    SETTINGS, dimension=dimension, megabatch=megabatch, dropout=dropout,
                    mining_precision=precision,
                )  # fmt: skip
                name = f"{dimension} dimensions, M {megabatch}, dropout {dropout}, {precision}"
                row = measure_on(device, settings, rows=options.rows, repeats=options.repeats)
                figures[name] = row
                print(f"{name}: {row['pairs_per_second']:,.0f} pairs/s; µs per pair: mine {row['mine']:.2f}  "
                      f"step {row['step']:.2f}, at best {row['mine_floor']:.2f} and {row['step_floor']:.2f}"
                      )  # fmt: skip
        about = {"device": torch.cuda.get_device_name(device), "rows": options.rows}
    write_json(options.output or "results/benchmarks/training_gpu.json", {**about, "cases": figures})


def measure_on(
    device: torch.device, settings: TrainingSettings, *, rows: int, repeats: int
) -> dict[str, float]:
    """Microseconds per pair on a device: medians over mega-batches, and lower bounds for them.

    The lower bound for mining is the time of its matrix product alone. The lower bound for a step is the time
    to read and write each row of the mini-batch and its moments once, at the speed of a copy.
    """
    generator = np.random.default_rng(0)
    units = [UnitTable("subword", np.arange(rows - 1, dtype=np.int32), (rows - 1,), ())]
    table = initial_encoder(units, settings, Architecture()).get_parameter("parts.0.table").detach()
    engine = DeviceEngine(table, settings, device, steps=0)
    engine.steps_done = 20_000
    engine.last.fill_(engine.steps_done)
    n = settings.megabatch * BATCH
    times: dict[str, list[float]] = {"total": [], "mine": [], "step": []}
    touched = []
    # The first mega-batches compile functions and do not count.
    warm_up = 3
    for _ in range(warm_up + repeats):
        sentences = megabatch_sentences(generator, n, rows)
        times["total"].append(seconds(device, partial(engine.train, sentences)))
        tokens, offsets = engine._moved(sentences)
        times["mine"].append(seconds(device, partial(engine.negatives, tokens, offsets)))
        negatives = engine.negatives(tokens, offsets)
        batches = MiniBatches(tokens, offsets, negatives, batch_size=BATCH, n_rows=rows, keep=1.0)
        touched.append(len(batches.rows) / n)
        valid = negatives >= 0
        times["step"].append(seconds(device, partial(engine.train_with, tokens, offsets, negatives, valid)))
    result = {name: statistics.median(values[warm_up:]) / n * 1e6 for name, values in times.items()}
    kind = torch.bfloat16 if settings.mining_precision == "bfloat16" else torch.float32
    vectors = torch.randn(n, settings.dimension, device=device).to(kind)
    product = min(seconds(device, lambda: vectors @ vectors.T) for _ in range(10))
    large = torch.zeros(1 << 26, device=device)
    copy = min(seconds(device, large.clone) for _ in range(10))
    bytes_a_second = 2 * 4 * len(large) / copy
    row_bytes = 3 * 4 * settings.dimension
    return {
        **result,
        "pairs_per_second": 1e6 / result["total"],
        "rows_a_pair": statistics.mean(touched),
        "gigabytes_per_second": bytes_a_second / 1e9,
        "teraflops": 2 * n * n * settings.dimension / product / 1e12,
        "mine_floor": product / n * 1e6,
        "step_floor": 2 * row_bytes * statistics.mean(touched) / bytes_a_second * 1e6,
    }


def seconds(device: torch.device, work: Callable[[], Any]) -> float:
    """Seconds of a piece of work, from an idle device until the device is idle again."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    start = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start


def measure(
    settings: TrainingSettings, *, rows: int, repeats: int, threads: int, clock: Clock
) -> dict[str, Any]:
    """Microseconds per pair of each part, as medians over mega-batches, in turns with the reference."""
    generator = np.random.default_rng(0)
    workers = Workers(threads)
    units = [UnitTable("subword", np.arange(rows - 1, dtype=np.int32), (rows - 1,), ())]
    encoder = initial_encoder(units, settings, Architecture())
    fused = build_engine(encoder, settings, workers, steps=0)
    assert isinstance(fused, FusedEngine)  # noqa: S101 (for the type)
    reference = build_engine(encoder, replace(settings, engine="autograd"), workers, steps=0)
    assert isinstance(reference, AutogradEngine)  # noqa: S101 (for the type)
    fused.steps_done = 20_000
    fused.last[:] = fused.steps_done
    times: dict[str, dict[str, list[float]]] = {
        name: {"average": [], "mine": [], "step": []} for name in ("reference", *PRECISIONS)
    }
    for _ in range(repeats + 1):
        sentences = megabatch_sentences(generator, settings.megabatch * BATCH, rows)
        for precision in PRECISIONS:
            torch.set_num_threads(1)
            search = partial(
                hardest_negatives,
                workers=workers,
                either_side=False,
                exclude_duplicates=True,
                precision=precision,
            )
            one_megabatch(fused, sentences, times[precision], search, clock)
        # The reference runs only a few steps, since all steps of a mega-batch would take too long.
        torch.set_num_threads(threads)
        one_megabatch(reference, sentences, times["reference"], plain_negatives, clock, steps=8)
    result: dict[str, Any] = {}
    for name, parts in times.items():
        medians = {part: statistics.median(values[1:]) for part, values in parts.items()}
        total = sum(medians.values())
        result[name] = {**medians, "total": total, "pairs_per_second": 1e6 / total}
    for name in PRECISIONS:
        result[name]["ratio"] = result[name]["pairs_per_second"] / result["reference"]["pairs_per_second"]
    workers.close()
    return result


def megabatch_sentences(generator: np.random.Generator, pairs: int, rows: int) -> Sentences:
    """Random sources, then their targets; each target token is the source's or new, with equal chance."""
    # With these chances, a mini-batch has as many distinct rows as real captions in English and German.
    chances = (np.arange(rows) + 2.7) ** -1.15
    cumulated = np.cumsum(chances / chances.sum())
    lengths = np.clip(generator.poisson(TOKENS, pairs), 3, 100)
    size = int(lengths.sum())
    source, new = np.minimum(np.searchsorted(cumulated, generator.random((2, size))), rows - 1)
    target = np.where(generator.random(size) < 0.5, source, new)
    offsets = np.cumsum([0, *lengths, *lengths])
    return Sentences(np.concatenate([source, target]).astype(np.int32), offsets)


def one_megabatch(
    engine: Engine,
    sentences: Sentences,
    times: dict[str, list[float]],
    negatives_of: Callable[[torch.Tensor, np.ndarray], np.ndarray],
    clock: Clock,
    *,
    steps: int | None = None,
) -> None:
    """Average, mine and step through a mega-batch, and append the microseconds per pair to `times`."""
    n = len(sentences) // 2
    start = clock()
    vectors = engine.embed(sentences)
    averaged = clock()
    negatives = negatives_of(vectors, fingerprints(sentences))
    mined = clock()
    batches = range(0, n, BATCH)[:steps]
    for begin in batches:
        own = np.concatenate([np.arange(begin, begin + BATCH), np.arange(begin, begin + BATCH) + n])
        engine.step(sentences, np.concatenate([own, negatives[own]]), np.ones((2, BATCH), np.bool_))
    stepped = clock()
    times["average"].append((averaged - start) / n * 1e6)
    times["mine"].append((mined - averaged) / n * 1e6)
    times["step"].append((stepped - mined) / (len(batches) * BATCH) * 1e6)


def plain_negatives(vectors: torch.Tensor, _: np.ndarray) -> np.ndarray:
    """Negatives of both sides, found with torch in blocks of 1024 rows of the similarity matrix."""
    n = len(vectors) // 2
    best, negatives = torch.full((n,), -torch.inf), torch.zeros(2 * n, dtype=torch.int64)
    for start in range(0, n, 1024):
        similarity = vectors[start : min(n, start + 1024)] @ vectors[n:].T
        similarity.diagonal(start).fill_(-torch.inf)
        negatives[start : start + len(similarity)] = similarity.argmax(dim=1) + n
        values, indices = similarity.max(dim=0)
        negatives[n:] = torch.where(values > best, indices + start, negatives[n:])
        best = torch.maximum(best, values)
    return negatives.numpy()


def measure_memory(options: argparse.Namespace) -> None:
    """Train in a separate process, and print and write its memory."""
    settings = replace(SETTINGS, megabatch=100, shuffle_window=options.window)
    if options.quick:
        settings = replace(settings, dimension=32, megabatch=2)
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.h5")
        with new_dataset(path) as file:
            unit = file.create_group("subword")
            for side in SIDES:
                create_side(unit, side)
            for start in range(0, options.memory_pairs, 1 << 20):
                n = min(1 << 20, options.memory_pairs - start)
                sentences = megabatch_sentences(generator, n, options.rows - 1)
                append_sentences(unit["source"], sentences.part(0, n))
                append_sentences(unit["target"], sentences.part(n, 2 * n))
            unit["pieces"] = np.arange(options.rows - 1, dtype=np.int32)
            unit["alike"] = np.empty((0, 2), np.int32)
            unit.attrs["sizes"], unit.attrs["sentencepiece_sha256"] = [options.rows - 1], [""]
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            figures = pool.submit(train_for_memory, path, settings, options.steps, options.threads).result()
    parameters = 3 * 4 * options.rows * settings.dimension / 1e6
    figures = {
        "pairs": options.memory_pairs,
        "window": options.window,
        **figures,
        "parameters_mb": parameters,
        "above_mb": figures["peak_mb"] - parameters,
    }
    print(f"{options.memory_pairs:,} pairs, windows of {options.window:,}: {figures['peak_mb']:,.0f} MB at "
          f"most, {figures['above_mb']:,.0f} MB above table and moments ({parameters:,.0f} MB), of them "
          f"{figures['imported_mb']:,.0f} MB before training")  # fmt: skip
    write_json(options.output or "results/benchmarks/training_memory.json", figures)


class _EnoughError(Exception):
    """Ends a run after some steps."""


class _Counted(Report):
    """A report that ends the run when its `steps` are used up."""

    steps = 0

    def step(self, pairs: int) -> None:
        super().step(pairs)
        self.steps -= 1
        if self.steps == 0:
            raise _EnoughError


def train_for_memory(path: Path, settings: TrainingSettings, steps: int, threads: int) -> dict[str, float]:
    """Megabytes of this process before the run and at its peak, and the number of pairs that it read."""
    imported = peak_mb()
    torch.set_num_threads(1)
    with PairDataset(path) as pairs:
        workers = Workers(threads)
        engine = build_engine(
            initial_encoder(pairs.units, settings, Architecture()), settings, workers, steps=0
        )
        checkpoints = Checkpoints(path.parent / "checkpoints", identity="")
        run = TrainingRun([pairs], settings, workers, lambda _: engine, checkpoints)
        # Half of the steps fall into the first window, and M has already reached its final size.
        in_window = min(len(pairs), settings.shuffle_window // 8192 * 8192)
        run.progress.pairs_read = max(0, in_window - steps // 2 * settings.batch_size)
        run.progress.batches_read = settings.megabatch * settings.megabatch_anneal
        before = run.progress.pairs_read
        report = _Counted(path.parent / "history", run.progress, n_pairs=len(pairs), epochs=1, name="")
        report.steps = steps
        with contextlib.suppress(_EnoughError):
            run.finish(report, None, seconds_between_checkpoints=10.0)
        read = run.progress.pairs_read - before
    return {"imported_mb": imported, "peak_mb": peak_mb(), "trained_pairs": read}


def peak_mb() -> float:
    """Peak memory of this process, in MB."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    main()
