"""`tokenizer.json` and `modules.json`, with which sentence-transformers and model2vec load a model folder.

The tokenizer is one of Hugging Face's tokenizers, made from a sentencepiece model.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, write_json
from paraphrastic.interop.model_proto import ModelProto, read_model_proto
from paraphrastic.interop.normalization import Normalization, preparation
from paraphrastic.model.files import AVERAGE, MODULES, SENTENCEPIECE, TOKENIZER
from paraphrastic.model.folder import read_config
from paraphrastic.model.tokenizer import is_cut_at_spaces
from paraphrastic.model.vocabulary import SPACE

# Where a text that is the name of a byte's piece, such as <0x41>, is cut.
_BYTE = "<(?=0x[0-9A-F]{2}>)"
# Makes sentence-transformers average rows of the table.
_MODULES = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}]


def complete_folder(folder: str | Path) -> None:
    """Add `tokenizer.json` and `modules.json` to a model folder.

    With them, sentence-transformers' `SentenceTransformer` and model2vec's `StaticModel` load the folder.
    Their vectors differ from ours only in length, since the zero rows of unknown pieces count in the mean.

    Args:
        folder: folder of a model whose vectors are averages of rows of one table.

    Raises:
        InputError: the model is of another kind, or its vocabulary cannot be a `tokenizer.json`.
    """
    folder = Path(folder)
    try:
        config = read_config(folder)
        if config["encoder"] != AVERAGE:
            raise InputError("it consists of more than one average")
        write_tokenizer((folder / SENTENCEPIECE).read_bytes(), config, folder)
    except InputError as error:
        cause = "cannot be used in sentence-transformers and model2vec"
        raise InputError(f"{folder}: {cause}: {error}") from None
    write_json(folder / MODULES, _MODULES)


def check_unsegmented(config: Mapping[str, Any]) -> None:
    """Raise an `InputError` if words are found by a program that other libraries do not have."""
    if codes := [code for code, mode in config["segmentation"].items() if mode != "none"]:
        raise InputError(f"its text in {', '.join(codes)} is cut into words by jieba, which is not there")


def write_tokenizer(model: bytes, config: Mapping[str, Any], folder: Path) -> None:
    """Write the `tokenizer.json` of a sentencepiece model; see `tokenizer_json`."""
    tokenizer = tokenizer_json(read_model_proto(model), config)
    with atomic_output(folder / TOKENIZER) as temporary:
        temporary.write_text(tokenizer, encoding="utf-8")


def tokenizer_json(model: ModelProto, config: Mapping[str, Any]) -> str:
    """A tokenizer that turns a text into the same ids as `AverageEncoder`.

    Two things cannot be expressed: Chinese words, which jieba finds, and runs of unknown pieces, which have
    no embedding. sentencepiece makes one piece of such a run, and the tokenizer may make several.

    Raises:
        InputError: the model is not one of subwords (unigram) or words, or has a setting that the format
            cannot express.
    """
    _check_supported(model, config)
    normalization = Normalization(model, lowercase=config["lowercase"])
    # Text is cut at spaces before the model sees it, so that the model can cache words.
    splits = [_split(SPACE, "MergedWithNext")]
    if model.trainer_spec.byte_fallback and model.trainer_spec.model_type == model.trainer_spec.UNIGRAM:
        # Otherwise the tokenizer would take such a text for the byte. The sign before it stays with what
        # precedes it, since pieces that begin a word with it are common.
        splits.append(_split(_BYTE, "MergedWithPrevious", kind="Regex"))
    if normalization.cut:
        splits.append(_split(normalization.cut, "Removed"))
    steps = [*preparation(config), *normalization.steps]
    content: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits},
        "post_processor": None,
        "decoder": None,
        "model": _vocabulary(model, [_name(piece, normalization) for piece in model.pieces]),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _check_supported(model: ModelProto, config: Mapping[str, Any]) -> None:
    """Raise an `InputError` unless this project, or the authors' code, could have trained the model."""
    trainer = model.trainer_spec
    if not (
        config.get("unit", "subword") in ("subword", "word")
        and trainer.model_type in (trainer.UNIGRAM, trainer.WORD)
        # The tokenizers' normalizers cannot compose what case folding takes apart.
        and not model.normalizer_spec.name.endswith("_cf")
        and not any(piece.type == piece.USER_DEFINED for piece in model.pieces)
        and is_cut_at_spaces(SentencePieceProcessor(model_proto=model.SerializeToString()))
    ):
        raise InputError(
            "its vocabulary cannot be written as a tokenizer.json. That needs a sentencepiece model of "
            "subwords (unigram) or of words, with one of sentencepiece's own normalizations that folds no "
            "case, its default treatment of spaces and no user-defined symbols"
        )


def _name(piece: Any, normalization: Normalization) -> str:
    """The name of a piece; a piece that is not text gets a name that no text has."""
    if piece.type in (piece.NORMAL, piece.BYTE):
        return piece.piece
    if piece.piece in normalization.unknown_pieces:
        return normalization.run + piece.piece + normalization.run
    return normalization.boundary + piece.piece


def _split(pattern: str, behavior: str, *, kind: str = "String") -> dict[str, Any]:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": False}


def _vocabulary(model: ModelProto, names: list[str]) -> dict[str, Any]:
    bytes_too = model.trainer_spec.byte_fallback
    (unknown,) = (number for number, piece in enumerate(model.pieces) if piece.type == piece.UNKNOWN)
    if model.trainer_spec.model_type == model.trainer_spec.WORD:
        words = {"vocab": {name: number for number, name in enumerate(names)}, "unk_token": names[unknown]}
        if not bytes_too:
            return {"type": "WordLevel", **words}
        # A word in the vocabulary is one piece, and any other is cut into characters, which are unknown.
        return {"type": "BPE", **words, "merges": [], "ignore_merges": True, "byte_fallback": True}
    worst = min((piece.score for piece in model.pieces if piece.type == piece.NORMAL), default=0.0)
    # Other pieces get the worst score, since a lower one would change the score of unknown characters.
    scores = [piece.score if piece.type == piece.NORMAL else worst for piece in model.pieces]
    vocabulary = list(map(list, zip(names, scores, strict=True)))
    return {"type": "Unigram", "unk_id": unknown, "vocab": vocabulary, "byte_fallback": bytes_too}
