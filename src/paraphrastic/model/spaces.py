"""Whether a sentencepiece model cuts every word as it would alone."""

import sentencepiece

from paraphrastic.model.sentencepiece_proto import read_settings

# Normalizations of sentencepiece's own, none of which joins a space with what stands beside it.
_NORMALIZATIONS = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
_SPACE = "▁"


def is_cut_at_spaces(processor: sentencepiece.SentencePieceProcessor) -> bool:
    """Whether the pieces of a text are those of what stands between its spaces.

    They are if every word begins with the sign of a space, wherever it stands, and no piece has one further
    on. Where a word can be cut in two ways of the same score, such as aaa into aa a or a aa, it depends on
    rounding which one is taken, and with it on the words before; the sum of the pieces does not.
    """
    trainer, normalizer = read_settings(processor.serialized_model_proto())
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    return (
        normalizer.name in _NORMALIZATIONS
        and not normalizer.normalization_rule_tsv
        and normalizer.add_dummy_prefix
        and normalizer.remove_extra_whitespaces
        and normalizer.escape_whitespaces
        and not trainer.treat_whitespace_as_suffix
        and not trainer.pretokenization_delimiter
        # Symbols that users define may have either.
        and not any(_SPACE in piece[1:] or " " in piece for piece in pieces)
    )
