"""Sentencepiece models that tell one run of unknown characters from another, by its spelling.

sentencepiece gives every character that it has no piece for the same id, and a run of them is one piece. The
original code looks pieces up by their spelling, so that a run that stood in the training data has an
embedding like any other: at a coverage of 0.995, those of English are made of digits, quotes and letters such
as j and z.

Such spellings stand in the sentencepiece model behind its own pieces, of the type `UNUSED`, which text is
never cut into. `UnknownPieceProcessor` gives runs of unknown characters their ids. `sentencepiece_proto` of
`interop` adds them to a model.
"""

from typing import Any

import numpy as np
from sentencepiece import SentencePieceProcessor

# The original's name of a sentence without any known piece. As a spelling it marks models that have some.
UNKNOWN = "UUUNKKK"


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
    """The processor, or one that looks unknown pieces up if the model has spellings of them."""
    marked = processor.is_unused(processor.piece_to_id(UNKNOWN))
    if isinstance(processor, UnknownPieceProcessor) or not marked:
        return processor
    return UnknownPieceProcessor(processor.serialized_model_proto(), lowercase=lowercase)
