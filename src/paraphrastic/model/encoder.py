"""What all models can do: `load_model(folder)` returns a `SentenceEncoder`, which embeds and scores text."""

import hashlib
import shutil
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraphrastic.base.arrays import Float32, Float64, unit_rows
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import new_folder
from paraphrastic.base.lines import HAS_NUL
from paraphrastic.base.text import prepare_text
from paraphrastic.base.threads import available_cores, in_blocks
from paraphrastic.model.architecture import encoder_name
from paraphrastic.model.columns import Column, as_list
from paraphrastic.model.files import CARD, MODULES, TOKENIZER, ModelFiles
from paraphrastic.model.kernels import cosine_rows
from paraphrastic.model.sentencepiece_models import with_unknown_pieces
from paraphrastic.model.shipped import folder_of
from paraphrastic.model.utf8 import Utf8, prepare_utf8
from paraphrastic.model.values import Recipe, Value, opener

if TYPE_CHECKING:
    import torch

# Sentences that are embedded at a time; at 1,024 dimensions, their vectors take 8 MB.
BLOCK_SENTENCES = 2048
# Pairs that are scored at a time.
BLOCK_PAIRS = 1 << 15
# Further arguments of sentence-transformers' `encode`, and the values that stand for what is done here.
_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "prompt": (None,), "prompt_name": (None,), "output_value": ("sentence_embedding",),
    "precision": ("float32",), "pool": (None,), "chunk_size": (None,), "truncate_dim": (None,),
}  # fmt: skip

# float32 or float16.
Vectors = npt.NDArray[Any]


class SentenceEncoder(Value):
    """Turns raw sentences into vectors, and pairs of them into cosines.

    Its `config` is the content of `config.json`.
    """

    kind: str
    """The kind of the encoder, as `config.json` names it."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config

    @property
    @abstractmethod
    def dim(self) -> int:
        """Dimension of the sentence vectors."""

    @abstractmethod
    def write(self, folder: Path) -> None:
        """Write the files of a model folder, in which other libraries may need more."""

    def __repr__(self) -> str:
        known = "-".join(self.config.get("languages", ())) or "unknown"
        return f"<{type(self).__name__} {self.config['model']}: languages {known}, {self.dim} dimensions>"

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
        return self.tokenize(sentences, language=language).lists()

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
            sentences: raw text, which is prepared as in training: a list, or a column of pandas, Polars,
                Arrow or NumPy.
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
            raise TypeError("embed_raw_text takes a list of sentences, not one string; encode takes both")
        if np.dtype(dtype) not in (np.float32, np.float16):
            raise ValueError(f"dtype is {np.dtype(dtype)}; vectors are float32 or float16")
        column = Column(sentences)
        self._check_language(language)
        vectors: Vectors = np.empty((len(column), self.dim), dtype)

        def embed(rows: slice) -> None:
            block = column.part(rows)
            tokens = self._quick_tokens(block, language)
            if tokens is None:
                # Strings are made and checked here, so that they stay in the processor's cache.
                strings = as_list(block)
                _check_strings(strings, "number {}", rows.start)
                tokens = self._exact_tokens(strings, language)
            self._embed(tokens, normalize, vectors[rows])

        in_blocks(embed, len(column), BLOCK_SENTENCES, threads or available_cores())
        return vectors

    def tokenize(self, sentences: Sequence[str], *, language: str | None = None) -> Any:
        """The first stage of `embed_raw_text`; `embed_tokens` is the second one."""
        self._check_language(language)
        tokens = self._quick_tokens(sentences, language)
        return self._exact_tokens(sentences, language) if tokens is None else tokens

    def _quick_tokens(self, sentences: Any, language: str | None) -> Any | None:
        """Tokens of a list or of a column of Arrow or NumPy, if they can be had without strings."""
        return None

    def _exact_tokens(self, sentences: Sequence[str], language: str | None) -> Any:
        try:
            return self._tokens(self._prepare(sentences, language), language)
        except UnicodeEncodeError:
            # Each lone surrogate becomes U+FFFD, and a pair of them the character that it stands for.
            whole = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in sentences]
            return self._tokens(self._prepare(whole, language), language)

    def _prepare(self, sentences: Sequence[str], language: str | None) -> list[str]:
        """Prepare raw text as training did; see `prepare_text`."""
        return prepare_text(sentences, language=language, **self._text_settings)

    def _prepare_utf8(self, sentences: Any, language: str | None) -> Utf8 | None:
        """Prepare most text faster; see `prepare_utf8`."""
        return prepare_utf8(sentences, language=language, **self._text_settings)

    @property
    def _text_settings(self) -> dict[str, Any]:
        return {key: self.config[key] for key in ("segmentation", "folding", "lowercase")}

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

    # Methods under the names that other libraries have for them.

    def encode(
        self,
        sentences: str | Iterable[str],
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        normalize_embeddings: bool = False,
        *,
        language: str | None = None,
        **others: Any,
    ) -> "npt.NDArray[Any] | torch.Tensor | list[torch.Tensor]":
        """Embed sentences as sentence-transformers does: vectors, [n, dim], or one vector for one string.

        Args:
            sentences: raw text; see `embed_raw_text`.
            batch_size: is not used, since blocks of one size are the fastest for averages.
            show_progress_bar: is not used, since a million sentences take seconds.
            convert_to_numpy: return an array; if false, a list of one tensor of torch per sentence.
            convert_to_tensor: return one tensor of torch instead.
            normalize_embeddings: scale vectors to length 1.
            language: see `embed_raw_text`.
            others: what sentence-transformers takes, too. `device` is not used, an average has no prompts,
                and vectors of other kinds are made by other methods.

        Raises:
            InputError: tensors are asked for, and torch is not installed; see also `embed_raw_text`.
            TypeError: something else is asked for.
            ValueError: the batch size is not a whole number of at least 1.
        """
        # A newer version of theirs has the name of a prompt in this place.
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ValueError(f"the batch size {batch_size!r} is not a whole number of at least 1")
        for name, value in others.items():
            if value not in _DEFAULTS.get(name, ()) and name != "device":
                raise TypeError(f"encode does not take {name}={value!r}")
        single = isinstance(sentences, str)
        vectors = self.embed_raw_text(
            [sentences] if isinstance(sentences, str) else sentences,
            language=language,
            normalize=normalize_embeddings,
        )
        if convert_to_tensor or not convert_to_numpy:
            try:
                from torch import from_numpy
            except ImportError:
                raise InputError("tensors need torch, which is not installed: pip install torch") from None
            tensors = from_numpy(vectors)
            if single:
                return tensors[0]
            return tensors if convert_to_tensor else list(tensors)
        return vectors[0] if single else vectors

    def similarity(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Float32:
        """Cosines of each vector of one matrix with each of another, [n, m]; a single vector is one row."""
        a, b = (unit_rows(np.atleast_2d(np.asarray(vectors))) for vectors in (first, second))
        if a.shape[1] != b.shape[1]:
            raise InputError(f"vectors of {a.shape[1]} and of {b.shape[1]} dimensions cannot be compared")
        return np.asarray(a @ b.T, np.float32)

    def similarity_pairwise(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Float32:
        """Cosines of the vectors that stand side by side in two matrices, [n]."""
        a, b = (unit_rows(np.atleast_2d(np.asarray(vectors))) for vectors in (first, second))
        if a.shape != b.shape:
            raise InputError(f"vectors of the shapes {a.shape} and {b.shape} do not stand side by side")
        return np.asarray((a * b).sum(axis=1), np.float32)

    def get_sentence_embedding_dimension(self) -> int:
        """Dimension of the sentence vectors, as `dim`."""
        return self.dim

    # The name in newer versions of sentence-transformers.
    get_embedding_dimension = get_sentence_embedding_dimension

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of texts as lists, which LangChain asks for."""
        return self.embed_raw_text(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text as a list, which LangChain asks for."""
        return self.embed_documents([text])[0]

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a new model folder, which `load_model` and `from_pretrained` open.

        Raises:
            InputError: the folder cannot be written, or it exists and is not empty.
        """
        with new_folder(Path(folder)) as target:
            self.write(target)
            # Other libraries read these, and people read the card.
            for name in (CARD, MODULES, TOKENIZER):
                if self.origin and (source := folder_of(self.origin) / name).is_file():
                    shutil.copyfile(source, target / name)

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """Open a model folder, or a model that comes with the package by its name, as `load_model` does.

        Raises:
            InputError: see `load_model`; or the folder holds a model of another class.
        """
        model: SentenceEncoder = opener().open_folder(folder)
        if not isinstance(model, cls):
            raise InputError(f"{folder}: holds a model of the class {type(model).__name__}")
        return model


class PieceEncoder(SentenceEncoder):
    """An encoder with tables of sentencepiece's pieces; of several models, `processor` is the first one."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.processor = with_unknown_pieces(processor, lowercase=bool(config.get("lowercase")))

    @abstractmethod
    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """The content of `model.safetensors`, by name."""

    def files(self) -> ModelFiles:
        """The content of the model's folder."""
        proto = self.processor.serialized_model_proto()
        return ModelFiles(self.kind, self.dim, self.tensors(), proto, self.config)

    def write(self, folder: Path) -> None:
        """Write the files of a model folder, in which other libraries may need more."""
        self.files().write(folder)

    def whole(self) -> Recipe:
        """What makes the model again from its content alone."""
        return opener().open_files, (self.files(),)

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""
        digest = hashlib.sha256(self.processor.serialized_model_proto())
        for _, array in sorted(self.tensors().items()):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _check_strings(sentences: Sequence[Any], place: str, first: int = 0) -> None:
    """Refuse anything but strings of text; `place` is a format string that says where sentence {} is."""
    try:
        has_nul = "\0" in "".join(sentences)
    except TypeError:
        wrong = next(index for index, text in enumerate(sentences) if not isinstance(text, str))
        text = f"{sentences[wrong]!r} ({place.format(first + wrong)})"
        raise TypeError(f"a sentence is {text}, not a string") from None
    if has_nul:
        wrong = next(index for index, text in enumerate(sentences) if "\0" in text)
        raise InputError(f"a sentence ({place.format(first + wrong)}) {HAS_NUL}")


def cosines(first: Float32, second: Float32) -> Float64:
    """Cosine of row i of one matrix with row i of the other, [n]; 0 if a row is zero."""
    values = np.empty(len(first), np.float64)
    cosine_rows(first, second, values)
    return values
