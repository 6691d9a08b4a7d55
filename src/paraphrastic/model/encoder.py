"""What all models can do: `load_model(folder)` returns a `SentenceEncoder`, which embeds and scores text."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import contains
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.arrays import Float32, Float64
from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import HAS_NUL
from paraphrastic.base.text import prepare_text
from paraphrastic.base.threads import available_cores, in_blocks
from paraphrastic.model.architecture import encoder_name
from paraphrastic.model.kernels import cosine_rows
from paraphrastic.model.sentencepiece_models import with_unknown_pieces

# Sentences that are embedded at a time; at 1,024 dimensions, their vectors take 8 MB.
BLOCK_SENTENCES = 2048
# Pairs that are scored at a time.
BLOCK_PAIRS = 1 << 15

# float32 or float16.
Vectors = npt.NDArray[Any]


class SentenceEncoder(ABC):
    """Turns raw sentences into vectors, and pairs of them into cosines.

    Args:
        config: the content of `config.json`.
    """

    kind: str
    """The kind of the encoder, as `config.json` names it."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config

    @property
    @abstractmethod
    def dim(self) -> int:
        """Dimension of the sentence vectors."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""

    @property
    def label(self) -> str:
        """The kind of the encoder and the name of the model, for tables and messages."""
        return f"{encoder_name(self.config)} {self.config['model']}"

    @property
    def preparation(self) -> dict[str, Any]:
        """How text becomes units, which the digest does not cover: modes that change nothing are left out."""
        modes = {
            key: {language: mode for language, mode in self.config[key].items() if mode != "none"}
            for key in ("segmentation", "folding")
        }
        return {"unit": self.config.get("unit"), "lowercase": self.config["lowercase"], **modes}

    @abstractmethod
    def _tokens(self, texts: Sequence[str], language: str | None) -> Any:
        """Cut prepared texts into the tokens that `embed_tokens` takes."""

    @abstractmethod
    def _embed(self, tokens: Any, normalize: bool, vectors: Vectors) -> None:
        """Embed sentences that `tokenize` has cut, and write the result to `vectors`, [n, dim]."""

    def embed_tokens(self, tokens: Any) -> Float32:
        """Embed sentences that `tokenize` has cut: vectors, [n, dim]."""
        vectors = np.empty((len(tokens.has_text), self.dim), np.float32)
        self._embed(tokens, False, vectors)
        return vectors

    def known_tokens(self, sentences: Sequence[str], *, language: str | None = None) -> list[list[int]]:
        """Ids of the pieces that count for each sentence's vector, one unit after the other."""
        lists: list[list[int]] = self.tokenize(sentences, language=language).lists()
        return lists

    def _check_language(self, language: str | None) -> None:
        """Refuse a language that the model does not know, if it keeps its languages apart."""
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
        """Embed raw sentences: vectors, [n, dim]; an empty sentence has a zero vector.

        Args:
            sentences: raw text, which is prepared as in training.
            language: language of the sentences. A model that keeps its languages apart needs it, and one that
                was trained on segmented Chinese otherwise guesses which sentences are Chinese.
            threads: CPU threads; None uses all available cores. Vectors do not depend on the number.
            normalize: scale vectors to length 1, so that dot products are cosines; zero vectors stay zero.
            dtype: type of the vectors, float32 or float16.

        Raises:
            InputError: the model needs a language, and it is missing or not one of the model's; or a sentence
                has a NUL character, which no text contains.
            TypeError: a sentence is not a string.
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
            self._embed(self.tokenize(sentences[rows], language=language), normalize, vectors[rows])

        in_blocks(embed, len(sentences), BLOCK_SENTENCES, threads or available_cores())
        return vectors

    def tokenize(self, sentences: Sequence[str], *, language: str | None = None) -> Any:
        """The first stage of `embed_raw_text`; `embed_tokens` is the second one."""
        self._check_language(language)
        try:
            return self._tokens(self._prepare(sentences, language), language)
        except UnicodeEncodeError:
            # Each lone surrogate becomes U+FFFD, and a pair of them the character that it stands for.
            whole = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in sentences]
            return self._tokens(self._prepare(whole, language), language)

    def _prepare(self, sentences: Sequence[str], language: str | None) -> list[str]:
        """Prepare raw text as training did; see `prepare_text`."""
        settings = {key: self.config[key] for key in ("segmentation", "folding", "lowercase")}
        return prepare_text(sentences, language=language, **settings)

    def score_raw_text(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        languages: tuple[str, str] | None = None,
        threads: int | None = None,
    ) -> list[float]:
        """Cosine of each pair's vectors, in [-1, 1]; 0 if a sentence is empty.

        `languages` are the languages of the two sides; see `embed_raw_text`.

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
        # In blocks, since vectors take far more memory than text.
        for start in range(0, len(pairs), BLOCK_PAIRS):
            first, second = (
                self.embed_raw_text(side, language=language, threads=threads)
                for side, language in zip(
                    zip(*pairs[start : start + BLOCK_PAIRS], strict=True),
                    languages or (None, None),
                    strict=True,
                )
            )
            scores += cosines(first, second).tolist()
        return scores


class PieceEncoder(SentenceEncoder):
    """An encoder with tables of sentencepiece's pieces.

    Args:
        processor: the sentencepiece model, or the first one if there are several.
        config: the content of `config.json`.
    """

    def __init__(self, processor: sentencepiece.SentencePieceProcessor, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.processor = with_unknown_pieces(processor, lowercase=bool(config.get("lowercase")))

    @abstractmethod
    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """The content of `model.safetensors`, by name."""

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""
        digest = hashlib.sha256(self.processor.serialized_model_proto())
        for _, array in sorted(self.tensors().items()):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _check_strings(sentences: Sequence[Any], place: str) -> None:
    """Refuse anything but strings of text; `place` is a format string that says where sentence {} is."""
    for index, text in enumerate(sentences) if {*map(type, sentences)} - {str} else ():
        if not isinstance(text, str):
            raise TypeError(f"a sentence is {text!r} ({place.format(index)}), not a string")
    if any(map(contains, sentences, repeat("\0"))):
        index = next(index for index, text in enumerate(sentences) if "\0" in text)
        raise InputError(f"a sentence ({place.format(index)}) {HAS_NUL}")


def cosines(first: Float32, second: Float32) -> Float64:
    """Cosine of row i of one matrix with row i of the other, [n]; 0 if a row is zero."""
    values = np.empty(len(first), np.float64)
    cosine_rows(first, second, values)
    return values
