"""Rows for the pieces of a vocabulary that training never saw.

Such a piece, a digit or a rare letter for instance, only stood inside longer pieces. A text in use may have
it alone, and must then differ from the text without it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Bool, Float32
from paraphrastic.model.sentencepiece_models import byte_pieces, ordinary_pieces

# Factor of the embeddings of pieces that were never seen, most of them bytes. With 1, models lose 0.1 to 0.2
# points on STS, and with 0.25, 0.02; four such bytes then have half the length of another embedding.
UNSEEN = 0.25
# Rows from which the usual size of an entry is estimated.
_ROWS = 1024


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
