"""What embeds sentences: the protocol of all encoders, and the methods of the models of this project."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Float32, unit_rows
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import new_folder
from paraphrastic.base.text import prepare_text
from paraphrastic.base.threads import available_cores, in_order
from paraphrastic.model.architecture import encoder_name
from paraphrastic.model.files import CARD, MODULES, TOKENIZER

if TYPE_CHECKING:
    import torch

# Sentences that are embedded at a time, at most and at least; at 1,024 dimensions, 2,048 vectors take 8 MB.
BLOCK_SENTENCES, _LEAST_SENTENCES = 2048, 512
# Pairs that are scored at a time.
_BLOCK_PAIRS = 1 << 15
# Further arguments of sentence-transformers' `encode`, and the values that stand for what is done here.
_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "prompt": (None,), "prompt_name": (None,), "output_value": ("sentence_embedding",),
    "precision": ("float32",), "pool": (None,), "chunk_size": (None,), "truncate_dim": (None,),
}  # fmt: skip

# Is called with the current task and the share of it that is done.
OnProgress = Callable[[str, float], None]
# float32 or float16.
Vectors = npt.NDArray[Any]


class Encoder(Protocol):
    """Whatever embeds sentences: a model of this project, another library's, or vectors from a file."""

    label: str
    """Its name in tables and messages."""

    @property
    def dim(self) -> int:
        """Dimension of its vectors."""

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""

    def encode(self, sentences: Sequence[str], *, language: str | None = None) -> Vectors:
        """Vectors of sentences, which are in a language that some models need, [n, dim]."""


class SentenceEncoder(ABC):
    """A model of this project, which turns raw sentences into vectors, and pairs of them into cosines.

    Attributes:
        config: the content of `config.json`.
        label: the kind of the encoder and the name of the model, for tables and messages.
        threads: CPU threads if a method is not told their number; None uses all cores.
        folder: the folder that the model was opened from, if there is one.
    """

    threads: int | None = None
    folder: Path | None = None
    _reopen: tuple[Callable[..., Any], tuple[str]] | None = None

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.label = f"{encoder_name(config)} {config['model']}"

    @property
    @abstractmethod
    def dim(self) -> int:
        """Dimension of the sentence vectors."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""

    @abstractmethod
    def write(self, folder: Path) -> None:
        """Write the files of a model folder, in which other libraries may need more."""

    @abstractmethod
    def _tokenize(self, texts: Sequence[str], language: str | None) -> Any:
        """Cut prepared texts into the tokens that `_embed` takes."""

    @abstractmethod
    def _embed(self, tokens: Any, normalize: bool, vectors: Vectors) -> None:
        """Embed tokenized sentences, and write the result to `vectors`, [n, dim]."""

    @abstractmethod
    def _content(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """What makes the model again from its content alone: a function, and its arguments."""

    def __reduce__(self) -> tuple[Any, ...]:
        # A model that was opened from a folder is pickled by the folder's name, and any other one whole.
        return *(self._reopen or self._content()), {"label": self.label, "threads": self.threads}

    def __repr__(self) -> str:
        known = "-".join(self.config.get("languages", ())) or "unknown"
        return f"<{type(self).__name__} {self.config['model']}: languages {known}, {self.dim} dimensions>"

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
    ) -> Any:
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
        texts = [sentences] if isinstance(sentences, str) else sentences
        vectors: Any = self.embed_raw_text(texts, language=language, normalize=normalize_embeddings)
        if convert_to_tensor or not convert_to_numpy:
            vectors = _as_tensor(vectors)
        if isinstance(sentences, str):
            return vectors[0]
        return vectors if convert_to_tensor or convert_to_numpy else list(vectors)

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
            threads: CPU threads; None uses all available cores. An average's vectors do not depend on it.
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
        texts = as_list(sentences)
        self._check_language(language)
        vectors: Vectors = np.empty((len(texts), self.dim), dtype)

        def embed(rows: slice) -> None:
            block = texts[rows]
            # Checked here, so that the strings stay in the processor's cache.
            _check_strings(block, "number {}", rows.start)
            self._embed(self.tokenize(block, language=language), normalize, vectors[rows])

        threads = threads or self.threads or available_cores()
        # If there are few sentences, blocks are smaller, so that every thread has one.
        size = min(BLOCK_SENTENCES, max(_LEAST_SENTENCES, -(-len(texts) // threads)))
        blocks = [slice(start, start + size) for start in range(0, len(texts), size)]
        list(in_order(embed, blocks, threads if len(blocks) > 1 else 1))
        return vectors

    def tokenize(self, sentences: Sequence[str], *, language: str | None = None) -> Any:
        """Prepare raw sentences as training did, and tokenize them, which is half of embedding them."""
        self._check_language(language)
        try:
            return self._tokenize(self._prepare(sentences, language), language)
        except UnicodeEncodeError:
            # Each lone surrogate becomes U+FFFD, and a pair of them the character that it stands for.
            whole = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in sentences]
            return self._tokenize(self._prepare(whole, language), language)

    def embed_tokens(self, tokens: Any) -> Float32:
        """Embed what `tokenize` returned, the other half: vectors, [n, dim]."""
        vectors = np.empty((len(tokens.has_text), self.dim), np.float32)
        self._embed(tokens, False, vectors)
        return vectors

    def _prepare(self, sentences: Sequence[str], language: str | None) -> list[str]:
        """Prepare raw text as training did; see `prepare_text`."""
        settings = {key: self.config[key] for key in ("segmentation", "folding", "lowercase")}
        return prepare_text(sentences, language=language, **settings)

    def _preparation(self) -> str:
        """How text becomes units, for the digest; modes that change nothing are left out."""
        modes = {
            key: sorted(item for item in self.config[key].items() if item[1] != "none")
            for key in ("segmentation", "folding")
        }
        return repr((self.config.get("unit"), self.config["lowercase"], modes))

    def _check_language(self, language: str | None) -> None:
        """Refuse a language that the model does not know, if it keeps its languages apart."""
        return

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
        scores: list[float] = []
        # In blocks, since vectors take far more memory than text.
        for start in range(0, len(pairs), _BLOCK_PAIRS):
            sides = [*zip(*pairs[start : start + _BLOCK_PAIRS], strict=True)]
            for side, where in zip(sides, ("the first of pair {}", "the second of pair {}"), strict=True):
                _check_strings(side, where, start)
            first, second = (
                self.embed_raw_text(side, language=language, threads=threads)
                for side, language in zip(sides, languages or (None, None), strict=True)
            )
            scores += cosines(first, second).tolist()
        return scores

    # Methods under the names that other libraries have for them.

    def similarity(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Float32:
        """Cosines of each vector of one matrix with each of another, [n, m]; a single vector is one row."""
        a, b = (unit_rows(np.atleast_2d(np.asarray(vectors))) for vectors in (first, second))
        if a.shape[1] != b.shape[1]:
            raise InputError(f"vectors of {a.shape[1]} and of {b.shape[1]} dimensions cannot be compared")
        # A late import of numba, which vectors of other libraries do not need.
        from paraphrastic.model.forks import not_forked

        with not_forked():
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

    # Names in newer versions of sentence-transformers, whose prompts for queries an average does not need.
    get_embedding_dimension = get_sentence_embedding_dimension
    encode_query = encode_document = encode

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of texts as lists, which LangChain asks for."""
        return self.embed_raw_text(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text as a list, which LangChain asks for."""
        return self.embed_documents([text])[0]

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a new model folder, which `load_model` opens.

        Raises:
            InputError: the folder cannot be written, or it exists and is not empty.
        """
        with new_folder(folder) as target:
            self.write(target)
            # Other libraries read these, and people read the card.
            for name in (CARD, MODULES, TOKENIZER):
                if self.folder and (self.folder / name).is_file():
                    shutil.copyfile(self.folder / name, target / name)


def as_list(sentences: Iterable[str]) -> Sequence[str]:
    """Sentences as a list, which columns and arrays make of themselves faster than a loop does.

    Raises:
        TypeError: there is no column of sentences, but for example a table.
    """
    if isinstance(sentences, list | tuple):
        return sentences
    given: Any = sentences
    if given is None or isinstance(given, bytes):
        raise TypeError(f"sentences are {sentences!r:.50}, not strings")
    if len(shape := getattr(sentences, "shape", (0,))) != 1:
        raise TypeError(f"one column of sentences is needed, not a table of the shape {tuple(shape)}")
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(sentences, method):
            return cast(Sequence[str], getattr(sentences, method)())
    return list(sentences)


def _check_strings(sentences: Sequence[Any], where: str, first: int = 0) -> None:
    """Refuse anything but strings of text; `where` is a format string that says where sentence {} is."""
    try:
        has_nul = "\0" in "".join(sentences)
    except TypeError:
        wrong = next(index for index, text in enumerate(sentences) if not isinstance(text, str))
        text = f"{sentences[wrong]!r} ({where.format(first + wrong)})"
        raise TypeError(f"a sentence is {text}, not a string") from None
    if has_nul:
        wrong = next(index for index, text in enumerate(sentences) if "\0" in text)
        raise InputError(
            f"a sentence ({where.format(first + wrong)}) contains a NUL character, which no text has"
        )


def _as_tensor(vectors: Vectors) -> torch.Tensor:
    try:
        from torch import from_numpy
    except ImportError:
        raise InputError("tensors need torch, which is not installed: pip install torch") from None
    return from_numpy(vectors)


def cosines(first: Vectors, second: Vectors) -> npt.NDArray[np.float64]:
    """Cosine of row i of one matrix with row i of the other, [n]; 0 if a row is zero."""
    lengths = np.sqrt(_products(first, first) * _products(second, second))
    values = np.divide(_products(first, second), lengths, out=np.zeros(len(first)), where=lengths != 0)
    return np.clip(values, -1.0, 1.0)


def _products(first: Vectors, second: Vectors) -> npt.NDArray[np.float64]:
    return np.einsum("nd,nd->n", first, second, dtype=np.float64)


def finite_vectors(
    encoder: Encoder,
    sentences: Sequence[str],
    language: str | None,
    *,
    name: str,
    progress: OnProgress | None = None,
) -> Vectors:
    """Embed sentences of the data `name`: vectors, [n, dim]; an `InputError` if one is not finite."""
    vectors: Vectors = np.empty((len(sentences), encoder.dim), np.float32)
    for start in range(0, len(sentences), _BLOCK_PAIRS):
        part = vectors[start : start + _BLOCK_PAIRS]
        part[:] = encoder.encode(sentences[start : start + _BLOCK_PAIRS], language=language)
        finite = np.isfinite(part).all(axis=1)
        if not finite.all():
            sentence = sentences[start + int(finite.argmin())]
            raise InputError(f"{encoder.label}: {name}: the vector of {sentence!r} is not finite")
        if progress:
            progress(f"embedding {name}", (start + len(part)) / len(sentences))
    return vectors
