"""What will be extracted of a file of pairs, by what is extracted of its beginning."""

import tempfile
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import UnreadableRows
from paraphrastic.corpus.blocks import open_parquet
from paraphrastic.corpus.tables import Rows, jsonl_rows, parquet_rows, tsv_rows
from paraphrastic.corpus.tmx import tmx_rows
from paraphrastic.registry.archive import open_stream
from paraphrastic.registry.datasets import RemoteFile

KINDS = ("tsv", "jsonl", "parquet", "tmx")
# Read of a file as it lies on the disk, and of its content at most.
_HEAD_BYTES, _MAX_BYTES = 1 << 21, 1 << 26
_PIECE_BYTES = 1 << 16
_PARQUET_ROWS = 20_000


class _Ignored(UnreadableRows):
    """Rows that cannot be read, such as the one at which the beginning ends."""

    def __init__(self) -> None:
        super().__init__(bound=0)

    def add(self, label: str, line: int, cause: str) -> None:
        """Leave it to the extraction."""


def extracted_mb(kind: str, path: str | Path, file: RemoteFile) -> float | None:
    """MB of the pairs that are in a file of one of `KINDS`; None where its beginning has none to be read."""
    path = Path(path)
    sides = file.languages[0], file.languages[-1]
    written, rows = 0.0, 0
    with suppress(InputError):
        if kind == "parquet":
            with open_parquet(path) as opened:
                total = opened.metadata.num_rows
            written, rows = _written(parquet_rows(path, sides, file.members, _Ignored()), _PARQUET_ROWS)
            return written * max(1.0, total / rows) / 1e6 if rows else None
        content, share = _beginning(path)
        written, rows = _written(_rows(kind, BytesIO(content), str(path), sides, file.members))
        return written / share / 1e6 if rows else None
    return None


def _rows(kind: str, stream: BytesIO, label: str, sides: tuple[str, str], columns: tuple[str, ...]) -> Rows:
    if kind == "tsv":
        return tsv_rows(stream, label, columns, _Ignored())
    if kind == "jsonl":
        return jsonl_rows(stream, label, sides, columns, _Ignored())
    return Rows(tmx_rows(stream, label, sides, _Ignored()))


def _beginning(path: Path) -> tuple[bytes, float]:
    """The first content of a file, which may be compressed, and the share that it is of all."""
    with tempfile.NamedTemporaryFile() as head:
        with path.open("rb") as file:
            head.write(file.read(_HEAD_BYTES))
        head.flush()
        content = bytearray()
        # Compressed data that are cut off end with an error.
        with suppress(InputError), open_stream(head.name, max_bytes=_MAX_BYTES) as stream:
            while piece := stream.read(_PIECE_BYTES):
                content += piece
        return bytes(content), min(1.0, _HEAD_BYTES / max(1, path.stat().st_size))


def _written(rows: Rows, most: int | None = None) -> tuple[int, int]:
    """Bytes of rows, as the extraction writes them, and how many they are."""
    found: list[tuple[Any, ...]] = []
    # XML that is cut off ends with an error.
    with suppress(InputError):
        found.extend(islice(rows.rows, most))
    columns = [
        pa.array(column, pa.float32() if place > 2 else None)
        for place, column in enumerate(zip(*found, strict=True))
    ]
    buffer = pa.BufferOutputStream()
    table = pa.table(columns, [str(place) for place in range(len(columns))])
    pq.write_table(table, buffer, compression="zstd", use_dictionary=False)
    return buffer.getvalue().size, len(found)
