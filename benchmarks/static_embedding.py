"""Train sentence-transformers' `StaticEmbedding` on a model's pairs and pieces, to compare the trainings.

The loss, the batches and the tokenization are sentence-transformers' own. The optimizer and its schedule are
those of its trainer. That is not used itself, because it needs more packages and its clock includes scores.
"""

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
from curves import Point, write_curve

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.interop.tokenizer import tokenizer_json
from paraphrastic.model.hub import not_installed
from paraphrastic.model.vocabulary import read_model_proto
from paraphrastic_pipeline.corpus.blocks import read_blocks
from paraphrastic_pipeline.evaluation.development import average_of_vectors

# The settings with which the authors of the library trained their static models ("Train 400x faster Static
# Embedding Models with Sentence Transformers", 2025).
BATCH_SIZE = 2048
LEARNING_RATE = 0.2
WARMUP = 0.1
# The default of the library's trainer.
MAX_GRADIENT_NORM = 1.0
# Instructions with which products in bfloat16 are faster than in float32.
_BFLOAT16 = ("avx512bf16", "amx-bf16")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of sentences in memory, in the form that the library's samplers take: a row is a dictionary."""

    sources: list[str]
    targets: list[str]
    column_names: list[str] = field(default_factory=lambda: ["source", "target"])

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, row: int) -> dict[str, str]:
        return {"source": self.sources[row], "target": self.targets[row]}

    @classmethod
    def read(cls, path: Path) -> "Pairs":
        """Read the pairs of a Parquet file; an `InputError` if it has none."""
        pairs = cls([], [])
        for block in read_blocks(path, columns=["source", "target"]):
            pairs.sources.extend(block["source"].to_pylist())
            pairs.targets.extend(block["target"].to_pylist())
        if not len(pairs):
            raise InputError(f"{path}: contains no pairs")
        return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticSettings:
    """Settings of a `StaticEmbedding` and its training.

    Attributes:
        dimension: dimension of the embeddings.
        epochs: passes over the pairs.
        points: number of scores, at equal distances; the last one is at the end.
        max_pieces: sentences are cut off after this many pieces; None keeps them whole.
        seed: seed of the embeddings and the order of the pairs.
    """

    dimension: int
    epochs: int
    points: int
    max_pieces: int | None
    seed: int


def train_static_embedding(
    pairs: Pairs,
    sentencepiece: Path,
    testsets: Path,
    output: Path,
    *,
    config: Mapping[str, Any],
    settings: StaticSettings,
    threads: int,
) -> None:
    """Train `StaticEmbedding` with `MultipleNegativesRankingLoss`, and write its curve on STS 2012–2016.

    Batches have 2,048 pairs and no sentence twice (`NoDuplicatesBatchSampler`). AdamW's learning rate rises
    to 0.2 in the first tenth of the steps and then falls to zero. Products are in bfloat16 if the processor
    has instructions for them, as in the authors' training, and otherwise in float32.

    Args:
        pairs: the training pairs.
        sentencepiece: the model of the vocabulary, whose pieces become those of a `tokenizer.json`.
        testsets: Parquet file with STS 2012–2016.
        output: CSV file of the curve; see `curves`. The model is in the folder of the same name without .csv.
        config: content of the model's `config.json`, for the tokenizer.
        settings: how long it is trained, and what it looks like.
        threads: threads of torch and of the tokenizer.

    Raises:
        InputError: sentence-transformers is not installed, the vocabulary cannot be a `tokenizer.json`, or a
            score is not a number.
    """
    # Hugging Face's tokenizers read the number of threads from the environment only.
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    os.environ.setdefault("RAYON_NUM_THREADS", str(threads))
    tokenizer = tokenizer_json(read_model_proto(sentencepiece.read_bytes()), config)
    begin = partial(_Training, tokenizer=tokenizer, threads=threads)
    # A first step takes seconds, in which torch loads what it needs. They count for no training.
    few = begin(Pairs(pairs.sources[:BATCH_SIZE], pairs.targets[:BATCH_SIZE]), replace(settings, epochs=1))
    few.step(next(few.batches()))
    started = time.monotonic()
    training = begin(pairs, settings)
    seconds, in_batches, n_read = time.monotonic() - started, 0.0, 0
    curve: list[Point] = []
    every, batches = settings.epochs * len(pairs) / settings.points, training.batches()
    while True:
        start = time.monotonic()
        if (batch := next(batches, None)) is None:
            break
        made = time.monotonic()
        training.step(batch)
        seconds, in_batches = seconds + time.monotonic() - made, in_batches + made - start
        before, n_read = n_read, n_read + len(batch[0]["offsets"])
        # The small number offsets rounding errors.
        if int(n_read / every + 1e-9) > int(before / every + 1e-9):
            score = average_of_vectors(training.embed, testsets)
            curve.append(Point(pairs=n_read, seconds=seconds, seconds_of_batches=in_batches, sts=score))
            print(f"StaticEmbedding, {n_read:,} pairs in {seconds:.1f} s of steps: {score:.2f}", flush=True)
    write_curve(curve, output, dim=settings.dimension, threads=threads)
    training.model.save_pretrained(str(output.with_suffix("")), create_model_card=False)


class _Training:
    """The model with its loss, batches and optimizer."""

    def __init__(self, pairs: Pairs, settings: StaticSettings, *, tokenizer: str, threads: int) -> None:
        try:
            # Imported late: the package is optional and takes seconds to import.
            import torch
            from sentence_transformers import SentenceTransformer
            from sentence_transformers.base.sampler import NoDuplicatesBatchSampler
            from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
            from sentence_transformers.sentence_transformer.modules import StaticEmbedding
            from tokenizers import Tokenizer
            from transformers import get_linear_schedule_with_warmup
        except ImportError:
            raise not_installed("StaticEmbedding", "sentence-transformers") from None
        torch.set_num_threads(threads)
        torch.manual_seed(settings.seed)
        cutter = Tokenizer.from_str(tokenizer)
        if settings.max_pieces is not None:
            cutter.enable_truncation(settings.max_pieces)
        self.pairs, self.epochs = pairs, settings.epochs
        self.model: Any = SentenceTransformer(
            modules=[StaticEmbedding(cutter, embedding_dim=settings.dimension)], device="cpu"
        )
        self.loss: Any = MultipleNegativesRankingLoss(self.model)
        self.sampler: Any = NoDuplicatesBatchSampler(
            pairs,
            BATCH_SIZE,
            drop_last=False,
            generator=torch.Generator(),
            seed=settings.seed,
        )
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=LEARNING_RATE, weight_decay=0.0, fused=True
        )
        steps = settings.epochs * len(self.sampler)
        warmup = math.ceil(WARMUP * steps)
        self.schedule: Any = get_linear_schedule_with_warmup(self.optimizer, warmup, steps)
        self.precision = partial(torch.autocast, "cpu", torch.bfloat16, enabled=has_bfloat16_products())
        self.clip = partial(torch.nn.utils.clip_grad_norm_, max_norm=MAX_GRADIENT_NORM)

    def batches(self) -> Iterator[list[Any]]:
        """Yield the batches of all epochs: the ids and offsets of the sources, and those of the targets."""
        for epoch in range(self.epochs):
            self.sampler.set_epoch(epoch)
            for rows in self.sampler:
                yield [
                    self.model.preprocess([side[row] for row in rows])
                    for side in (self.pairs.sources, self.pairs.targets)
                ]

    def step(self, batch: list[Any]) -> None:
        """Train on a batch."""
        with self.precision():
            loss = self.loss(batch, None)
        loss.backward()
        self.clip(self.model.parameters())
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad()

    def embed(self, sentences: Sequence[str]) -> Float32:
        """Embed sentences: vectors, [n, dim]."""
        vectors = self.model.encode(list(sentences), batch_size=BATCH_SIZE, show_progress_bar=False)
        return np.asarray(vectors, np.float32)


def has_bfloat16_products() -> bool:
    """Whether the processor has instructions for bfloat16; without them, torch is slower than in float32."""
    features = llvmlite.binding.get_host_cpu_features()
    return any(features.get(name) for name in _BFLOAT16)
