"""Digests of pairs as the corpus has them: they tell copies of a line from pairs that become equal later."""

from hashlib import md5

import pyarrow as pa

RAW = pa.field("raw", pa.binary(16))


def raw_digests(pairs: pa.RecordBatch) -> pa.Array:
    """The MD5 of each pair's text, whose sides a tab separates, as in `paste`."""
    sides = zip(pairs["source"].to_pylist(), pairs["target"].to_pylist(), strict=True)
    digests = [
        md5(f"{source}\t{target}".encode(), usedforsecurity=False).digest() for source, target in sides
    ]
    return pa.array(digests, RAW.type)
