"""Vectors as tables with the identity of each row: Parquet and JSON lines."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from paraphrastic.base.errors import InputError, shown
from paraphrastic.base.identities import identity_values
from paraphrastic.base.rows import Batch, Source, Told
from paraphrastic.base.text_files import byte_output, text_output
from paraphrastic.model.encoder import Vectors
from paraphrastic.model.matrix_description import Maker

# The columns of a table, and the key of a Parquet file's metadata that says which model made it.
IDENTITY, VECTOR, METADATA = "id", "vector", "paraphrastic"
# Numbers of vectors hardly recur: looking for those that do, and packing them, would take most of the time.
_FAST = {
    "use_dictionary": [IDENTITY],
    "write_statistics": [IDENTITY],
    "compression": {IDENTITY: "snappy", f"{VECTOR}.list.element": "none"},
}
# Characters at which some programs end a line, as JSON.
_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
# Whole numbers of Parquet are smaller.
_TOO_LARGE = 2**63
_PARQUET, _JSON = ".parquet", (".jsonl", ".ndjson")

# Appends the rows of a batch and their vectors, [n, dim].
Write = Callable[[Batch, Vectors], None]


def is_table(path: str) -> bool:
    """Whether vectors go to a table; otherwise they are a matrix."""
    return is_parquet(path) or PurePath(path).suffix.lower() in _JSON


def is_parquet(path: str) -> bool:
    """Whether a file's name is that of a Parquet file."""
    return PurePath(path).suffix.lower() == _PARQUET


def runs(rows: Any, kept: Sequence[int]) -> list[Any]:
    """Rows of an array or a batch of Arrow, ascending, as parts of it; Arrow's `take` lacks some types."""
    places = np.asarray(kept, np.int64)
    starts = np.flatnonzero(np.diff(places, prepend=-2) != 1)
    lengths = np.diff(starts, append=len(places))
    return [rows.slice(start, length) for start, length in zip(places[starts], lengths, strict=True)]


@contextmanager
def table_output(path: str, dim: int, dtype: np.dtype[Any], maker: Maker, source: Source) -> Iterator[Write]:
    """Yield a function that appends rows to a table with the columns `id` and `vector`.

    Rows that cannot be read are left out. The metadata of a Parquet file say which model made the vectors.

    Raises:
        InputError: the file cannot be written, or pyarrow is not installed.
    """
    if is_parquet(path):
        with _parquet_output(path, dim, dtype, maker, source) as write:
            yield write
        return
    with text_output(path) as file:

        def write_lines(rows: Batch, vectors: Vectors) -> None:
            bad = set(rows.faults)
            for place, identity in enumerate(rows.identities):
                if place not in bad:
                    # So many digits tell apart all numbers in single precision.
                    numbers = ", ".join(map("{:.9g}".format, vectors[place].tolist()))
                    name = json.dumps(identity, ensure_ascii=False).translate(_LINE_ENDS)
                    file.write(f'{{"{IDENTITY}": {name}, "{VECTOR}": [{numbers}]}}\n')

        yield write_lines


def of_one_type(source: Source, size: int) -> Iterator[Batch]:
    """Yield rows, `size` at a time, whose identities a column of Parquet can hold.

    One that is of another type than the first, or too large a number, makes its row one that cannot be read.

    Raises:
        InputError: see `Source.batches`.
    """
    unreadable = Told(source.path, source.on_fault)
    first: Any = None
    read = 0
    for rows in source.batches(size):
        # The rows of Parquet have a type already, and numbers of rows are of one type.
        if rows.arrow is not None or isinstance(rows.identities, range):
            yield rows
            continue
        faults = {*rows.faults}
        for place, (value, lines) in enumerate(zip(rows.identities, rows.lines, strict=True)):
            if lines is None:
                continue
            first = value if first is None else first
            cause = ""
            if type(value) is not type(first):
                cause = f"{shown(value)} and the first identity, {shown(first)}, are not of one type"
            elif isinstance(value, int) and not -_TOO_LARGE <= value < _TOO_LARGE:
                cause = f"{shown(value)} is too large a number for Parquet"
            if cause:
                unreadable.add(source.path, lines[0], f"{source.identity}: {cause}")
                faults.add(place)
        read += len(rows.identities)
        yield replace(rows, faults=sorted(faults))
    unreadable.check_end(read)


@contextmanager
def _parquet_output(
    path: str, dim: int, dtype: np.dtype[Any], maker: Maker, source: Source
) -> Iterator[Write]:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise InputError(f"{path}: Parquet needs pyarrow: pip install pyarrow") from None
    kind = pa.list_(pa.from_numpy_dtype(dtype), dim)
    about = {METADATA: json.dumps(maker.content(), ensure_ascii=False)}
    writer: Any = None
    schema: Any = None

    def write(rows: Batch, vectors: Vectors) -> None:
        nonlocal writer, schema
        bad = set(rows.faults)
        kept = [place for place in range(len(vectors)) if place not in bad]
        if not kept:
            return
        if rows.arrow is None:
            identities = pa.array([rows.identities[place] for place in kept])
        else:
            identities = pa.concat_arrays(runs(rows.arrow, kept))
        if writer is None:
            schema = pa.schema({IDENTITY: identities.type, VECTOR: kind}, about)
            writer = ParquetWriter(output, schema, **_FAST)
        numbers = pa.array(np.ascontiguousarray(vectors[kept]).ravel())
        writer.write_batch(
            pa.record_batch([identities, pa.FixedSizeListArray.from_arrays(numbers, dim)], schema=schema)
        )

    with byte_output(path) as output:
        try:
            yield write
            if writer is None:
                without = pa.schema({IDENTITY: _type_without_rows(source), VECTOR: kind}, about)
                writer = ParquetWriter(output, without, **_FAST)
        finally:
            # It writes to the file even when it is forgotten.
            if writer is not None:
                writer.close()


def _type_without_rows(source: Source) -> Any:
    """The type of Arrow that the identities of a source without rows would have, as far as can be told."""
    import pyarrow as pa
    from pyarrow.parquet import read_schema

    if source.identity is None:
        return pa.int64()
    if not is_parquet(source.path):
        return pa.string()
    kind = read_schema(source.path).field(source.identity).type
    identity_values(pa.array([], kind), f"{source.path}: {shown(source.identity)}")
    return kind
