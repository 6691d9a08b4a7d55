"""Model folders that are whole or not there, and what makes them those of other libraries, too."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import (
    OWNER,
    atomic_output,
    read_json,
    remove_leftovers,
    umask,
    unwritable_named,
    write_json,
)
from paraphrastic.interop.export.tokenizer import tokenizer_json
from paraphrastic.interop.sentencepiece_proto import read_model_proto
from paraphrastic.model.files import CONFIG, ENCODER, MODULES, SENTENCEPIECE, TOKENIZER

CARD = "README.md"

# What sentence-transformers makes of the folder: rows of the table, averaged.
_MODULES = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}]


@contextmanager
def new_folder(output: Path) -> Iterator[Path]:
    """Yield a folder that takes its name when it is whole; if anything fails, nothing is left.

    Raises:
        InputError: something has the name already, but for an empty folder; or it cannot be written there.
    """
    if output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise InputError(f"{output}: is there already, and no empty folder")
    with unwritable_named(output):
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(output.parent, f".{output.name}.")
            prefix = f".{output.name}.{OWNER}."
            temporary = Path(tempfile.mkdtemp(dir=output.parent, prefix=prefix, suffix=".tmp"))
        except OSError as error:
            raise InputError(f"{output}: cannot be written: {error.strerror}") from None
        try:
            yield temporary
            temporary.chmod(0o777 & ~umask())
            temporary.replace(output)
        except InputError as error:
            # Who reads it knows the folder by its own name.
            raise InputError(str(error).replace(str(temporary), str(output))) from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def complete_folder(folder: Path, *, check: Callable[[], None] = lambda: None) -> None:
    """Add `tokenizer.json` and `modules.json` to a model folder.

    With them, sentence-transformers' `SentenceTransformer` and model2vec's `StaticModel` load the folder.
    Their vectors are ours but for the length: rows of unknown pieces are zero, and count in the mean.

    Args:
        folder: of a model whose sentences are averages of one table.
        check: of the `tokenizer.json`, which raises an `InputError` where it is not to be there.

    Raises:
        InputError: the model is of another kind, or its vocabulary cannot be a `tokenizer.json`; then neither
            file is in the folder, where they may have been before.
    """
    config = read_json(folder / CONFIG)
    try:
        if config.get("encoder") != ENCODER:
            raise InputError("it is more than one average")
        write_tokenizer((folder / SENTENCEPIECE).read_bytes(), config, folder)
        check()
    except InputError as error:
        for name in (TOKENIZER, MODULES):
            (folder / name).unlink(missing_ok=True)
        raise InputError(f"{folder}: not for sentence-transformers and model2vec: {error}") from None
    write_json(folder / MODULES, _MODULES)


def write_tokenizer(model: bytes, config: Mapping[str, Any], folder: Path) -> None:
    """Write `tokenizer.json` of a sentencepiece model; see `tokenizer_json`."""
    tokenizer = tokenizer_json(read_model_proto(model), config)
    with atomic_output(folder / TOKENIZER) as temporary:
        temporary.write_text(tokenizer, encoding="utf-8")
