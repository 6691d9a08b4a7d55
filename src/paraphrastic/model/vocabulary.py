"""The pieces of a model: sentencepiece models, spellings of unknown characters, and rows of unseen pieces.

sentencepiece gives the same id to every character that it has no piece for, and a run of them is one piece.
The original code looks pieces up by their spelling, so a run that occurred in the training data has an
embedding like any other piece. For English at a coverage of 0.995, such runs consist of digits, quotes and
letters such as j and z.

Here the sentencepiece model holds these spellings after its own pieces. They have the type `UNUSED`, and text
is never cut into such pieces. `interop.unknown_pieces` adds them, and `UnknownPieceProcessor` gives runs of
unknown characters their ids.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Bool, Float32
from paraphrastic.base.errors import InputError, on_one_line

# The original's name for a sentence without known pieces. A model that contains it has added spellings.
UNKNOWN = "UUUNKKK"
# What sentencepiece writes for a space.
SPACE = "▁"
# Number of a model's pieces for single bytes, if it has any.
BYTES = 256
# Factor of the embeddings of pieces that were never seen, most of them bytes. With 1, models lose 0.1 to 0.2
# points on STS, and with 0.25, 0.02; four such bytes then have half the length of another embedding.
UNSEEN = 0.25
# Rows from which the usual size of an entry is estimated.
_ROWS = 1024


def open_processor(content: bytes, name: str) -> SentencePieceProcessor:
    """Open a model from its bytes; an `InputError` with `name` if they are not those of a model.

    Since its version 0.2.2, sentencepiece itself checks a model, its map of characters included, before it
    cuts text with it.
    """
    try:
        if content:
            return SentencePieceProcessor(model_proto=content)
        cause: object = "it is empty"
    except RuntimeError as error:
        cause = error
    raise InputError(f"{name}: is not a sentencepiece model: {on_one_line(cause)}")


def load_sentencepiece(path: str | Path) -> SentencePieceProcessor:
    """Load a sentencepiece model; a missing or damaged file is an `InputError` that names it."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return open_processor(content, str(path))


def byte_pieces(processor: SentencePieceProcessor) -> list[int]:
    """Ids of the pieces for single bytes; none if the model cannot write unknown characters as bytes."""
    return [piece for piece in range(processor.get_piece_size()) if processor.is_byte(piece)]


def ordinary_pieces(processor: SentencePieceProcessor) -> list[int]:
    """Ids of the pieces that text is cut into, in the order of the model; bytes are not among them."""
    special = (processor.is_byte, processor.is_control, processor.is_unknown, processor.is_unused)
    return [piece for piece in range(processor.get_piece_size()) if not any(kind(piece) for kind in special)]


class UnknownPieceProcessor(SentencePieceProcessor):
    """A sentencepiece model whose unknown pieces are looked up by their spelling.

    Args:
        model: the serialized model.
        lowercase: whether to lower-case the spelling first, since normalization can bring capitals back: ℕ
            has no lower case and is normalized to N.
    """

    def __init__(self, model: bytes, *, lowercase: bool) -> None:
        super().__init__(model_proto=model)
        self.lowercase = lowercase

    # Both names are replaced, because the class's other methods use one of them, and callers the other.
    def Encode(self, input: Any, out_type: Any = int, **options: Any) -> Any:  # type: ignore[override]  # noqa: N802
        """Encode as sentencepiece does, but give a run of unknown characters its own id if it has one."""
        out_type = options.pop("return_type", None) or out_type
        encoded = super().Encode(input, out_type=out_type, **options)
        if out_type not in (int, "numpy"):
            return encoded
        single = isinstance(input, str | bytes)
        texts, sentences = ([input], [encoded]) if single else (list(input), list(encoded))
        unknown = self.unk_id()
        rows = [row for row, ids in enumerate(sentences) if unknown in ids]
        spelled = super().Encode([texts[row] for row in rows], out_type=str, **options)
        for row, pieces in zip(rows, spelled, strict=True):
            ids: list[int] = []
            for run, number in zip(pieces, sentences[row], strict=True):
                if number == unknown:
                    # White space splits it into several runs.
                    ids += map(self.piece_to_id, (run.lower() if self.lowercase else run).split())
                else:
                    ids.append(int(number))
            sentences[row] = ids if out_type is int else np.array(ids, np.int32)
        return sentences[0] if single else sentences

    encode = Encode  # type: ignore[assignment]


def with_unknown_pieces(processor: SentencePieceProcessor, *, lowercase: bool) -> SentencePieceProcessor:
    """The processor itself, or one that looks up unknown pieces if the model has spellings for them."""
    marked = processor.is_unused(processor.piece_to_id(UNKNOWN))
    if isinstance(processor, UnknownPieceProcessor) or not marked:
        return processor
    return UnknownPieceProcessor(processor.serialized_model_proto(), lowercase=lowercase)


def add_unseen_rows(
    embeddings: npt.NDArray[Any],
    known: Bool,
    processor: SentencePieceProcessor,
    weights: Float32 | None = None,
) -> tuple[npt.NDArray[Any], Bool, Float32 | None]:
    """Give a row to every piece that text is cut into and that has none.

    Training gives rows to all of them, but models of earlier versions and of the original code may lack some.
    The entries of a new row have random signs, the same in every run, and `UNSEEN` times the usual size.

    Args:
        embeddings: [pieces, dim]; an entry of an integer type is multiplied by its row's weight.
        known: bool [pieces], false for pieces without a row.
        processor: the sentencepiece model.
        weights: float32 [pieces], for integer types.

    Returns:
        The arguments themselves if there is nothing to add; otherwise copies of `embeddings`, `known` and
        `weights` with the new rows.
    """
    pieces = np.array([*byte_pieces(processor), *ordinary_pieces(processor)], np.int64)
    pieces = pieces[~known[pieces]]
    if not len(pieces):
        return embeddings, known, weights
    met = np.flatnonzero(known)
    sample = met[:: max(1, len(met) // _ROWS)]
    usual = embeddings[sample].astype(np.float32)
    if weights is not None:
        usual *= weights[sample, None]
    size = UNSEEN * float(np.sqrt(np.mean(np.square(usual)))) if len(sample) else 1.0
    entry = np.abs(embeddings).max(initial=1) if weights is not None else size
    signs = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (len(pieces), embeddings.shape[1]))
    embeddings, known = embeddings.copy(), known.copy()
    embeddings[pieces] = (signs * entry).astype(embeddings.dtype)
    known[pieces] = True
    if weights is not None:
        weights = weights.copy()
        weights[pieces] = size / float(entry)
    return embeddings, known, weights
