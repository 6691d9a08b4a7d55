"""Sentence encoders as users load them: `load_model(folder)`, then embed or score raw text."""

import functools
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import prepare_text
from paraphrastic.base.threads import available_cores, in_blocks
from paraphrastic.base.units import UNITS
from paraphrastic.model.unknown_pieces import with_unknown_pieces

if TYPE_CHECKING:
    from paraphrastic.model.pieces import Cutter, Pieces

WEIGHTS = "model.safetensors"
SENTENCEPIECE = "sentencepiece.model"
CONFIG = "config.json"
# Kinds of encoders, as `config.json` names them: one average, or what `parts_model` has.
ENCODER = "averaged_subwords"
PARTS = "parts"

# Sentences that are embedded at a time: their vectors are 8 MB at 1,024 dimensions.
BLOCK_SENTENCES = 2048
# Pairs that are scored at a time.
BLOCK_PAIRS = 1 << 15

Float32 = npt.NDArray[np.float32]
# float32 or float16.
Vectors = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]


class SentenceEncoder(ABC):
    """What every model does: vectors of raw sentences, and their cosines.

    Args:
        processor: the sentencepiece model; of several the first.
        config: what `config.json` holds.
    """

    kind: str
    """Of the encoder, as `config.json` names it."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor, config: Mapping[str, Any]) -> None:
        self.processor = with_unknown_pieces(processor, lowercase=bool(config.get("lowercase")))
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
    def _tokens(self, texts: Sequence[str], language: str | None) -> Any:
        """What the vectors of texts, spelled as in training, are made of; as `embed_tokens` takes it."""

    @abstractmethod
    def embed_tokens(
        self, tokens: Any, *, normalize: bool = False, vectors: Vectors | None = None
    ) -> Vectors:
        """Vectors of sentences that `tokenize` has cut, [n, dim]; in `vectors`, if they are given."""

    @abstractmethod
    def known_tokens(self, sentences: Sequence[str], *, language: str | None = None) -> list[list[int]]:
        """Ids of the pieces that each sentence's vector is made of; of several units, one after the other."""

    def _check_language(self, language: str | None) -> None:
        """Refuse a language that the model does not know, if it tells languages apart; this one does not."""
        return

    def embed_raw_text(
        self,
        sentences: Iterable[str],
        *,
        language: str | None = None,
        threads: int | None = None,
        normalize: bool = False,
        dtype: npt.DTypeLike = np.float32,
    ) -> Vectors:
        """Vectors of raw sentences, [n, dim]; that of an empty sentence is zero.

        Args:
            sentences: as they come; they are prepared as training saw them.
            language: of the sentences. Only a model that is separate for its languages asks for it.
            threads: of the processor; None, all that the process may use. Vectors do not depend on them.
            normalize: make vectors as long as 1, so that products are cosines; zero stays zero.
            dtype: float32 or float16, of the vectors.

        Raises:
            InputError: the model needs the language, and it is missing or none of the model's.
            TypeError: a sentence is no string.
        """
        if isinstance(sentences, str):
            raise TypeError("embed_raw_text takes a list of sentences, not one string")
        if np.dtype(dtype) not in (np.float32, np.float16):
            raise ValueError(f"dtype is {np.dtype(dtype)}; vectors are float32 or float16")
        sentences = sentences if isinstance(sentences, list | tuple) else list(sentences)
        _check_strings(sentences, "number {}")
        self._check_language(language)
        vectors: Vectors = np.empty((len(sentences), self.dim), dtype)

        def embed(rows: slice) -> None:
            tokens = self.tokenize(sentences[rows], language=language)
            self.embed_tokens(tokens, normalize=normalize, vectors=vectors[rows])

        in_blocks(embed, len(sentences), BLOCK_SENTENCES, threads or available_cores())
        return vectors

    def tokenize(self, sentences: Sequence[str], *, language: str | None = None) -> Any:
        """The first of the two stages of `embed_raw_text`, of which `embed_tokens` is the second."""
        self._check_language(language)
        try:
            return self._tokens(self._prepare(sentences), language)
        except UnicodeEncodeError:
            return self._tokens(self._prepare([_without_surrogates(text) for text in sentences]), language)

    def _prepare(self, sentences: Sequence[str]) -> list[str]:
        """Raw text as training saw it: Chinese segmented into words, characters folded, lower-cased."""
        settings = {key: self.config[key] for key in ("segmentation", "folding", "lowercase")}
        return prepare_text(sentences, **settings)

    def score_raw_text(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        languages: tuple[str, str] | None = None,
        threads: int | None = None,
    ) -> list[float]:
        """Cosine of each pair's vectors, in [-1, 1]; 0 where a sentence is empty.

        `languages` are those of the two sides, and `threads` of the processor; see `embed_raw_text`.

        Raises:
            InputError: see `embed_raw_text`.
            TypeError: a pair is not two strings.
        """
        pairs = list(pairs)
        for index, pair in enumerate(pairs):
            if isinstance(pair, str) or len(pair) != 2:
                raise TypeError(f"pair {index} is {pair!r}, not two sentences")
        _check_strings([pair[0] for pair in pairs], "the first of pair {}")
        _check_strings([pair[1] for pair in pairs], "the second of pair {}")
        scores: list[float] = []
        # Not all at once, since vectors take far more memory than text.
        for start in range(0, len(pairs), BLOCK_PAIRS):
            block = pairs[start : start + BLOCK_PAIRS]
            first, second = (
                self.embed_raw_text(
                    [pair[side] for pair in block],
                    language=languages[side] if languages else None,
                    threads=threads,
                )
                for side in range(2)
            )
            scores += cosines(first, second).tolist()
        return scores


class AverageEncoder(SentenceEncoder):
    """A trained model: the vector of a sentence is the average of its subwords' embeddings.

    Args:
        embeddings: float32, float16 or int8 [pieces, dim], one row a piece of the sentencepiece model, in its
            order; or uint8, as `packing` has entries of 2 or 4 bits, which are made int8.
        known: bool [pieces], false for pieces that training never met; they do not count.
        unknown: float32 [dim], vector of a sentence that has text but no known piece.
        processor: the sentencepiece model.
        config: what `config.json` holds.
        weights: float32 [pieces], by which the rows of int8 are multiplied.

    Raises:
        InputError: their sizes or kinds do not fit each other.
    """

    kind = ENCODER

    def __init__(
        self,
        embeddings: npt.NDArray[Any],
        known: npt.NDArray[np.bool_],
        unknown: Float32,
        processor: sentencepiece.SentencePieceProcessor,
        config: Mapping[str, Any],
        weights: Float32 | None = None,
    ) -> None:
        pieces = processor.get_piece_size()
        if embeddings.ndim != 2 or known.dtype != np.bool_ or unknown.dtype != np.float32:
            kinds = f"`known` of {known.dtype}, `unknown` of {unknown.dtype}"
            raise InputError(f"{WEIGHTS} holds embeddings {embeddings.shape}, {kinds}")
        self.bits: int | None = None
        if embeddings.dtype == np.uint8:
            from paraphrastic.model.packing import unpack

            embeddings, self.bits = unpack(embeddings, unknown.size)
        if embeddings.dtype not in (np.float32, np.float16, np.int8):
            raise InputError(f"{WEIGHTS} holds embeddings of {embeddings.dtype}")
        if (embeddings.dtype == np.int8) != (weights is not None):
            raise InputError(f"{WEIGHTS} holds embeddings of {embeddings.dtype}; int8 alone has weights")
        if weights is not None and (weights.shape != (pieces,) or weights.dtype != np.float32):
            kind = f"{weights.shape} of {weights.dtype}"
            raise InputError(f"{WEIGHTS} holds weights {kind} for {pieces} pieces")
        if embeddings.shape[0] != pieces or known.shape != (pieces,) or unknown.shape != embeddings.shape[1:]:
            raise InputError(
                f"{WEIGHTS} holds {embeddings.shape[0]} embeddings of {embeddings.shape[1]} dimensions, "
                f"but {SENTENCEPIECE} has {pieces} pieces"
            )
        super().__init__(processor, config)
        self.embeddings = embeddings
        self.known = known
        self.unknown = unknown
        self.weights = weights
        if (unit := config.get("unit", "subword")) not in UNITS:
            raise InputError(f"unit is {unit!r}, which is none of {', '.join(UNITS)}")

    @property
    def dim(self) -> int:
        """Dimension of the sentence vectors."""
        return int(self.embeddings.shape[1])

    @property
    def dtype(self) -> str:
        """Of the table: float32, float16, int8, int4 or int2."""
        return f"int{self.bits}" if self.bits else str(self.embeddings.dtype)

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """What `model.safetensors` holds, by name."""
        embeddings = self.embeddings
        if self.bits:
            from paraphrastic.model.packing import pack

            embeddings = pack(embeddings, self.bits)
        own = {"embeddings": embeddings, "known": self.known, "unknown": self.unknown}
        return own if self.weights is None else {**own, "weights": self.weights}

    @functools.cached_property
    def _cutter(self) -> "Cutter":
        # Not at the top: what compiles kernels takes half a second.
        from paraphrastic.model.pieces import Cutter

        return Cutter(self.processor, self.known, self.config.get("unit", "subword"))

    @functools.cached_property
    def _factors(self) -> Float32:
        return np.ones(len(self.embeddings), np.float32) if self.weights is None else self.weights

    def known_tokens(self, sentences: Sequence[str], *, language: str | None = None) -> list[list[int]]:
        """Ids of the pieces that each sentence's vector is made of."""
        return self.tokenize(sentences, language=language).lists()

    def _tokens(self, texts: Sequence[str], language: str | None) -> "Pieces":
        return self._cutter.cut(texts)

    def embed_tokens(
        self, tokens: "Pieces", *, normalize: bool = False, vectors: Vectors | None = None
    ) -> Vectors:
        """Vectors of sentences that `tokenize` has cut, [n, dim]; in `vectors`, if they are given."""
        from paraphrastic.model.kernels import as_entries, average

        if vectors is None:
            vectors = np.empty((len(tokens.has_text), self.dim), np.float32)
        table, output = as_entries(self.embeddings), as_entries(vectors)
        average(table, self._factors, *tokens, self.unknown, normalize, output)
        return vectors


def _check_strings(sentences: Sequence[Any], place: str) -> None:
    """Refuse what is no string; `place` says where the sentence of a number is."""
    for index, text in enumerate(sentences) if {*map(type, sentences)} - {str} else ():
        if not isinstance(text, str):
            raise TypeError(f"a sentence is {text!r} ({place.format(index)}), not a string")


def _without_surrogates(text: str) -> str:
    """Text with U+FFFD for surrogates that stand alone; two that belong together are their character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def cosines(first: Float32, second: Float32) -> npt.NDArray[np.float64]:
    """Cosine of row i of one matrix with row i of the other, [n]; 0 where a row is zero."""
    from paraphrastic.model.kernels import cosine_rows

    found = np.empty(len(first), np.float64)
    cosine_rows(first, second, found)
    return found
