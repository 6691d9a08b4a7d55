"""Open other people's systems: sentence-transformers, model2vec, and vectors computed elsewhere."""

import copy
import hashlib
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import sha256
from paraphrastic.base.lines import text_lines
from paraphrastic.model.hub import load_from_hub, not_installed, set_tokenizer_threads
from paraphrastic.model.system import Embed, Stages, System


def open_sentence_transformer(name: str, *, threads: int = 1, device: str | None = None) -> System:
    """Open a sentence-transformers model by its folder or its name on the Hugging Face Hub.

    Sentences are embedded with the model's default prompt, if it has one. Without a `device`, the model runs
    on a GPU if torch sees one.

    Raises:
        InputError: the folder is damaged, the name cannot be reached, or the package is not installed.
    """
    try:
        # Imported late: the package is optional and takes seconds to import.
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ImportError:
        raise not_installed(name, "sentence-transformers", is_place=True) from None
    disable_progress_bar()
    torch.set_num_threads(threads)
    set_tokenizer_threads(threads)

    transformer = load_from_hub(
        name,
        "sentence-transformers",
        lambda place, offline: SentenceTransformer(place, device=device, local_files_only=offline),
    )
    transformer.eval()
    prompt = transformer.prompts.get(transformer.default_prompt_name)
    dim = transformer.get_embedding_dimension() or transformer.encode(["a"]).shape[1]

    def prepare(sentences: Sequence[str], _: str | None) -> Any:
        return transformer.preprocess(list(sentences), prompt=prompt)

    @torch.inference_mode()
    def forward(features: Any) -> Float32:
        # A new dictionary, because the modules add their entries to it.
        moved = {
            key: value.to(transformer.device) if isinstance(value, torch.Tensor) else value
            for key, value in features.items()
        }
        return transformer(moved)["sentence_embedding"].float().cpu().numpy()

    encode = partial(transformer.encode, convert_to_numpy=True, show_progress_bar=False)
    digest = _digest(name, partial(transformer.save_pretrained, create_model_card=False))
    return System(name, dim, digest, _embedding(encode, dim), Stages(prepare, forward))


def open_static_model(name: str, *, threads: int = 1) -> System:
    """Open a model2vec model by its folder or its name on the Hugging Face Hub.

    Raises:
        InputError: the folder is damaged, the name cannot be reached, or model2vec is not installed.
    """
    try:
        # Imported late: the package is optional.
        from model2vec import StaticModel
    except ImportError:
        raise not_installed(name, "model2vec", is_place=True) from None
    set_tokenizer_threads(threads)

    model = load_from_hub(
        name,
        "model2vec",
        lambda place, offline: StaticModel.from_pretrained(place, force_download=not offline),
    )
    # A copy of the model, for sentences that have already been tokenized.
    pooling = copy.copy(model)
    pooling.tokenize = lambda sentences: sentences

    def prepare(sentences: Sequence[str], _: str | None) -> Any:
        # The model itself truncates texts like this before it tokenizes them.
        longest = None if model.max_length is None else model.max_length * model.median_token_length
        return model.tokenize([sentence[:longest] for sentence in sentences])

    def embed_tokens(tokens: Any) -> Float32:
        vectors = pooling.encode(tokens, batch_size=max(1, len(tokens)), use_multiprocessing=False)
        return np.asarray(vectors, np.float32)

    embed = _embedding(partial(model.encode, use_multiprocessing=False), model.dim)
    return System(name, model.dim, _digest(name, model.save_pretrained), embed, Stages(prepare, embed_tokens))


def _embedding(encode: Callable[[list[str]], Any], dim: int) -> Embed:
    """Make the function `embed` of a `System`, which must also accept an empty list."""

    def embed(sentences: Sequence[str], _: str | None) -> Float32:
        return np.asarray(encode(list(sentences)) if sentences else np.zeros((0, dim)), np.float32)

    return embed


def open_vectors(sentences: Path, vectors: Path) -> System:
    """Open vectors that were computed elsewhere.

    A sentence has one vector, whatever its language. The file must contain every sentence of a test set just
    as the test set spells it, except that control characters are spaces in both; embedding a sentence that is
    missing is an `InputError`.

    Args:
        sentences: text file in UTF-8, one sentence per line.
        vectors: NumPy file, [lines, dim] of floating-point numbers; row i is the vector of line i.

    Raises:
        InputError: a file is missing or damaged, the files do not fit together, or the same sentence has two
            different vectors.
    """
    try:
        lines = text_lines(sentences.read_bytes(), str(sentences))
    except OSError as error:
        raise InputError(f"{sentences}: cannot be read: {error.strerror}") from None
    try:
        matrix = np.load(vectors, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, TypeError, SyntaxError, TokenError) as error:
        raise InputError(f"{vectors}: is not a NumPy file of numbers: {on_one_line(error)}") from None
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise InputError(f"{vectors}: is not a matrix of floating-point numbers with one row per sentence")
    if len(matrix) != len(lines):
        raise InputError(f"{vectors}: {len(matrix):,} vectors, but {sentences} has {len(lines):,} lines")
    rows: dict[str, int] = {}
    for row, line in enumerate(lines):
        first = rows.setdefault(line, row)
        if first != row and not np.array_equal(matrix[first], matrix[row]):
            twice = f"repeats the sentence of line {first + 1}, but its vector in {vectors} differs"
            raise InputError(f"{sentences}:{row + 1}: {twice}")

    def embed(asked: Sequence[str], _: str | None) -> Float32:
        if missing := dict.fromkeys(sentence for sentence in asked if sentence not in rows):
            count = f"{len(missing):,} of {len(set(asked)):,} sentences to embed are not in it"
            raise InputError(f"{sentences}: {count}, such as {next(iter(missing))!r}")
        places = np.array([rows[sentence] for sentence in asked], np.int64)
        chosen = np.asarray(matrix[places], np.float32)
        if not (finite := np.isfinite(chosen).all(axis=1)).all():
            row = places[~finite][0]
            raise InputError(f"{vectors}: row {row}, the vector of {lines[row]!r}, is not finite")
        return chosen

    digest = hashlib.sha256((sha256(sentences) + sha256(vectors)).encode()).hexdigest()
    return System(str(vectors), matrix.shape[1], digest, embed)


def _digest(name: str, save: Callable[[str], object]) -> str:
    """SHA-256 of a model's files with their paths; a model that has only a name is first saved to files.

    Hidden files and Markdown files do not count.
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
