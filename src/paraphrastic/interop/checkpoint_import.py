"""Import of checkpoints that the original code saved in training.

A checkpoint is a dictionary written by `torch.save`: `state_dict`, `vocab` (the row of each piece, by its
spelling), `args` (an `argparse.Namespace`), the optimizer's state and the number of the epoch. It is a
pickle, which could run any code; it is read without running any.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import new_folder, sha256
from paraphrastic.interop.checkpoint_file import Checkpoint
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.config_file import NEEDED, check_config
from paraphrastic.model.encoder import PieceEncoder
from paraphrastic.model.files import AVERAGE, COMPOSITE, TOKENIZER, tensor_name
from paraphrastic.model.sentencepiece_models import add_unknown_pieces, load_sentencepiece


def import_checkpoint(
    checkpoint: str | Path,
    sentencepiece_model: str | Path,
    output: str | Path,
    *,
    name: str | None = None,
    languages: Sequence[str] = (),
    tokenized: bool = False,
) -> PieceEncoder:
    """Write a checkpoint of the original code as a new model folder with a card; see `open_checkpoint`.

    If other libraries compute the same vectors, they can load the folder; if not, its card says why.

    Raises:
        InputError: see `open_checkpoint`; or `output` exists and is not an empty folder. Nothing is written.
    """
    # Imported here because `open_checkpoint` needs none of it.
    from paraphrastic.interop.model_card import write_import_card
    from paraphrastic.interop.tokenizer import complete_folder

    with new_folder(Path(output)) as folder:
        model = open_checkpoint(
            checkpoint, sentencepiece_model, name=name, languages=languages, tokenized=tokenized
        )
        model.write(folder)
        why_not = ""
        try:
            complete_folder(folder, check=partial(_check_tokenizer, model, folder))
        except InputError as error:
            why_not = str(error).removeprefix(
                f"{folder}: cannot be used in sentence-transformers and model2vec: "
            )
        digests = {Path(path).name: sha256(path) for path in (checkpoint, sentencepiece_model)}
        write_import_card(folder, Path(output).name, digests, why_not=why_not)
    return model


def _check_tokenizer(model: PieceEncoder, folder: Path) -> None:
    """Raise an `InputError` unless the ids of `tokenizer.json` lead to the same cosines as the model.

    Cosines are compared on the text that comes with the package.
    """
    from paraphrastic.base.text_files import read_sentences
    from paraphrastic.interop.formats import tokens
    from paraphrastic.interop.parity import TEXT, Other, compare

    if not isinstance(model, AverageEncoder):
        raise InputError("it consists of more than one average")
    table = model.embeddings
    try:
        cut = tokens(folder)
    except ModuleNotFoundError:
        raise InputError("the package tokenizers, which is needed to check it, is not installed") from None

    def embed(sentences: list[str]) -> Float32:
        rows = [table[ids].mean(axis=0) if ids else np.zeros(model.dim) for ids in cut(sentences)]
        return np.array(rows, np.float32)

    compare(model, Other(cut, embed), read_sentences(str(TEXT))).check(TEXT.name, TOKENIZER)


def open_checkpoint(
    checkpoint: str | Path,
    sentencepiece_model: str | Path,
    *,
    name: str | None = None,
    languages: Sequence[str] = (),
    tokenized: bool = False,
) -> PieceEncoder:
    """Open a model of the original code; its vectors are the original's, except for text without any piece.

    Such text has the zero vector here, as with every model, and the vector of unknown text in the original.

    Args:
        checkpoint: file of any version of torch.
        sentencepiece_model: the model that cut its training text.
        name: name of the model; by default, the file's.
        languages: languages of the model. If its sides have separate parameters, two are needed, in the
            order of the columns of its training data.
        tokenized: whether sentences will be given as the Moses tokenizer cuts them, which a model may need.

    Raises:
        InputError: the file is missing, damaged, not such a checkpoint or asks for code to run, or the model
            cannot have the original's vectors here.
    """
    path, sentencepiece_path = Path(checkpoint), Path(sentencepiece_model)
    saved = Checkpoint(path)
    processor = load_sentencepiece(sentencepiece_path)
    lowercase, zero_unknown = saved.check(tokenized=tokenized)
    sides = saved.sides(languages)
    architecture = saved.architecture(separate=len(sides) > 1)
    kind = AVERAGE if architecture.averaged and not architecture.separate else COMPOSITE
    config = {
        "encoder": kind,
        "model": name or path.stem,
        "languages": list(languages),
        "corpora": {},
        "lowercase": lowercase,
        "unit": "subword",
        "segmentation": {},
        "folding": {},
        **({"tokenized": True} if tokenized else {}),
        "training": saved.training(),
    }
    if kind == COMPOSITE:
        config["architecture"] = architecture.to_json()
    # The digests of the files are known when they are written.
    config = check_config({**config, "sha256": dict.fromkeys(NEEDED[kind], "0" * 64)}, str(path))
    del config["sha256"]
    try:
        vocabulary = dict.fromkeys(piece for side in sides for piece in side.pieces(lowercase))
        processor = add_unknown_pieces(processor, list(vocabulary))
        tensors: dict[str, npt.NDArray[Any]] = {}
        for side in sides:
            table = side.table(processor, lowercase=lowercase, zero_unknown=zero_unknown)
            if kind == AVERAGE:
                return AverageEncoder(*table, processor, config)
            names = ("0.embeddings", "known.subword", "0.unknown")
            for name, value in (*zip(names, table, strict=True), *side.lstm.items()):
                tensors[tensor_name(name, side.language)] = value
        return CompositeEncoder(tensors, processor, config)
    except InputError as error:
        raise InputError(f"{path} with {sentencepiece_path}: {error}") from None
