"""Tokens: what stands between white space."""

import pyarrow as pa
import pyarrow.compute as pc


def split_tokens(texts: pa.Array) -> pa.ListArray:
    """Tokens of each text: what stands between (Unicode) white space."""
    return pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))


def count_tokens(texts: pa.Array) -> pa.Array:
    """Number of tokens of each text: int32, 0 for a text of white space only."""
    counts = pc.list_value_length(split_tokens(texts))
    # White space only is split into one empty token.
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), ""), pa.scalar(0, pa.int32()), counts)
