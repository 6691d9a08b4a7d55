"""Sentence encoders as users load them: `load_model(folder)`, then embed or score raw text."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy
import sentencepiece

from paraphrastic.errors import InputError
from paraphrastic.files import atomic_output, read_json, sha256, write_json
from paraphrastic.units import spell

WEIGHTS = "model.safetensors"
SENTENCEPIECE = "sentencepiece.model"
CONFIG = "config.json"
ENCODER = "averaged_subwords"

# Sentences whose token embeddings are gathered at a time: 256 of 20 tokens are 20 MB at 1,024 dimensions.
BLOCK_SENTENCES = 256

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")

Float32 = npt.NDArray[np.float32]


class SentenceEncoder:
    """A trained model: the vector of a sentence is the average of its subwords' embeddings.

    Args:
        embeddings: float32 [pieces, dim], one row a piece of the sentencepiece model, in its order.
        known: bool [pieces], false for pieces that training never met; they do not count.
        unknown: float32 [dim], vector of a sentence that has text but no known piece.
        processor: the sentencepiece model.
        config: what `config.json` holds.
    """

    def __init__(
        self,
        embeddings: Float32,
        known: npt.NDArray[np.bool_],
        unknown: Float32,
        processor: sentencepiece.SentencePieceProcessor,
        config: Mapping[str, Any],
    ) -> None:
        pieces = processor.get_piece_size()
        if embeddings.shape[0] != pieces or known.shape != (pieces,) or unknown.shape != embeddings.shape[1:]:
            raise InputError(
                f"{WEIGHTS} holds {embeddings.shape[0]} embeddings of {embeddings.shape[1]} dimensions, "
                f"but {SENTENCEPIECE} has {pieces} pieces"
            )
        self.embeddings = embeddings
        self.known = known
        self.unknown = unknown
        self.processor = processor
        self.config = config

    @property
    def dim(self) -> int:
        """Dimension of the sentence vectors."""
        return int(self.embeddings.shape[1])

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides a sentence's vector."""
        digest = hashlib.sha256(self.processor.serialized_model_proto())
        for array in (self.embeddings, self.known, self.unknown):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def embed_raw_text(self, sentences: Sequence[str], *, threads: int = 1) -> Float32:
        """Vectors of raw sentences, float32 [n, dim]; an empty sentence is the zero vector."""
        if isinstance(sentences, str):
            raise TypeError("embed_raw_text takes a list of sentences, not one string")
        vectors = np.zeros((len(sentences), self.dim), dtype=np.float32)
        for start in range(0, len(sentences), BLOCK_SENTENCES):
            block = sentences[start : start + BLOCK_SENTENCES]
            self._embed_block(block, vectors[start : start + len(block)], threads)
        return vectors

    def _embed_block(self, sentences: Sequence[str], vectors: Float32, threads: int) -> None:
        ids = self.processor.encode(self._prepare(sentences), out_type=int, num_threads=threads)
        lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        pieces = np.fromiter((piece for sentence in ids for piece in sentence), np.int64, count=lengths.sum())
        sentence = np.repeat(np.arange(len(ids)), lengths)
        known = self.known[pieces]
        counts = np.bincount(sentence[known], minlength=len(ids))
        filled = counts > 0
        if filled.any():
            starts = np.concatenate(([0], np.cumsum(counts)))[:-1][filled]
            sums = np.add.reduceat(self.embeddings[pieces[known]], starts, axis=0)
            vectors[filled] = sums / counts[filled, None].astype(np.float32)
        vectors[(lengths > 0) & ~filled] = self.unknown

    def known_pieces(self, sentences: Sequence[str]) -> list[list[int]]:
        """Ids of the pieces that each sentence's vector is made of."""
        ids = self.processor.encode(self._prepare(sentences), out_type=int)
        return [[piece for piece in sentence if self.known[piece]] for sentence in ids]

    def _prepare(self, sentences: Sequence[str]) -> list[str]:
        """Raw text as training saw it: Chinese segmented into words, characters folded, lower-cased."""
        texts = list(sentences)
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"a sentence is {text!r} (number {index} of its block), not a string")
        if mode := self.config["segmentation"].get("zh"):
            # Not at the top: few models need what this module needs.
            from paraphrastic.corpus.text import segment

            chinese = [index for index, text in enumerate(texts) if HAN.search(text)]
            for index, text in zip(chinese, segment([texts[i] for i in chinese], "zh", mode), strict=True):
                texts[index] = text
        if folding := self.config["folding"]:
            from paraphrastic.corpus.text import fold

            texts = fold(texts, folding)
        if self.config["lowercase"]:
            texts = [text.lower() for text in texts]
        return spell(texts, self.config.get("unit", "subword"))

    def score_raw_text(self, pairs: Iterable[tuple[str, str]], *, threads: int = 1) -> list[float]:
        """Cosine of each pair's vectors, in [-1, 1]; 0 where a sentence is empty."""
        pairs = list(pairs)
        first = self.embed_raw_text([pair[0] for pair in pairs], threads=threads)
        second = self.embed_raw_text([pair[1] for pair in pairs], threads=threads)
        scores: list[float] = cosines(first, second).tolist()
        return scores


def cosines(first: Float32, second: Float32) -> npt.NDArray[np.float64]:
    """Cosine of row i of one matrix with row i of the other, [n]; 0 where a row is zero."""
    products = np.einsum("nd,nd->n", first, second, dtype=np.float64)
    norms = np.sqrt(
        np.einsum("nd,nd->n", first, first, dtype=np.float64)
        * np.einsum("nd,nd->n", second, second, dtype=np.float64)
    )
    return np.divide(products, norms, out=np.zeros_like(products), where=norms > 0).clip(-1.0, 1.0)


def embeddings_by_piece(
    table: Float32, pieces: npt.NDArray[np.int32], n_pieces: int
) -> tuple[Float32, npt.NDArray[np.bool_], Float32]:
    """Reorder a training table, whose rows follow `pieces` and end with the unknown one.

    Returns:
        `embeddings` [n_pieces, dim] (zero rows for pieces without a row), `known` and `unknown` as
        `SentenceEncoder` takes them.
    """
    embeddings = np.zeros((n_pieces, table.shape[1]), dtype=np.float32)
    embeddings[pieces] = table[:-1]
    known = np.zeros(n_pieces, dtype=np.bool_)
    known[pieces] = True
    return embeddings, known, table[-1].astype(np.float32)


def save_model(model: SentenceEncoder, folder: Path, *, config: Mapping[str, Any]) -> None:
    """Write a model folder: weights, sentencepiece model, and `config.json` with the digests of both."""
    weights = {"embeddings": model.embeddings, "known": model.known, "unknown": model.unknown}
    with atomic_output(folder / WEIGHTS) as temporary:
        safetensors.numpy.save_file(weights, temporary)
    with atomic_output(folder / SENTENCEPIECE) as temporary:
        temporary.write_bytes(model.processor.serialized_model_proto())
    digests = {name: sha256(folder / name) for name in (WEIGHTS, SENTENCEPIECE)}
    write_json(folder / CONFIG, {"encoder": ENCODER, "dimension": model.dim, **config, "sha256": digests})


def load_model(path: str | Path) -> SentenceEncoder:
    """Load a model folder, such as `results/models/en`.

    Raises:
        InputError: the folder misses a file, holds another kind of model, or a file is damaged.
    """
    folder = Path(path)
    for name in (CONFIG, WEIGHTS, SENTENCEPIECE):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: not a model folder: {name} is missing")
    config = read_json(folder / CONFIG)
    if not isinstance(config, dict) or config.get("encoder") != ENCODER or "sha256" not in config:
        raise InputError(f"{folder / CONFIG}: does not describe a model of the kind {ENCODER}")
    for name, expected in config["sha256"].items():
        if (actual := sha256(folder / name)) != expected:
            raise InputError(f"{folder / name}: damaged: sha256 is {actual}, {CONFIG} says {expected}")
    weights = safetensors.numpy.load_file(folder / WEIGHTS)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / SENTENCEPIECE))
    return SentenceEncoder(weights["embeddings"], weights["known"], weights["unknown"], processor, config)
