"""Test how Parquet files are streamed and how samples are drawn from streams."""

import errno
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import blocks
from paraphrastic_pipeline.corpus.blocks import read_blocks, read_table, write_blocks, write_table
from paraphrastic_pipeline.corpus.sampling import Samples

SCHEMA = pa.schema([("text", pa.string()), ("language", pa.string())])


def batch(start, stop):
    rows = range(start, stop)
    texts = [f"text {n} " + "x" * (n % 199) for n in rows]
    return pa.record_batch([texts, [["en", "de", "fr"][n % 3] for n in rows]], schema=SCHEMA)


def write(path, rows, step):
    with write_blocks(path, SCHEMA, dictionary=["language"]) as writer:
        for start in range(0, rows, step):
            writer.write(batch(start, min(start + step, rows)))
    assert writer.rows == rows
    return path.read_bytes()


@pytest.mark.parametrize(
    ("block", "rows", "step"), [(10, 25, 1), (10, 25, 3), (10, 20, 10), (65_536, 30_000, 7)]
)
def test_bytes_do_not_depend_on_the_batches(tmp_path, monkeypatch, block, rows, step):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", block)
    path, table = tmp_path / "parts", pa.Table.from_batches([batch(0, rows)])
    assert write(tmp_path / "whole", rows, rows) == write(path, rows, step)
    metadata = pq.read_metadata(path)
    sizes = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert sizes == [block] * (rows // block) + [rows % block] * (rows % block > 0)
    assert read_table(path) == table
    write_table(tmp_path / "table", table)
    assert read_table(tmp_path / "table") == table


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_files_are_read_in_blocks_and_parts(tmp_path, monkeypatch, count):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 10)
    write(tmp_path / "x", 45, 45)
    parts = [[*read_blocks(tmp_path / "x", rows=4, shard=(i + 1, count))] for i in range(count)]
    assert pa.Table.from_batches(chain.from_iterable(parts)) == pa.Table.from_batches([batch(0, 45)])
    assert max(sum(block.num_rows for block in part) for part in parts) <= 10 * -(-5 // count)
    assert {block.num_rows for part in parts for block in part} <= {1, 2, 3, 4}


def test_nothing_is_left_after_an_error_or_on_a_full_disk(tmp_path, monkeypatch):
    with pytest.raises(pa.ArrowInvalid), write_blocks(tmp_path / "out", SCHEMA) as writer:
        writer.write(pa.record_batch([[1]], names=["number"]))
    assert list(tmp_path.iterdir()) == []

    def full(self, table):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(InputError, match=r"out: .*No space left on device"):
        write(tmp_path / "out", 5, 5)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_samples_are_random_and_do_not_depend_on_blocks(size):
    samples = Samples(["even", "odd", "none"], seed=3)
    for start in range(0, 1000, size):
        numbers = np.arange(start, min(start + size, 1000))
        kinds = np.where(numbers < 900, numbers % 2, -1)
        samples.add(pa.RecordBatch.from_arrays([pa.array(-numbers)], names=["number"]), kinds)
    order = np.argsort(np.random.default_rng(3).random(1000))
    order = order[order < 900]
    chosen = [(kind, -n) for odd, kind in enumerate(["even", "odd"]) for n in order[order % 2 == odd][:20]]
    assert [(kind, row["number"]) for kind, row in samples.rows()] == chosen
    assert [(kind, row["number"]) for kind, row in samples.rows("number")] == sorted(chosen)
    assert (samples.read, samples.counts) == (1000, {"even": 450, "odd": 450, "none": 0})
