"""Model folders as sentence-transformers and model2vec load them."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from paraphrastic.errors import InputError
from paraphrastic.export.folder import TOKENIZER, complete_folder
from paraphrastic.export.parity import Other
from paraphrastic.model import Float32, SentenceEncoder, load_model, save_model

# By which cosines may differ: in single precision, and in the half precision of a table of float16, which is
# that of the vectors there.
TOLERANCE, HALF_TOLERANCE = 1e-5, 1e-3


def write_folder(model: SentenceEncoder, folder: Path) -> None:
    """Write a folder that sentence-transformers, model2vec and `load_model` load."""
    save_model(model, folder, config=model.config)
    complete_folder(folder)


def write_own(model: SentenceEncoder, folder: Path) -> None:
    """Write a folder that `load_model` loads, and the other two if they can."""
    save_model(model, folder, config=model.config)
    with suppress(InputError):
        complete_folder(folder)


def in_this_library(model: SentenceEncoder, folder: Path) -> Other:
    """The folder here."""
    loaded = load_model(folder)

    def embed(sentences: list[str]) -> Float32:
        return loaded.embed_raw_text(sentences)

    return Other(lambda sentences: loaded.tokenize(sentences).lists(), embed, TOLERANCE, unknown=True)


def in_sentence_transformers(model: SentenceEncoder, folder: Path) -> Other:
    """The folder in sentence-transformers, on the processor."""
    from sentence_transformers import SentenceTransformer

    transformer = SentenceTransformer(str(folder), device="cpu")

    def embed(sentences: list[str]) -> Float32:
        vectors = transformer.encode(sentences, convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    return Other(tokens(folder), embed, _tolerance(model))


def in_model2vec(model: SentenceEncoder, folder: Path) -> Other:
    """The folder in model2vec."""
    from model2vec import StaticModel

    static = StaticModel.from_pretrained(folder)

    def embed(sentences: list[str]) -> Float32:
        return np.asarray(static.encode(sentences, use_multiprocessing=False), np.float32)

    return Other(tokens(folder), embed, _tolerance(model))


def tokens(folder: Path) -> Callable[[list[str]], list[list[int]]]:
    """Texts into ids, by the `tokenizer.json` of a folder."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))

    def cut(sentences: list[str]) -> list[list[int]]:
        return [each.ids for each in tokenizer.encode_batch_fast(sentences, add_special_tokens=False)]

    return cut


def _tolerance(model: SentenceEncoder) -> float:
    return HALF_TOLERANCE if model.embeddings.dtype == np.float16 else TOLERANCE
