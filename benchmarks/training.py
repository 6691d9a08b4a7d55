"""Speed of training: `python benchmarks/training.py [--repeats N] [--threads N] [--device cuda]`.

Trains on random sentences, whose tokens follow Zipf's law and whose translations share half of their tokens.
The three parts of a mega-batch are measured: embedding all sentences, mining their negatives, and the steps.
On a processor, the fused engine is measured in both precisions of mining, and on a GPU the captured engine,
beside the floor: what dense Adam and mining would take if memory and products were all (`floor_of`).
A plain reference in torch takes turns with them: embedding bags, the matrix product and its two maxima,
autograd, and dense Adam. The fused engine's steps are counted from 20,000, since bias corrections have died
out for most of a long run. Writes results/benchmarks/training.json.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from timing import CLOCKS, options_of, zipf_chances
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, dropout, normalize

from paraphrastic.base.arrays import Bool, Float64, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.model.architecture import Architecture
from paraphrastic_pipeline.base.devices import choose_device
from paraphrastic_pipeline.settings.sections.fields import recipe_values
from paraphrastic_pipeline.settings.sections.training import MiningPrecision, TrainingSettings
from paraphrastic_pipeline.training.captured import CapturedEngine
from paraphrastic_pipeline.training.encoder_modules import initial_encoder
from paraphrastic_pipeline.training.fused import FusedEngine
from paraphrastic_pipeline.training.mining import mine
from paraphrastic_pipeline.training.pair_dataset import UnitTable
from paraphrastic_pipeline.training.same_meaning import SameMeaning
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers

BATCH = 128
TOKENS = 14
PRECISIONS: tuple[MiningPrecision, ...] = ("float32", "leading")
# Dimension, M and dropout of each case.
CASES = [(1024, 60, 0.0), (1024, 100, 0.0), (1024, 60, 0.1), (300, 60, 0.0), (300, 5, 0.0), (300, 5, 0.1)]
QUICK = [(32, 2, 0.0), (32, 2, 0.1)]
SETTINGS = TrainingSettings(**recipe_values(TrainingSettings, "paper"), dropout=0.0, megabatch=1, seed=1)
# Mini-batches of a mega-batch on which the reference is trained, since all of them would take too long.
REFERENCE_STEPS = 8
REFERENCE = "reference"
PARTS = ("average", "mine", "step")

Mine = Callable[[Tensor, Sentences], Int64]
Engine: TypeAlias = "PlainEngine | FusedEngine | CapturedEngine"


def main() -> None:
    """Measure, print and write the figures."""
    parser = options_of(__doc__ or "", name="training")
    parser.add_argument("--rows", type=int, default=50_000, help="of the table (%(default)s)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: on a GPU")
    options = parser.parse_args()
    try:
        device = torch.device(choose_device(options.device, key="--device"))
    except InputError as error:
        sys.exit(str(error))
    figures: dict[str, Any] = {}
    for dimension, megabatch, share in QUICK if options.quick else CASES:
        case = f"{dimension} dimensions, M {megabatch}, dropout {share}"
        settings = replace(SETTINGS, dimension=dimension, megabatch=megabatch, dropout=share)
        figures[case] = measure(settings, options, device)
        for name, row in figures[case].items():
            parts = "  ".join(f"{part} {row[part]:.1f}" for part in PARTS)
            print(f"{case}, {name}: {row['pairs_per_second']:,.0f} pairs/s, "
                  f"{row['ratio']:.1f} times the reference's; µs a pair: {parts}", flush=True)  # fmt: skip
    processor = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    about = {"device": processor, "clock": options.clock, "threads": options.threads, "rows": options.rows}
    write_json(options.output, {**about, "cases": figures})


def measure(
    settings: TrainingSettings, options: argparse.Namespace, device: torch.device
) -> dict[str, dict[str, float]]:
    """Microseconds a pair of each part of training, by engine: medians over mega-batches, in turns."""
    generator = np.random.default_rng(0)
    workers = Workers(options.threads)
    units = [UnitTable("subword", np.arange(options.rows - 1, dtype=np.int32), (options.rows - 1,))]
    encoder = initial_encoder(units, settings, Architecture())
    table = encoder.get_parameter("parts.0.table").detach()
    engines: dict[str, tuple[Engine, Mine]] = {
        REFERENCE: (PlainEngine(table.clone(), settings, device), plain_negatives)
    }
    if device.type == "cpu":
        fused = FusedEngine(table, settings, workers, steps=0)
        fused.steps_done = 20_000
        fused.last[:] = fused.steps_done
        engines |= {name: (fused, partial(mined, workers=workers, precision=name)) for name in PRECISIONS}
    else:
        captured = CapturedEngine(encoder, replace(settings, device="cuda"), steps=0)
        engines["captured"] = captured, partial(mined, workers=workers, precision="float32")
    times: dict[str, list[Float64]] = {name: [] for name in engines}
    # The first mega-batch compiles kernels and does not count.
    for _ in range(options.repeats + 1):
        sentences = megabatch_sentences(generator, settings.megabatch * BATCH, options.rows)
        for name, (engine, find) in engines.items():
            torch.set_num_threads(options.threads if name == REFERENCE else 1)
            times[name].append(one_megabatch(engine, find, sentences, CLOCKS[options.clock], device))
    workers.close()
    rows: dict[str, dict[str, float]] = {}
    for name, measured in times.items():
        parts = dict(zip(PARTS, np.median(measured[1:], axis=0).tolist(), strict=True))
        rows[name] = {**parts, "pairs_per_second": 1e6 / sum(parts.values())}
    if device.type == "cuda":
        parts = floor_of(settings, table, device)
        rows["floor"] = {**parts, "pairs_per_second": 1e6 / sum(parts.values())}
    for row in rows.values():
        row["ratio"] = row["pairs_per_second"] / rows[REFERENCE]["pairs_per_second"]
    return rows


def floor_of(settings: TrainingSettings, table: Tensor, device: torch.device) -> dict[str, float]:
    """The least microseconds a pair: Adam reads and writes seven tables, mining multiplies in bfloat16."""
    tables, n = table.to(device).repeat(4, 1), settings.megabatch * BATCH
    vectors = torch.randn((n, settings.dimension), device=device).bfloat16()

    def seconds(work: Callable[[], object]) -> float:
        work()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(20):
            work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 20_000

    # A copy reads and writes four tables each.
    step = seconds(tables.clone) * 7 / 8 / BATCH
    mining = 2 * seconds(lambda: vectors @ vectors.T) / n
    return {"average": 0.0, "mine": mining * 1e6, "step": step * 1e6}


def one_megabatch(
    engine: Engine, find: Mine, sentences: Sentences, clock: Callable[[], float], device: torch.device
) -> Float64:
    """Microseconds a pair of averaging, mining and stepping through one mega-batch, [3]."""

    def now() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return clock()

    n = len(sentences) // 2
    starts = range(0, n, BATCH)[: REFERENCE_STEPS if isinstance(engine, PlainEngine) else None]
    seconds = [now()]
    vectors = engine.embed(sentences)
    seconds.append(now())
    negatives = find(vectors, sentences)
    seconds.append(now())
    for start in starts:
        pairs = np.concatenate([np.arange(start, start + BATCH), np.arange(start, start + BATCH) + n])
        engine.step(sentences, np.concatenate([pairs, negatives[pairs]]), np.ones((2, BATCH), np.bool_))
    seconds.append(now())
    return np.diff(seconds) / (n, n, len(starts) * BATCH) * 1e6


def mined(vectors: Tensor, sentences: Sentences, *, workers: Workers, precision: MiningPrecision) -> Int64:
    """The negatives that a run with the papers' recipe finds, int64 [2n]."""
    return mine(vectors, SameMeaning.of(sentences), workers, leading=precision == "leading")


def megabatch_sentences(generator: np.random.Generator, pairs: int, rows: int) -> Sentences:
    """Random sources, then their targets; each target token is the source's or new, with equal chance."""
    cumulated = np.cumsum(zipf_chances(rows))
    lengths = np.clip(generator.poisson(TOKENS, pairs), 3, 100)
    size = int(lengths.sum())
    source, new = np.minimum(np.searchsorted(cumulated, generator.random((2, size))), rows - 1)
    target = np.where(generator.random(size) < 0.5, source, new)
    offsets = np.cumsum([0, *lengths, *lengths])
    return Sentences(np.concatenate([source, target]).astype(np.int32), offsets)


class PlainEngine:
    """The reference: an average of embeddings in torch alone, trained by autograd and dense Adam."""

    def __init__(self, table: Tensor, settings: TrainingSettings, device: torch.device) -> None:
        self.table = nn.Parameter(table.to(device))
        self.margin, self.dropout = settings.margin, settings.dropout
        self.optimizer = torch.optim.Adam([self.table], lr=settings.learning_rate, fused=True)

    @torch.no_grad()
    def embed(self, sentences: Sentences) -> Tensor:
        """Unit vectors of sentences, float32 [n, dim]."""
        return normalize(self._average(sentences, 0.0))

    def step(self, sentences: Sentences, chosen: Int64, _: Bool) -> float:
        """Train on one mini-batch with the margin loss, and return the loss."""
        self.optimizer.zero_grad()
        source, target, of_source, of_target = self._average(sentences.take(chosen), self.dropout).chunk(4)
        positive = self.margin - cosine_similarity(source, target)
        terms = [positive + cosine_similarity(*pair) for pair in ((source, of_source), (target, of_target))]
        loss = sum((term.clamp_min(0.0).mean() for term in terms), torch.zeros((), device=self.table.device))
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def _average(self, sentences: Sentences, share: float) -> Tensor:
        tokens = torch.from_numpy(sentences.tokens).to(self.table.device)
        offsets = torch.from_numpy(sentences.offsets[:-1]).to(self.table.device)
        if not share:
            return nn.functional.embedding_bag(tokens.long(), self.table, offsets, mode="mean")
        embeddings = dropout(self.table[tokens], share)
        lengths = torch.from_numpy(sentences.lengths).to(self.table.device)
        sums = embeddings.new_zeros(len(sentences), self.table.shape[1])
        return sums.index_add(0, torch.repeat_interleave(lengths), embeddings) / lengths[:, None]


def plain_negatives(vectors: Tensor, _: Sentences) -> Int64:
    """Negatives of both sides, int64 [2n], in blocks of 1024 rows of the similarity matrix."""
    n = len(vectors) // 2
    best = vectors.new_full((n,), -torch.inf)
    negatives = torch.zeros(2 * n, dtype=torch.int64, device=vectors.device)
    for start in range(0, n, 1024):
        similarity = vectors[start : min(n, start + 1024)] @ vectors[n:].T
        similarity.diagonal(start).fill_(-torch.inf)
        negatives[start : start + len(similarity)] = similarity.argmax(dim=1) + n
        values, indices = similarity.max(dim=0)
        negatives[n:] = torch.where(values > best, indices + start, negatives[n:])
        best = torch.maximum(best, values)
    return negatives.cpu().numpy()


if __name__ == "__main__":
    main()
