"""`tokenizer.json` of Hugging Face's tokenizers, made from a sentencepiece model."""

import json
import re
from collections.abc import Mapping
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.interop.export.normalization import SPACE, Normalization
from paraphrastic.interop.export.preparation import preparation
from paraphrastic.model.sentencepiece_proto import ModelProto, ModelType, Piece, PieceType


def tokenizer_json(model: ModelProto, config: Mapping[str, Any]) -> str:
    """The tokenizer by which a text becomes the ids that `AverageEncoder` makes of it.

    Two things are not said in it: Chinese words, which jieba finds; and unknown pieces, which have no
    embedding, may be several where sentencepiece makes a run of them one.

    Args:
        model: of the kind unigram, BPE or word.
        config: what the model's `config.json` holds, of which it heeds `folding`, `lowercase` and `unit`.

    Raises:
        InputError: the model is of another kind, or has a setting for which the format has no words.
    """
    kind = model.trainer.model_type
    if (unit := config.get("unit", "subword")) == "trigram" or kind is ModelType.CHAR:
        raise InputError(f"a vocabulary of {'character trigrams' if unit == 'trigram' else 'characters'}")
    spelled = [
        piece.piece for piece in model.pieces if piece.type in (PieceType.NORMAL, PieceType.USER_DEFINED)
    ]
    # In bytes, no character is unknown.
    characters = None if model.trainer.byte_fallback else set("".join(spelled))
    normalization = Normalization(model, characters, lowercase=config["lowercase"])
    names = _names(model, normalization)
    steps = [*preparation(config, characters), *normalization.steps]
    build = {ModelType.UNIGRAM: _unigram, ModelType.BPE: _bpe, ModelType.WORD: _word}[kind]
    splits = _splits(model, spelled)
    if normalization.cut:
        splits.append(_split({"String": normalization.cut}, "Removed"))
    content: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits} if splits else None,
        "post_processor": None,
        "decoder": None,
        "model": build(model, names),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _names(model: ModelProto, normalization: Normalization) -> list[str]:
    """What the pieces are called: what is no text gets a name that no text has."""
    names = []
    for piece, _, kind in model.pieces:
        if kind in (PieceType.NORMAL, PieceType.BYTE):
            names.append(piece)
        elif kind is PieceType.USER_DEFINED:
            names.append(normalization.symbols.get(piece, piece))
        elif piece in normalization.spellings:
            names.append(normalization.run + piece + normalization.run)
        else:
            names.append(normalization.boundary + piece)
    return names


def _splits(model: ModelProto, spelled: list[str]) -> list[dict[str, Any]]:
    """Places at which a text can be cut before the model sees it, which makes it remember words."""
    suffix = model.trainer.treat_whitespace_as_suffix
    inner = (piece[:-1] if suffix else piece[1:] for piece in spelled)
    found = []
    if model.trainer.model_type is ModelType.WORD or (
        SPACE in spelled and not any(SPACE in text for text in inner)
    ):
        behaviour = "MergedWithPrevious" if suffix else "MergedWithNext"
        found.append(_split({"String": SPACE}, behaviour))
    if model.trainer.byte_fallback and model.trainer.model_type is ModelType.UNIGRAM:
        # A text that spells the name of a byte is not to become the byte.
        digit = "[0-9A-F]"
        for before, after in (("<", "0"), ("<0", "x"), ("<0x", digit), (f"<0x{digit}{{2}}", ">")):
            across = re.compile(f"{before}{after}")
            if not any(across.search(piece) for piece in spelled):
                found.append(_split({"Regex": f"(?<={before})(?={after})"}, "Isolated"))
                break
        else:
            raise InputError("its pieces of text cannot be told from the names of its bytes")
    return found


def _split(pattern: dict[str, str], behavior: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": False}


def _unknown(model: ModelProto) -> int:
    return model.ids(PieceType.UNKNOWN)[0]


def _unigram(model: ModelProto, names: list[str]) -> dict[str, Any]:
    worst = min((piece.score for piece in model.pieces if piece.type is PieceType.NORMAL), default=0.0)

    def score(piece: Piece) -> float:
        if piece.type is PieceType.USER_DEFINED:
            # As sentencepiece 0.2.3, whatever the model says.
            return (len(piece.piece.encode()) - 1) / 10
        # Those that no text has, and spellings: a lower score than the worst would count for what is unknown.
        return piece.score if piece.type is PieceType.NORMAL else worst

    vocabulary = [[name, score(piece)] for name, piece in zip(names, model.pieces, strict=True)]
    return {
        "type": "Unigram",
        "unk_id": _unknown(model),
        "vocab": vocabulary,
        "byte_fallback": model.trainer.byte_fallback,
    }


def _bpe(model: ModelProto, names: list[str]) -> dict[str, Any]:
    if model.ids(PieceType.UNUSED):
        raise InputError("its BPE model has pieces that are not to be used")
    scores = {piece.piece: piece.score for piece in model.pieces if piece.type is PieceType.NORMAL}
    merges = []
    # sentencepiece merges two pieces to the best one that there is, however it was found in training.
    for piece in sorted(scores, key=lambda piece: -scores[piece]):
        if len(piece) > 1 and not all(character in scores for character in piece):
            raise InputError(f"its BPE model's piece {piece!r} has a character that is no piece")
        splits = ((piece[:place], piece[place:]) for place in range(1, len(piece)))
        merges += [list(split) for split in splits if split[0] in scores and split[1] in scores]
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": names[_unknown(model)],
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": model.trainer.byte_fallback,
        "ignore_merges": False,
        "vocab": {name: number for number, name in enumerate(names)},
        "merges": merges,
    }


def _word(model: ModelProto, names: list[str]) -> dict[str, Any]:
    if model.trainer.byte_fallback:
        raise InputError("its vocabulary of words has bytes for other words")
    vocabulary = {name: number for number, name in enumerate(names)}
    return {"type": "WordLevel", "vocab": vocabulary, "unk_token": names[_unknown(model)]}
