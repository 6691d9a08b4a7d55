"""`tokenizer.json` of Hugging Face's tokenizers, made from a sentencepiece model."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.interop.export.normalization import SPACE, Normalization, preparation
from paraphrastic.interop.sentencepiece_proto import ModelProto
from paraphrastic.model.pieces import NORMALIZATIONS


def tokenizer_json(model: ModelProto, config: Mapping[str, Any]) -> str:
    """The tokenizer by which a text becomes the ids that `AverageEncoder` makes of it.

    Two things cannot be expressed: Chinese words, which jieba finds; and runs of unknown pieces, which have
    no embedding. sentencepiece makes one piece of such a run, and the tokenizer may make several.

    Args:
        model: of subwords (unigram) or words.
        config: the content of the model's `config.json`; `folding`, `lowercase` and `unit` count.

    Raises:
        InputError: the model is of another kind, or has a setting that the format cannot express.
    """
    spelled = {piece.piece for piece in model.pieces if piece.type == piece.NORMAL}
    _check_supported(model, config, spelled)
    # In bytes, no character is unknown.
    characters = None if model.trainer_spec.byte_fallback else set("".join(spelled))
    normalization = Normalization(model, characters, lowercase=config["lowercase"])
    splits = _splits(model, spelled)
    if normalization.cut:
        splits.append(_split({"String": normalization.cut}, "Removed"))
    steps = [*preparation(config, characters), *normalization.steps]
    content: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits} if splits else None,
        "post_processor": None,
        "decoder": None,
        "model": _vocabulary(model, [_name(piece, normalization) for piece in model.pieces]),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _check_supported(model: ModelProto, config: Mapping[str, Any], spelled: Collection[str]) -> None:
    """Raise an `InputError` unless this project, or the original code, could have trained the model."""
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    if not (
        config.get("unit", "subword") in ("subword", "word")
        and (trainer.model_type == trainer.UNIGRAM or (_is_of_words(model) and not trainer.byte_fallback))
        and normalizer.name in NORMALIZATIONS
        and normalizer.add_dummy_prefix
        and normalizer.remove_extra_whitespaces
        and normalizer.escape_whitespaces
        and not trainer.treat_whitespace_as_suffix
        and not any(piece.type == piece.USER_DEFINED for piece in model.pieces)
        and not any(SPACE in piece[1:] for piece in spelled)
    ):
        raise InputError(
            "its vocabulary cannot be a tokenizer.json. Supported are sentencepiece models of subwords "
            "(unigram) or of words, with a normalization of sentencepiece's own, its default treatment of "
            "spaces and no user-defined symbols"
        )


def _is_of_words(model: ModelProto) -> bool:
    return model.trainer_spec.model_type == model.trainer_spec.WORD


def _name(piece: Any, normalization: Normalization) -> str:
    """What a piece is called: what is no text gets a name that no text has."""
    if piece.type in (piece.NORMAL, piece.BYTE):
        return piece.piece
    if piece.piece in normalization.spellings:
        return normalization.run + piece.piece + normalization.run
    return normalization.boundary + piece.piece


def _splits(model: ModelProto, spelled: Collection[str]) -> list[dict[str, Any]]:
    """Places at which a text can be cut before the model sees it, which makes it remember words."""
    found = []
    if SPACE in spelled or _is_of_words(model):
        found.append(_split({"String": SPACE}, "MergedWithNext"))
    if model.trainer_spec.byte_fallback:
        # A text that spells the name of a byte is not to become the byte.
        for before, after in (("<", "0"), ("<0", "x"), ("<0x", "[0-9A-F]"), ("<0x[0-9A-F]{2}", ">")):
            if not any(re.search(before + after, piece) for piece in spelled):
                found.append(_split({"Regex": f"(?<={before})(?={after})"}, "Isolated"))
                break
        else:
            raise InputError("its pieces of text cannot be told from the names of its bytes")
    return found


def _split(pattern: dict[str, str], behavior: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": False}


def _vocabulary(model: ModelProto, names: list[str]) -> dict[str, Any]:
    (unknown,) = (number for number, piece in enumerate(model.pieces) if piece.type == piece.UNKNOWN)
    if _is_of_words(model):
        ids = {name: number for number, name in enumerate(names)}
        return {"type": "WordLevel", "vocab": ids, "unk_token": names[unknown]}
    worst = min((piece.score for piece in model.pieces if piece.type == piece.NORMAL), default=0.0)
    # Pieces that no text has, and spellings: a score below the worst would change that of unknown characters.
    scores = [piece.score if piece.type == piece.NORMAL else worst for piece in model.pieces]
    return {
        "type": "Unigram",
        "unk_id": unknown,
        "vocab": list(map(list, zip(names, scores, strict=True))),
        "byte_fallback": model.trainer_spec.byte_fallback,
    }
