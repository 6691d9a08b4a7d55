"""Sentence encoders as users load them: `load_model(folder)`, then embed or score raw text."""

import hashlib
import re
from abc import ABC, abstractmethod
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
from paraphrastic.spellings import by_spelling
from paraphrastic.units import spell

WEIGHTS = "model.safetensors"
SENTENCEPIECE = "sentencepiece.model"
CONFIG = "config.json"
# Kinds of encoders, as `config.json` names them: one average, or what `parts_model` has.
ENCODER = "averaged_subwords"
PARTS = "parts"

# Sentences whose token embeddings are gathered at a time: 256 of 20 tokens are 20 MB at 1,024 dimensions.
BLOCK_SENTENCES = 256

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


class RawTextEncoder(ABC):
    """What every model does: vectors of raw sentences, and their cosines.

    Args:
        processor: the sentencepiece model; of several the first.
        config: what `config.json` holds.
    """

    kind: str
    """Of the encoder, as `config.json` names it."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor, config: Mapping[str, Any]) -> None:
        self.processor = by_spelling(processor, lowercase=bool(config.get("lowercase")))
        self.config = config

    @property
    @abstractmethod
    def dim(self) -> int:
        """Dimension of the sentence vectors."""

    @abstractmethod
    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """What `model.safetensors` holds, by name."""

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides a sentence's vector."""
        digest = hashlib.sha256(self.processor.serialized_model_proto())
        for _, array in sorted(self.tensors().items()):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @abstractmethod
    def _tokens(self, texts: Sequence[str], language: str | None, threads: int) -> Any:
        """What the vectors of texts, spelled as in training, are made of; as `embed_tokens` takes it."""

    @abstractmethod
    def embed_tokens(self, tokens: Any, *, threads: int = 1) -> Float32:
        """Vectors of sentences that `tokenize` has cut, float32 [n, dim]."""

    @abstractmethod
    def known_tokens(self, sentences: Sequence[str], *, language: str | None = None) -> list[list[int]]:
        """Ids of the pieces that each sentence's vector is made of; of several units, one after the other."""

    def _check_language(self, language: str | None) -> None:
        """Refuse a language that the model does not know, if it tells languages apart; this one does not."""
        return

    def embed_raw_text(
        self, sentences: Sequence[str], *, language: str | None = None, threads: int = 1
    ) -> Float32:
        """Vectors of raw sentences, float32 [n, dim]; an empty sentence is the zero vector.

        Args:
            sentences: as they come; they are prepared as training saw them.
            language: of the sentences. Only a model that is separate for its languages asks for it.
            threads: of the processor.

        Raises:
            InputError: the model needs the language, and it is missing or none of the model's.
        """
        if isinstance(sentences, str):
            raise TypeError("embed_raw_text takes a list of sentences, not one string")
        for index, text in enumerate(sentences):
            if not isinstance(text, str):
                raise TypeError(f"a sentence is {text!r} (number {index}), not a string")
        self._check_language(language)
        vectors = np.zeros((len(sentences), self.dim), dtype=np.float32)
        # Sentences of about the same length together, which is what LSTMs are fast on.
        order = np.argsort(np.fromiter(map(len, sentences), np.int64, len(sentences)), kind="stable")
        for start in range(0, len(order), BLOCK_SENTENCES):
            rows = order[start : start + BLOCK_SENTENCES]
            tokens = self.tokenize([sentences[row] for row in rows], language=language, threads=threads)
            vectors[rows] = self.embed_tokens(tokens, threads=threads)
        return vectors

    def tokenize(self, sentences: Sequence[str], *, language: str | None = None, threads: int = 1) -> Any:
        """The first of the two stages of `embed_raw_text`, of which `embed_tokens` is the second."""
        self._check_language(language)
        return self._tokens(self._prepare(sentences), language, threads)

    def _prepare(self, sentences: Sequence[str]) -> list[str]:
        """Raw text as training saw it: Chinese segmented into words, characters folded, lower-cased."""
        texts = list(sentences)
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
        return texts

    def score_raw_text(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        languages: tuple[str, str] | None = None,
        threads: int = 1,
    ) -> list[float]:
        """Cosine of each pair's vectors, in [-1, 1]; 0 where a sentence is empty.

        `languages` are those of the two sides; see `embed_raw_text`.
        """
        pairs = list(pairs)
        first, second = (
            self.embed_raw_text(
                [pair[side] for pair in pairs],
                language=languages[side] if languages else None,
                threads=threads,
            )
            for side in range(2)
        )
        scores: list[float] = cosines(first, second).tolist()
        return scores


class SentenceEncoder(RawTextEncoder):
    """A trained model: the vector of a sentence is the average of its subwords' embeddings.

    Args:
        embeddings: float32 [pieces, dim], one row a piece of the sentencepiece model, in its order.
        known: bool [pieces], false for pieces that training never met; they do not count.
        unknown: float32 [dim], vector of a sentence that has text but no known piece.
        processor: the sentencepiece model.
        config: what `config.json` holds.
    """

    kind = ENCODER

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
        super().__init__(processor, config)
        self.embeddings = embeddings
        self.known = known
        self.unknown = unknown

    @property
    def dim(self) -> int:
        """Dimension of the sentence vectors."""
        return int(self.embeddings.shape[1])

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """What `model.safetensors` holds, by name."""
        return {"embeddings": self.embeddings, "known": self.known, "unknown": self.unknown}

    def known_tokens(self, sentences: Sequence[str], *, language: str | None = None) -> list[list[int]]:
        """Ids of the pieces that each sentence's vector is made of."""
        texts = spell(self._prepare(sentences), self.config.get("unit", "subword"))
        pieces, _, counts = known_pieces(self.processor, self.known, texts, threads=1)
        return [part.tolist() for part in np.split(pieces, np.cumsum(counts)[:-1])]

    def _tokens(self, texts: Sequence[str], language: str | None, threads: int) -> tuple[Int64, Int64, Int64]:
        """As `known_pieces` gives them."""
        spelled = spell(texts, self.config.get("unit", "subword"))
        return known_pieces(self.processor, self.known, spelled, threads)

    def embed_tokens(self, tokens: tuple[Int64, Int64, Int64], *, threads: int = 1) -> Float32:
        """Vectors of sentences that `tokenize` has cut, float32 [n, dim]."""
        pieces, lengths, counts = tokens
        vectors = np.zeros((len(counts), self.dim), dtype=np.float32)
        filled = counts > 0
        vectors[filled] = averages(self.embeddings, pieces, counts[filled])
        vectors[(lengths > 0) & ~filled] = self.unknown
        return vectors


def known_pieces(
    processor: sentencepiece.SentencePieceProcessor,
    known: npt.NDArray[np.bool_],
    texts: Sequence[str],
    threads: int,
) -> tuple[Int64, Int64, Int64]:
    """Known pieces of all texts, one after the other, and for each text its pieces and its known ones."""
    ids = processor.encode(list(texts), out_type=int, num_threads=threads)
    lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    pieces = np.fromiter((piece for sentence in ids for piece in sentence), np.int64, count=lengths.sum())
    sentence = np.repeat(np.arange(len(ids)), lengths)
    kept = known[pieces]
    return pieces[kept], lengths, np.bincount(sentence[kept], minlength=len(ids))


def averages(embeddings: Float32, rows: Int64, counts: Int64) -> Float32:
    """Averages of `counts` rows each, of which none is 0, float32 [n, dim]."""
    if not len(counts):
        return np.empty((0, embeddings.shape[1]), np.float32)
    sums = np.add.reduceat(embeddings[rows], np.cumsum(counts) - counts, axis=0)
    divided: Float32 = np.divide(sums, counts[:, None].astype(np.float32))
    return divided


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


def save_model(model: RawTextEncoder, folder: Path, *, config: Mapping[str, Any]) -> None:
    """Write a model folder: weights, sentencepiece model, and `config.json` with the digests of both."""
    with atomic_output(folder / WEIGHTS) as temporary:
        safetensors.numpy.save_file(model.tensors(), temporary)
    with atomic_output(folder / SENTENCEPIECE) as temporary:
        temporary.write_bytes(model.processor.serialized_model_proto())
    digests = {name: sha256(folder / name) for name in (WEIGHTS, SENTENCEPIECE)}
    write_json(folder / CONFIG, {"encoder": model.kind, "dimension": model.dim, **config, "sha256": digests})


def load_model(path: str | Path, *, sp_model: str | Path | None = None) -> RawTextEncoder:
    """Load a model folder, such as `results/models/en`, or a checkpoint of the original code.

    Args:
        path: the folder; or the checkpoint, such as `model.para.lc.100.pt`.
        sp_model: the checkpoint's sentencepiece model, such as `paranmt.model`.

    Raises:
        InputError: the folder misses a file, holds another kind of model, or a file is damaged; a checkpoint
            that `checkpoint_import.open_checkpoint` refuses.
    """
    folder = Path(path)
    if sp_model is not None:
        # Not at the top: folders need none of it.
        from paraphrastic.checkpoint_import import open_checkpoint

        return open_checkpoint(folder, sp_model)
    if folder.is_file():
        raise InputError(f"{folder}: is a file; of a checkpoint, sp_model is to be given, too")
    for name in (CONFIG, WEIGHTS, SENTENCEPIECE):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: not a model folder: {name} is missing")
    config = read_json(folder / CONFIG)
    kinds = (ENCODER, PARTS)
    if not isinstance(config, dict) or config.get("encoder") not in kinds or "sha256" not in config:
        raise InputError(f"{folder / CONFIG}: does not describe a model of the kind {ENCODER} or {PARTS}")
    for name, expected in config["sha256"].items():
        if (actual := sha256(folder / name)) != expected:
            raise InputError(f"{folder / name}: damaged: sha256 is {actual}, {CONFIG} says {expected}")
    tensors = safetensors.numpy.load_file(folder / WEIGHTS)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / SENTENCEPIECE))
    try:
        if config["encoder"] == ENCODER:
            embeddings, known, unknown = (tensors[name] for name in ("embeddings", "known", "unknown"))
            return SentenceEncoder(embeddings, known, unknown, processor, config)
        # Not at the top: averages of one table need none of it.
        from paraphrastic.parts_model import PartsEncoder

        return PartsEncoder.from_tensors(tensors, processor, config)
    except KeyError as error:
        raise InputError(f"{folder}: {WEIGHTS} and {CONFIG} do not agree: {error} is missing") from None
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
