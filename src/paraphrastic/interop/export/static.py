"""Model folders as sentence-transformers and model2vec load them."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.interop.export.folder import complete_folder
from paraphrastic.interop.export.parity import TEXT, Other, compare
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.embed_files import read_sentences
from paraphrastic.model.encoder import Float32, SentenceEncoder
from paraphrastic.model.files import TOKENIZER
from paraphrastic.model.folder import open_folder, save_model

# By which cosines may differ: in single precision, and in the half precision of a table of float16, which is
# that of the vectors there.
TOLERANCE, HALF_TOLERANCE = 1e-5, 1e-3


def write_folder(model: AverageEncoder, folder: Path) -> None:
    """Write a folder that sentence-transformers, model2vec and `load_model` load."""
    if model.bits:
        raise InputError(f"no other library reads tables of {model.dtype}")
    save_model(model, folder, config=model.config)
    complete_folder(folder)


def write_own(model: AverageEncoder, folder: Path) -> None:
    """Write a folder that `load_model` loads, and the other two if they can."""
    save_model(model, folder, config=model.config)
    if not model.bits:
        with suppress(InputError):
            complete_folder(folder)


def complete_if_equal(model: SentenceEncoder, folder: Path) -> str:
    """Complete a model's folder, unless `tokenizer.json` cuts the text that comes with the package otherwise.

    Returns:
        Why the folder stays what it is, in words; empty if it was completed.
    """
    try:
        complete_folder(folder, check=partial(_check_tokenizer, model, folder))
    except InputError as error:
        return str(error).removeprefix(f"{folder}: not for sentence-transformers and model2vec: ")
    return ""


def _check_tokenizer(model: SentenceEncoder, folder: Path) -> None:
    """Raise an `InputError` unless rows of the table, by the ids of `tokenizer.json`, have our cosines."""
    if not isinstance(model, AverageEncoder):
        raise InputError("it is more than one average")
    table = model.embeddings
    try:
        cut = tokens(folder)
    except ModuleNotFoundError:
        raise InputError("the package tokenizers, by which it is checked, is not installed") from None

    def embed(sentences: list[str]) -> Float32:
        rows = [table[ids].mean(axis=0) if ids else np.zeros(model.dim) for ids in cut(sentences)]
        return np.array(rows, np.float32)

    compare(model, Other(cut, embed, TOLERANCE), read_sentences(str(TEXT))).check(TEXT.name, TOKENIZER)


def in_this_library(model: AverageEncoder, folder: Path) -> Other:
    """The folder here."""
    loaded = open_folder(folder)
    return Other(
        lambda sentences: loaded.tokenize(sentences).lists(), loaded.embed_raw_text, TOLERANCE, unknown=True
    )


def in_sentence_transformers(model: AverageEncoder, folder: Path) -> Other:
    """The folder in sentence-transformers, on the processor."""
    from sentence_transformers import SentenceTransformer

    encode = SentenceTransformer(str(folder), device="cpu").encode
    embed = partial(encode, convert_to_numpy=True, show_progress_bar=False)
    return Other(tokens(folder), embed, _tolerance(model))


def in_model2vec(model: AverageEncoder, folder: Path) -> Other:
    """The folder in model2vec."""
    from model2vec import StaticModel

    embed = partial(StaticModel.from_pretrained(folder).encode, use_multiprocessing=False)
    return Other(tokens(folder), embed, _tolerance(model))


def tokens(folder: Path) -> Callable[[list[str]], list[list[int]]]:
    """Texts into ids, by the `tokenizer.json` of a folder."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))

    def cut(sentences: list[str]) -> list[list[int]]:
        return [each.ids for each in tokenizer.encode_batch_fast(sentences, add_special_tokens=False)]

    return cut


def _tolerance(model: AverageEncoder) -> float:
    return HALF_TOLERANCE if model.embeddings.dtype == np.float16 else TOLERANCE
