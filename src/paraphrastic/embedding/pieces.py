"""Text into the pieces that vectors are made of: by sentencepiece, which remembers what it did with a word.

Where no piece reaches over white space, the pieces of a sentence are those of its words, and almost every word
has been met before. Such a word is found by machine code in a table, and only new ones go to sentencepiece.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]

# Words that a table remembers; it begins again when it is full.
MAX_WORDS = 1 << 18
# Bytes of a longer one, which will hardly come again.
MAX_WORD_BYTES = 64
_META = "▁"


class Pieces(NamedTuple):
    """Known pieces of n sentences.

    Attributes:
        pieces: of all sentences, one after the other, int32.
        ends: where sentence i's end, at i + 1; the first one is 0. int64 [n + 1]
        has_text: whether a sentence has pieces at all, known or not. [n]
    """

    pieces: Int32
    ends: Int64
    has_text: Bool
