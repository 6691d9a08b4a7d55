"""Whether a sentencepiece model cuts every word as it would alone."""

import sentencepiece

# Normalizations that sentencepiece ships. None of them joins a space with the character beside it.
NORMALIZATIONS = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
_SPACE = "▁"


def is_cut_at_spaces(processor: sentencepiece.SentencePieceProcessor) -> bool:
    """Whether a text is cut into the pieces of its words, one word after the other.

    That is so if every word begins with the sign for a space wherever it stands, and no piece has that sign
    further on. Where a word can be cut in two ways of the same score, such as aaa into aa a or a aa, rounding
    decides which one is taken, and with it the words before; the sum of the pieces is the same.
    """
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    return (
        # One sign before each word, whatever the number of spaces; none behind a word.
        processor.normalize(" a  b ") == f"{_SPACE}a{_SPACE}b"
        and _normalization_is_known(processor.serialized_model_proto())
        # Symbols that users define may have either.
        and not any(_SPACE in piece[1:] or " " in piece for piece in pieces)
    )


def _normalization_is_known(model: bytes) -> bool:
    """Whether a serialized model names a normalization that sentencepiece ships.

    A map of the user's own can join any characters, which no sample of text can rule out; sentencepiece names
    it `user_defined`. The name is followed by the map, a field that is there even where it is empty.
    """
    return any(b"\n%c%s\x12" % (len(name), name.encode()) in model for name in NORMALIZATIONS)
