"""Vocabularies by spelling: sentencepiece models that tell one run of unknown characters from another.

sentencepiece gives every character that it has no piece for the same id, and a run of them is one piece. The
original code looks pieces up by their spelling, so that a run that stood in the training data has an
embedding like any other: at a coverage of 0.995, those of English are made of digits, quotes and letters such
as j and z.

Such spellings stand in the sentencepiece model behind its own pieces, of the type `UNUSED`, which text is
never cut into. `UnknownPieceProcessor` gives runs of unknown characters their ids.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.errors import InputError
from paraphrastic.model.sentencepiece_proto import Piece, PieceType, piece_field

# The original's name of a sentence without any known piece. As a spelling it marks models that have some.
UNKNOWN = "UUUNKKK"
# Of more spellings, in percent, that a model cannot have made, it is another vocabulary's.
MAX_FOREIGN_PERCENT = 1.0
# Below those of the pieces, for readers that know no types: they take one spelling for a run, not several.
_SCORE = -100.0
_SPACE = "▁"


class UnknownPieceProcessor(SentencePieceProcessor):
    """A sentencepiece model whose unknown pieces are looked up by their spelling.

    Args:
        model: the serialized model.
        lowercase: whether their spelling is lower-cased first, since normalization can bring capitals back:
            ℕ has no lower case, and is normalized to N.
    """

    def __init__(self, model: bytes, *, lowercase: bool) -> None:
        super().__init__(model_proto=model)
        self.lowercase = lowercase

    # Both names, since the class's other methods use one of them, and callers the other.
    def Encode(self, input: Any, out_type: Any = int, **options: Any) -> Any:  # type: ignore[override]  # noqa: N802
        """As sentencepiece does; in ids, a run of unknown characters has its own, or `unk_id`."""
        out_type = options.pop("return_type", None) or out_type
        found = super().Encode(input, out_type=out_type, **options)
        if out_type not in (int, "numpy"):
            return found
        single = isinstance(input, str | bytes)
        texts, sentences = ([input], [found]) if single else (list(input), list(found))
        unknown = self.unk_id()
        rows = [row for row, ids in enumerate(sentences) if unknown in ids]
        spelled = super().Encode([texts[row] for row in rows], out_type=str, **options)
        for row, pieces in zip(rows, spelled, strict=True):
            ids = []
            for piece, each in zip(pieces, sentences[row], strict=True):
                ids += self._ids(piece) if each == unknown else [int(each)]
            sentences[row] = ids if out_type is int else np.array(ids, np.int32)
        return sentences[0] if single else sentences

    encode = Encode  # type: ignore[assignment]

    def _ids(self, run: str) -> list[int]:
        """Ids of a run of unknown characters; white space in it parts two."""
        return [self.piece_to_id(part) for part in (run.lower() if self.lowercase else run).split()]


def with_unknown_pieces(processor: SentencePieceProcessor, *, lowercase: bool) -> SentencePieceProcessor:
    """The processor, or one that looks unknown pieces up, if the model is one of `add_unknown_pieces`."""
    marked = processor.is_unused(processor.piece_to_id(UNKNOWN))
    if isinstance(processor, UnknownPieceProcessor) or not marked:
        return processor
    return UnknownPieceProcessor(processor.serialized_model_proto(), lowercase=lowercase)


def add_unknown_pieces(
    processor: SentencePieceProcessor, vocabulary: Sequence[str]
) -> SentencePieceProcessor:
    """The model with `UNKNOWN`, and all of a vocabulary that are none of its pieces, as spellings.

    Args:
        processor: the model whose pieces, and runs of characters without one, the vocabulary has.
        vocabulary: spellings, each once.

    Raises:
        InputError: the model cannot have made the vocabulary, or would cut text in another way with it.
    """
    unknown = processor.unk_id()
    ids = processor.piece_to_id(list(vocabulary))
    own = {UNKNOWN, processor.id_to_piece(unknown)}
    new = [each for each, piece in zip(vocabulary, ids, strict=True) if piece == unknown and each not in own]
    known = _characters(processor)
    foreign = [spelling for spelling in new if not known.isdisjoint(spelling)]
    if len(foreign) * 100 > len(vocabulary) * MAX_FOREIGN_PERCENT:
        raise InputError(
            f"{len(foreign):,} of the vocabulary's {len(vocabulary):,} pieces, such as {foreign[0]!r}, are "
            "none of the sentencepiece model's: it is another vocabulary's"
        )
    if processor.piece_to_id(UNKNOWN) == unknown:
        new.append(UNKNOWN)
    model = processor.serialized_model_proto() + b"".join(
        piece_field(Piece(spelling, _SCORE, PieceType.UNUSED)) for spelling in new
    )
    extended = SentencePieceProcessor(model_proto=model)
    if _SPACE not in known or processor.encode(new) != extended.encode(new):
        raise InputError(
            f"the sentencepiece model cannot tell unknown pieces of the vocabulary, such as {new[0]!r}, from "
            "others: needed is one of the type unigram or bpe, with a piece for a space"
        )
    return extended


def _characters(processor: SentencePieceProcessor) -> frozenset[str]:
    """Characters that are pieces; of no others are unknown pieces made."""
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    return frozenset(piece for piece in pieces if len(piece) == 1)
