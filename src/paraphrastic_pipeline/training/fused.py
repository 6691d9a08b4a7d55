"""Train averaged embeddings with dedicated kernels: no graph, no dense gradient, no padding."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from paraphrastic.base.arrays import Bool, Float32, Int32, Int64
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.training import fused_kernels as kernels
from paraphrastic_pipeline.training.delayed_adam import missed_steps, settle
from paraphrastic_pipeline.training.loss import loss_and_factors
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.sparse_rows import Parameters, Step, gather
from paraphrastic_pipeline.training.threads import Workers

# The name of the parameters of an encoder that is one average.
TABLE = "parts.0.table"
CACHE_LINE = 64
# Columns per cache line.
CACHE_LINE_COLUMNS = CACHE_LINE // 4
LARGEST_BLOCK = 256
SMALLEST_BLOCK = 64
# Rows copied at a time, with their moments: 50 MB at 1,024 dimensions.
COPIED_ROWS = 4096


class FusedEngine:
    """Trains averaged embeddings with the margin loss and Adam, in two passes over a mini-batch's rows.

    It needs three times the table's memory, for the parameters and Adam's two moments. The result does not
    depend on the number of threads. `table` holds the initial embeddings, float32 [rows, dimension].
    """

    def __init__(self, table: Tensor, settings: TrainingSettings, workers: Workers, *, steps: int) -> None:
        self.settings = settings
        self.falling = steps if settings.learning_rate_schedule == "linear" else 0
        self.workers = workers
        rows, self.dimension = table.shape
        # Padded, so that every row starts a cache line; the added columns stay zero.
        self.width = -(-self.dimension // CACHE_LINE_COLUMNS) * CACHE_LINE_COLUMNS
        self.edges = _edges(self.width)
        self.parameters = Parameters(*(_zeros(rows * self.width) for _ in range(3)))
        self.parameters.table.reshape(rows, -1)[:, : self.dimension] = table.numpy()
        self.steps_done = 0
        self.last = np.zeros(rows, np.int64)
        self._slots = np.full(rows, -1, np.int32)

    def embed(self, sentences: Sentences) -> Tensor:
        """Embed with the current parameters, without dropout: unit vectors, float32 [n, dimension]."""
        touched = np.zeros(len(self.last), np.bool_)
        touched[sentences.tokens] = True
        self._settle(self.parameters, self.last, np.flatnonzero(touched).astype(np.int32))
        n = len(sentences)
        vectors = np.empty((n, self.width), np.float32)
        squares = np.empty((len(self.edges) - 1, n), np.float32)
        averaged = sentences.tokens, sentences.offsets, vectors, squares
        self._share(len(squares), kernels.average, self.parameters.table, self.width, self.edges, *averaged)
        self._share(n, kernels.normalize, vectors, squares)
        return torch.from_numpy(vectors)[:, : self.dimension]

    def step(self, sentences: Sentences, chosen: Int64, allowed: Bool) -> float:
        """Train on one mini-batch, and return its loss."""
        n, blocks = len(chosen) // 4, len(self.edges) - 1
        step = self._next_step()
        batch = gather(sentences.tokens, sentences.offsets, chosen, self._slots, self.width)
        missed = missed_steps(self.last[batch.rows], step)
        vectors = np.empty((blocks, 4 * n, np.diff(self.edges).max()), np.float32)
        products = np.empty((blocks, n, kernels.PRODUCTS))
        factors = np.empty((n, 10))
        shared = self.parameters, self.width, self.edges, batch
        self._share(blocks, kernels.forward, *shared, self.last, missed, step, vectors, products)
        loss = loss_and_factors(products, allowed, self.settings.margin, factors)
        self._share(blocks, kernels.backward, *shared, missed, step, vectors, factors)
        self.steps_done = step.number
        self.last[batch.rows] = step.number
        return float(loss)

    def table(self) -> Float32:
        """The embeddings, float32 [rows, dimension]."""
        # Rows catch up in a copy, because catching up in two stages would change the last digits.
        table = np.empty((len(self.last), self.dimension), np.float32)
        for start in range(0, len(self.last), COPIED_ROWS):
            last = self.last[start : start + COPIED_ROWS].copy()
            part = slice(start * self.width, (start + len(last)) * self.width)
            copies = Parameters(*(array[part].copy() for array in self.parameters))
            self._settle(copies, last, np.arange(len(last), dtype=np.int32))
            table[start : start + len(last)] = copies.table.reshape(len(last), -1)[:, : self.dimension]
        return table

    def weights(self) -> dict[str, Float32]:
        """The table, under its name in the encoder."""
        return {TABLE: self.table()}

    def state(self) -> dict[str, Tensor]:
        """The state that `restore` needs to continue from here."""
        arrays = {name: self._matrix(array) for name, array in self.parameters._asdict().items()}
        tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
        return {**tensors, "last": torch.from_numpy(self.last), "steps": torch.tensor(self.steps_done)}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from the point at which `state` was called."""
        for name, array in self.parameters._asdict().items():
            self._matrix(array)[:] = state[name].numpy()
        self.steps_done = int(state["steps"])
        self.last[:] = state["last"].numpy()

    def _matrix(self, array: Float32) -> Float32:
        return array.reshape(len(self.last), self.width)[:, : self.dimension]

    def _next_step(self) -> Step:
        settings, number = self.settings, self.steps_done + 1
        # The odd factors move the seeds of neighbouring steps far apart.
        seed = (settings.run_seed * 0x9E3779B97F4A7C15 + number * 0xD1B54A32D192ED03) >> 16 & 0x7FFFFFFF
        dropped = round(settings.dropout * 65536)
        return Step(number, settings.learning_rate, self.falling, settings.weight_decay, seed, dropped)

    def _settle(self, parameters: Parameters, last: Int64, rows: Int32) -> None:
        """Bring `rows`, of which row r is up to date with step `last[r]`, up to the last step."""
        step = self._next_step()
        missed = missed_steps(last[rows], step)
        self._share(len(rows), settle, parameters, self.width, rows, last, missed, step)
        last[rows] = self.steps_done

    def _share(self, n: int, kernel: Callable[..., None], *arguments: object) -> None:
        """Call a kernel on every thread, each time with another share of n blocks, rows or sentences."""
        size = self.workers.size
        self.workers.run(lambda index: kernel(*arguments, n * index // size, n * (index + 1) // size))


def _edges(width: int) -> Int64:
    """The columns at which blocks begin, followed by the width.

    Blocks are whole cache lines, about equally wide. If the width allows, their number is a multiple of four.
    """
    lines = width // CACHE_LINE_COLUMNS
    blocks = min(-(-width // SMALLEST_BLOCK), 4 * -(-width // (4 * LARGEST_BLOCK)))
    return np.arange(blocks + 1) * lines // blocks * CACHE_LINE_COLUMNS


def _zeros(size: int) -> Float32:
    """Zeros whose first element begins a cache line."""
    spare = CACHE_LINE // 4
    array = np.zeros(size + spare, np.float32)
    first = -array.ctypes.data % CACHE_LINE // 4
    return array[first : first + size]
