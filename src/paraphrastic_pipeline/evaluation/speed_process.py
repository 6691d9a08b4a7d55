"""One encoder's speed on one device, measured in a process that starts with the right number of threads.

    python -m paraphrastic_pipeline.evaluation.speed_process JOB RESULT

JOB is a JSON file with the parameters of `measure_job`. RESULT is a JSON file to write: the function's return
value, or the message of an `InputError` under the key `error`.
"""

import copy
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json, write_json
from paraphrastic.base.threads import in_order
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import BLOCK_SENTENCES, SentenceEncoder
from paraphrastic.model.tokenizer import Tokens
from paraphrastic.model.transformer import TransformerEncoder
from paraphrastic.systems.external import SentenceTransformerEncoder, StaticModelEncoder
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.training.threads import in_blocks


class Halves(NamedTuple):
    """The two halves of embedding, so that each can be timed.

    Attributes:
        tokenize: turns sentences in a language into what the encoder reads.
        embed: turns that into vectors.
    """

    tokenize: Callable[[Sequence[str], str], Any]
    embed: Callable[[Any], Any]


def measure_job(
    *,
    system: str | Mapping[str, Any],
    device: str,
    cores: int,
    sentences: Sequence[str],
    batch_sizes: Sequence[int],
    **settings: Any,
) -> Json:
    """Open an encoder, given in the form that `open_encoder` takes, and measure it with every batch size.

    The device is `cpu` or `gpu`. This process is restricted to the number of cores. The other settings are
    those of `measure`.

    Returns:
        The label as `system`, `dim`, and the `rows` of `measure`; or only `left_out`, the reason for no rows.

    Raises:
        InputError: the encoder cannot be opened.
    """
    hold_to(cores)
    encoder = open_encoder(system, threads=cores, device="cpu" if device == "cpu" else None)
    if device == "cpu":
        halves = on_processor(encoder, cores)
    elif isinstance(encoder, AverageEncoder):
        halves = averages_on("cuda", encoder, cores)
    elif isinstance(encoder, TransformerEncoder | SentenceTransformerEncoder):
        # One thread keeps the GPU busy.
        halves = on_processor(encoder, 1)
    else:
        return {"left_out": "it does not run on a GPU"}
    rows = [row for size in batch_sizes for row in measure(halves, sentences, batch_size=size, **settings)]
    return {"system": encoder.label, "dim": encoder.dim, "rows": rows}


def hold_to(cores: int) -> None:
    """Restrict this process to this number of cores, if the operating system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def on_processor(encoder: Any, threads: int) -> Halves:
    """The halves of an encoder; in models of this project, threads share the blocks of sentences."""
    if isinstance(encoder, SentenceTransformerEncoder):
        return _transformer_halves(encoder.model)
    if isinstance(encoder, StaticModelEncoder):
        return _static_halves(encoder.model)

    def embed(blocks: list[Any]) -> list[Float32]:
        return [*in_order(encoder.embed_tokens, blocks, max(1, min(threads, len(blocks))))]

    return Halves(_tokenize_blocks(encoder, threads), embed)


def _tokenize_blocks(model: SentenceEncoder, threads: int) -> Callable[[Sequence[str], str], list[Any]]:
    def tokenize(sentences: Sequence[str], language: str) -> list[Any]:
        def of_block(rows: slice) -> Any:
            return model.tokenize(sentences[rows], language=language)

        return in_blocks(of_block, len(sentences), BLOCK_SENTENCES, threads)

    return tokenize


def _transformer_halves(model: Any) -> Halves:
    """The halves of a model of sentence-transformers."""
    import torch

    prompt = model.prompts.get(model.default_prompt_name)

    @torch.inference_mode()
    def embed(tokens: Any) -> Float32:
        # A new dictionary, because the modules add their entries to it.
        moved = {
            key: value.to(model.device) if isinstance(value, torch.Tensor) else value
            for key, value in tokens.items()
        }
        return model(moved)["sentence_embedding"].float().cpu().numpy()

    return Halves(lambda sentences, _: model.preprocess(list(sentences), prompt=prompt), embed)


def _static_halves(model: Any) -> Halves:
    """The halves of a model of model2vec."""
    # The model itself truncates texts like this before it tokenizes them.
    longest = None if model.max_length is None else model.max_length * model.median_token_length
    # A copy of the model, for sentences that have already been tokenized.
    pooling = copy.copy(model)
    pooling.tokenize = lambda sentences: sentences

    def embed(tokens: Any) -> Float32:
        vectors = pooling.encode(tokens, batch_size=max(1, len(tokens)), use_multiprocessing=False)
        return np.asarray(vectors, np.float32)

    return Halves(lambda sentences, _: model.tokenize([text[:longest] for text in sentences]), embed)


def averages_on(device: str, model: AverageEncoder, threads: int) -> Halves:
    """The halves of a model that averages, which the processor and a device compute: there, with torch."""
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

    return Halves(_tokenize_blocks(model, threads), lambda blocks: [averages(block) for block in blocks])


def measure(
    halves: Halves, sentences: Sequence[str], *, language: str, batch_size: int, seconds: float, repeats: int
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
        halves.embed(halves.tokenize(batch, language))

    # Compiling and loading that happen on first use must not be timed.
    embed(batches[0])
    done, _ = _timed(embed, batches, seconds)
    batches = batches[:done]
    counted = [_timed(embed, batches)[1] for _ in range(repeats)]
    tokenized = [halves.tokenize(batch, language) for batch in batches]
    not_counted = [_timed(halves.embed, tokenized)[1] for _ in range(repeats)]
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
