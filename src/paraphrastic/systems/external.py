"""Other people's systems: sentence-transformers, model2vec, and vectors that were computed elsewhere."""

import copy
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any, TypeVar

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.base.lines import text_lines
from paraphrastic.model.encoder import Float32
from paraphrastic.model.system import Stages, System

T = TypeVar("T")

# Seconds that the Hugging Face Hub has to answer, asked once. The libraries ask several times for every file.
_PATIENCE = 10


def open_sentence_transformer(name: str, *, threads: int = 1, device: str | None = None) -> System:
    """A model of sentence-transformers, by its folder or its name on the Hugging Face Hub.

    Sentences are embedded with the model's default prompt, if it has one. Without a `device`, it takes a GPU
    where torch sees one.

    Raises:
        InputError: a damaged folder, a name that cannot be reached, sentence-transformers is not installed.
    """
    try:
        # Not at the top: an optional package, which takes seconds to import.
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ImportError:
        raise _not_installed(name, "sentence-transformers") from None
    disable_progress_bar()
    torch.set_num_threads(threads)
    _set_tokenizer_threads(threads)

    def load(offline: bool) -> Any:
        return SentenceTransformer(name, device=device, local_files_only=offline)

    transformer = _load(name, "sentence-transformers", load)
    transformer.eval()
    prompt = transformer.prompts.get(transformer.default_prompt_name)
    dim = transformer.get_embedding_dimension() or transformer.encode(["a"]).shape[1]

    def embed(sentences: Sequence[str], _: str | None) -> Float32:
        if not sentences:
            return np.zeros((0, dim), np.float32)
        vectors = transformer.encode(list(sentences), convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    def prepare(sentences: Sequence[str], _: str | None) -> Any:
        return transformer.preprocess(list(sentences), prompt=prompt)

    @torch.inference_mode()
    def forward(features: Any) -> Float32:
        # A new dictionary, to which the modules add theirs.
        there = {
            key: value.to(transformer.device) if isinstance(value, torch.Tensor) else value
            for key, value in features.items()
        }
        vectors: Float32 = transformer(there)["sentence_embedding"].float().cpu().numpy()
        return vectors

    digest = _digest(name, lambda folder: transformer.save_pretrained(folder, create_model_card=False))
    return System(name, dim, digest, embed, Stages(prepare, forward))


def open_static_model(name: str, *, threads: int = 1) -> System:
    """A model of model2vec, by its folder or its name on the Hugging Face Hub.

    Raises:
        InputError: a damaged folder, a name that cannot be reached, model2vec is not installed.
    """
    try:
        # Not at the top: an optional package.
        from model2vec import StaticModel
    except ImportError:
        raise _not_installed(name, "model2vec") from None
    _set_tokenizer_threads(threads)

    def load(offline: bool) -> Any:
        return StaticModel.from_pretrained(name, force_download=not offline)

    model = _load(name, "model2vec", load)

    # The model again, for sentences that are tokens already.
    pooling = copy.copy(model)
    pooling.tokenize = lambda sentences: sentences

    def prepare(sentences: Sequence[str], _: str | None) -> Any:
        # As it cuts texts before it looks at them.
        longest = None if model.max_length is None else model.max_length * model.median_token_length
        return model.tokenize([sentence[:longest] for sentence in sentences])

    def embed_tokens(tokens: Any) -> Float32:
        vectors = pooling.encode(tokens, batch_size=max(1, len(tokens)), use_multiprocessing=False)
        return np.asarray(vectors, np.float32)

    def embed(sentences: Sequence[str], _: str | None) -> Float32:
        if not sentences:
            return np.zeros((0, model.dim), np.float32)
        return np.asarray(model.encode(list(sentences), use_multiprocessing=False), np.float32)

    digest = _digest(name, model.save_pretrained)
    return System(name, model.dim, digest, embed, Stages(prepare, embed_tokens))


def open_vectors(sentences: Path, vectors: Path) -> System:
    """Vectors that were computed elsewhere.

    A sentence has one vector, whatever language it is said to be in. One that is asked for is to stand in the
    file as it stands in the test set; what is looked up that is not there is an `InputError`.

    Args:
        sentences: one a line, UTF-8.
        vectors: NumPy file, [lines, dim] of floating-point numbers; row i is the vector of line i.

    Raises:
        InputError: a file is missing or damaged, they do not fit each other, or the same sentence has two
            vectors.
    """
    try:
        lines = text_lines(sentences.read_bytes(), str(sentences))
    except OSError as error:
        raise InputError(f"{sentences}: cannot be read: {error.strerror}") from None
    matrix = _matrix(vectors)
    if len(matrix) != len(lines):
        raise InputError(f"{vectors}: {len(matrix):,} vectors, but {sentences} has {len(lines):,} lines")
    rows: dict[str, int] = {}
    for row, line in enumerate(lines):
        first = rows.setdefault(line, row)
        if first != row and not np.array_equal(matrix[first], matrix[row]):
            twice = f"the sentence of line {first + 1} again, and its vector in {vectors} is another"
            raise InputError(f"{sentences}:{row + 1}: {twice}")

    def embed(asked: Sequence[str], _: str | None) -> Float32:
        if missing := dict.fromkeys(sentence for sentence in asked if sentence not in rows):
            count = f"{len(missing):,} of {len(set(asked)):,} sentences that are asked for are not in it"
            raise InputError(f"{sentences}: {count}, such as {next(iter(missing))!r}")
        places = np.array([rows[sentence] for sentence in asked], np.int64)
        found = np.asarray(matrix[places], np.float32)
        if not (finite := np.isfinite(found).all(axis=1)).all():
            row = places[~finite][0]
            raise InputError(f"{vectors}: row {row}, of {lines[row]!r}, is not finite")
        return found

    digest = hashlib.sha256((sha256(sentences) + sha256(vectors)).encode()).hexdigest()
    return System(str(vectors), matrix.shape[1], digest, embed)


def _matrix(path: Path) -> Any:
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, TypeError, SyntaxError, TokenError) as error:
        raise InputError(f"{path}: is no NumPy file of numbers: {_one_line(error)}") from None
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise InputError(f"{path}: is no matrix of floating-point numbers with a row a sentence")
    return matrix


def _not_installed(name: str, package: str) -> InputError:
    install = f"pip install 'paraphrastic[{package}]'"
    return InputError(f"{name}: needs {package}, which is not installed: {install}")


def _set_tokenizer_threads(threads: int) -> None:
    """Threads of Hugging Face's tokenizers, which are told by the environment alone."""
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    os.environ.setdefault("RAYON_NUM_THREADS", str(threads))


def _load(name: str, package: str, load: Callable[[bool], T]) -> T:
    """Load a model by a function of its package, which is told whether to do without the network."""
    unreachable = None if Path(name).is_dir() else _why_unreachable(name)
    try:
        return load(unreachable is not None)
    except Exception as error:
        # Of a damaged folder, each of the libraries below raises its own; some have no class but this one.
        if unreachable:
            advice = "give a folder that holds the model, or fetch it once where there is a network"
            raise InputError(
                f"{name}: is no folder, and the Hugging Face Hub cannot be reached: {unreachable}: {advice}"
            ) from error
        raise InputError(f"{name}: {package} cannot load this model: {_one_line(error)}") from error


def _why_unreachable(name: str) -> str | None:
    """Why the Hugging Face Hub does not answer; None where it does, whatever it says of this name."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        HfApi().model_info(name, timeout=_PATIENCE)
    except (HfHubHTTPError, HFValidationError):
        return None
    except Exception as error:
        # Of the HTTP library below, which is not the same in all versions.
        return _one_line(error)
    return None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _digest(name: str, save: Callable[[str], object]) -> str:
    """SHA-256 of a model's files with their paths; of a model that has only a name, of those it is saved as.

    Hidden files and texts to read do not count.
    """
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as saved:
        folder = Path(name)
        if not folder.is_dir():
            save(saved)
            folder = Path(saved)
        for path in sorted(folder.rglob("*")):
            within = path.relative_to(folder)
            hidden = any(part.startswith(".") for part in within.parts)
            if path.is_file() and not hidden and path.suffix != ".md":
                digest.update(f"{within.as_posix()}\n{sha256(path)}\n".encode())
    return digest.hexdigest()
