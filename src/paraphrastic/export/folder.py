"""What makes a model folder one of sentence-transformers and of model2vec, too."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors

from paraphrastic.errors import InputError
from paraphrastic.export.tokenizer import tokenizer_json
from paraphrastic.files import atomic_output, read_json, write_json
from paraphrastic.model import CONFIG, ENCODER, SENTENCEPIECE, WEIGHTS
from paraphrastic.sentencepiece_proto import read_model_proto

TOKENIZER = "tokenizer.json"
MODULES = "modules.json"

# What sentence-transformers makes of the folder: rows of the table, averaged.
_MODULES = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}]
# For model2vec: vectors are as long as they are, and texts are not cut after 512 tokens.
_SETTINGS = {"normalize": False, "max_length": None}


def complete_folder(folder: Path) -> None:
    """Add `tokenizer.json` and `modules.json` to a model folder, and model2vec's settings to `config.json`.

    With them, sentence-transformers' `SentenceTransformer` and model2vec's `StaticModel` load the folder.
    Their vectors are ours but for the length: rows of unknown pieces are zero, and count in the mean.

    Args:
        folder: of a model whose sentences are averages of one table.

    Raises:
        InputError: the model is of another kind, or its vocabulary cannot be a `tokenizer.json`; then neither
            file is in the folder, where they may have been before.
    """
    config = read_json(folder / CONFIG)
    try:
        if config.get("encoder") != ENCODER:
            raise InputError("it is more than one average")
        with safetensors.safe_open(folder / WEIGHTS, "numpy") as weights:
            if weights.get_slice("embeddings").get_dtype() == "U8":
                raise InputError("entries of its table share bytes (int4, int2)")
        write_tokenizer((folder / SENTENCEPIECE).read_bytes(), config, folder)
    except InputError as error:
        for name in (TOKENIZER, MODULES):
            (folder / name).unlink(missing_ok=True)
        raise InputError(f"{folder}: not for sentence-transformers and model2vec: {error}") from None
    write_json(folder / MODULES, _MODULES)
    write_json(folder / CONFIG, {**config, **_SETTINGS})


def write_tokenizer(model: bytes, config: Mapping[str, Any], folder: Path) -> None:
    """Write `tokenizer.json` of a sentencepiece model; see `tokenizer_json`."""
    tokenizer = tokenizer_json(read_model_proto(model, SENTENCEPIECE), config)
    with atomic_output(folder / TOKENIZER) as temporary:
        temporary.write_text(tokenizer, encoding="utf-8")
