"""Tokens of many texts: their counts, and words in one flat array for the scores that compare them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Literal
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.arrays import Int32, Int64
from paraphrastic.model.units import split_marks
from paraphrastic_pipeline.corpus.spaceless import DOTS, MARKS, SPACELESS

# How words are split; texts that a tokenizer of NLTK has split are left as they are.
Tokenizer = Literal["word", "white_space", "split"]
_SPACELESS = re.compile(f"[{SPACELESS}]")
# What stands between runs of other scripts.
_BETWEEN = re.compile(f"(?:[{SPACELESS}][{SPACELESS}{MARKS}]*|[{DOTS}])+")
# A character with its marks, or a run of characters of other scripts.
_UNIT = re.compile(f"[{SPACELESS}][{MARKS}]*|[^{SPACELESS}{DOTS}]+")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words of texts: text i consists of the words with numbers `ids[offsets[i]:offsets[i + 1]]`.

    Attributes:
        ids: int32 [tokens], each token's index in `words`.
        offsets: int64 [texts + 1].
        words: the distinct words.
    """

    ids: Int32
    offsets: Int64
    words: list[str]

    @property
    def owners(self) -> Int64:
        """Index of the text that each token belongs to: int64 [tokens]."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def _pieces(texts: pa.Array) -> tuple[pa.ListArray, list[str], Int32]:
    """What stands between (Unicode) white space in each text; the distinct pieces; the number of each one."""
    pieces = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))
    # Python handles each distinct piece once; Arrow does the rest.
    encoded = pieces.values.dictionary_encode()
    return pieces, encoded.dictionary.to_pylist(), encoded.indices


def count_tokens(texts: Sequence[str]) -> tuple[Int32, Int32]:
    """Number of tokens between white space in each text, and zeros: int32 [texts] each; see `count_words`."""
    return np.array([len(text.split()) for text in texts], np.int32), np.zeros(len(texts), np.int32)


def count_words(texts: Sequence[str]) -> tuple[Int32, Int32]:
    """Number of words in each text, and how many of them are single characters: int32 [texts] each.

    Words are tokens between white space. In scripts that are written without spaces, every character is a
    word, without its marks; if other text stands between such characters, it is a word if it has a letter or
    digit. In Tibetan, every syllable is a word, and a dot separates words of Ethiopic.
    """
    array = pa.array(texts, pa.string())
    if not pc.any(pc.match_substring_regex(array, f"[{SPACELESS}{DOTS}]")).as_py():
        return count_tokens(texts)
    pieces, distinct, numbers = _pieces(array)
    of_piece = np.array([_count_in(piece) for piece in distinct], np.int32)[numbers]
    sums = np.concatenate((np.zeros((1, 2), np.int32), np.cumsum(of_piece, axis=0, dtype=np.int32)))
    counts = np.diff(sums[pieces.offsets], axis=0)
    return counts[:, 0], counts[:, 1]


def _count_in(piece: str) -> tuple[int, int]:
    """Words of a piece of text without white space, and its single characters."""
    others = _BETWEEN.split(piece)
    if len(others) == 1:
        return int(piece != ""), 0
    characters = len(_SPACELESS.findall(piece))
    return max(1, characters + sum(any(map(str.isalnum, word)) for word in others)), characters


def tokenize(texts: pa.Array | Sequence[str], tokenizer: Tokenizer = "word") -> Tokens:
    """Lower-cased words of each text.

    The tokenizer `word` splits text at white space. Each punctuation mark or symbol at either end of a token
    is then a word of its own (`(hello!)` becomes `( hello ! )`), while those inside stay (`don't`, `3.5`,
    `well-known`). In scripts that are written without spaces, each character is a word, with its marks;
    `white_space` leaves such text whole, and `split` takes what is between white space as it is.
    """
    pieces, distinct, numbers = _pieces(pa.array(texts, pa.string()))
    split = {"word": _split_piece, "white_space": split_marks, "split": lambda piece: [piece]}[tokenizer]
    words = pa.array([split(piece.lower()) for piece in distinct], pa.list_(pa.string()))
    numbered = words.values.dictionary_encode()
    ids = pa.ListArray.from_arrays(words.offsets, numbered.indices).take(numbers)
    offsets = ids.offsets.to_numpy().astype(np.int64)[pieces.offsets.to_numpy()]
    return Tokens(ids.values.to_numpy(), offsets, numbered.dictionary.to_pylist())


def _split_piece(piece: str) -> list[str]:
    """Split a piece of text without white space into words."""
    return [word for unit in _UNIT.findall(piece) for word in split_marks(unit)]


def open_treebank(punkt: Path) -> Callable[[Sequence[str]], list[str]]:
    """Open NLTK's `word_tokenize`, which the original code uses: sentences by Punkt, then Treebank's words.

    Args:
        punkt: NLTK's archive `punkt_tab.zip` of what Punkt has learned about English.

    Returns:
        A function that lower-cases texts and puts a space between any two words.
    """
    # Imported here, since only this tokenizer needs NLTK.
    from nltk.tabdata import PunktDecoder
    from nltk.tokenize import NLTKWordTokenizer, PunktSentenceTokenizer
    from nltk.tokenize.punkt import PunktParameters

    learned, decoder = PunktParameters(), PunktDecoder()
    with ZipFile(punkt) as archive:

        def read(name: str) -> StringIO:
            return StringIO(archive.read(f"punkt_tab/english/{name}").decode())

        learned.collocations = {*decoder.tab2tups(read("collocations.tab"))}
        learned.sent_starters = decoder.txt2set(read("sent_starters.txt"))
        learned.abbrev_types = decoder.txt2set(read("abbrev_types.txt"))
        learned.ortho_context = decoder.tab2intdict(read("ortho_context.tab"))
    split_sentences = PunktSentenceTokenizer(learned).tokenize
    split_words = NLTKWordTokenizer().tokenize

    def split(texts: Sequence[str]) -> list[str]:
        sentences = (split_sentences(text.strip().lower()) for text in texts)
        return [" ".join(word for one in several for word in split_words(one)) for several in sentences]

    return split
