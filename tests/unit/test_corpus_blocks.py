"""Test how Parquet files are streamed and how samples are drawn from streams."""

import errno
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import blocks
from paraphrastic_pipeline.corpus.blocks import noted, read_blocks, read_table, write_blocks
from paraphrastic_pipeline.corpus.sampling import Samples

SCHEMA = pa.schema([("text", pa.string()), ("language", pa.string())])


def batch(start: int, stop: int) -> pa.RecordBatch:
    rows = range(start, stop)
    columns = [
        pa.array([f"text {n} " + "x" * (n % 199) for n in rows]),
        pa.array([["en", "de", "fr"][n % 3] for n in rows]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def written(folder: Path, rows: int, **options) -> Path:
    with write_blocks(folder / "x.parquet", SCHEMA, **options) as writer:
        writer.write(batch(0, rows))
        writer.note("number", 7)
    return folder / "x.parquet"


@pytest.mark.parametrize("size", [1, 3, 10, 25])
def test_bytes_do_not_depend_on_the_batches(tmp_path, monkeypatch, size):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 10)
    for name, step in (("whole", 25), ("parts", size)):
        with write_blocks(tmp_path / name, SCHEMA, dictionary=["language"]) as writer:
            for start in range(0, 25, step):
                writer.write(batch(start, min(start + step, 25)))
        assert writer.rows == 25
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    metadata = pq.read_metadata(tmp_path / "parts")
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [10, 10, 5]
    assert pq.read_table(tmp_path / "parts") == pa.Table.from_batches([batch(0, 25)])
    assert [part.num_rows for part in read_blocks(tmp_path / "parts", rows=4)] == [4] * 6 + [1]


def test_pages_do_not_depend_on_the_batches(tmp_path):
    for name, step in (("whole", 30_000), ("parts", 7)):
        with write_blocks(tmp_path / name, SCHEMA) as writer:
            for start in range(0, 30_000, step):
                writer.write(batch(start, min(start + step, 30_000)))
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()


def test_nothing_is_left_after_an_error(tmp_path):
    def write_partly():
        with write_blocks(tmp_path / "out", SCHEMA) as writer:
            writer.write(batch(0, 5))
            raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        write_partly()
    assert list(tmp_path.iterdir()) == []


def test_full_disk(tmp_path, monkeypatch):
    def full(self, table):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with (
        pytest.raises(InputError, match=r"out: cannot be written: No space left on device"),
        write_blocks(tmp_path / "out", SCHEMA) as writer,
    ):
        writer.write(batch(0, 5))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"x\.parquet: not readable as Parquet: .*No such file"):
        list(read_blocks(tmp_path / "x.parquet"))


def test_a_flipped_bit_anywhere_is_refused_or_changes_nothing(tmp_path, monkeypatch):
    """Pages have checksums of their own, and the list of columns and rows at the end has one, too."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 500)
    path = written(tmp_path, 1000, dictionary=["language"])
    whole, table = path.read_bytes(), pa.Table.from_batches([batch(0, 1000)])
    assert read_table(path) == table
    listed = 8 + int.from_bytes(whole[-8:-4], "little")
    generator, refused = random.Random(1), [0, 0]
    places = [[*range(len(whole) - listed)], [*range(len(whole) - listed, len(whole))]]
    for part, found in enumerate(places):
        for place in generator.sample(found, 150):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << generator.randrange(8)
            path.write_bytes(flipped)
            try:
                assert read_table(path) == table
                assert noted(path, "number") == 7
            except InputError as error:
                refused[part] += 1
                assert str(error).startswith(f"{path}: ")  # noqa: PT017 - some bits belong to nothing
                assert "\n" not in str(error)  # noqa: PT017
    assert min(refused) > 140


def test_pages_that_are_skipped_are_missed(tmp_path):
    path = written(tmp_path, 100)
    whole = bytearray(path.read_bytes())
    # The second byte of the first page is its kind.
    whole[5] ^= 8
    path.write_bytes(whole)
    with pytest.raises(InputError, match=r"x\.parquet: damaged: 100 rows are missing"):
        read_table(path)


def test_a_file_that_is_cut_off_anywhere_is_named(tmp_path):
    path = written(tmp_path, 100)
    whole = path.read_bytes()
    for size in random.Random(2).sample(range(len(whole)), 50):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"x\.parquet: not readable as Parquet: "):
            read_table(path)


def test_a_column_that_is_missing_is_named(tmp_path):
    pq.write_table(pa.table({"source": ["a"]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet: damaged: it has no column 'target'"):
        list(read_blocks(tmp_path / "x.parquet", columns=["source", "target"]))


@pytest.mark.parametrize("rows", [0, 1, 499, 500, 501, 1000, 2000, None])
def test_the_first_rows_are_read(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(blocks, "READ_ROWS", 500)
    path, whole = written(tmp_path, 1000), pa.Table.from_batches([batch(0, 1000)])
    assert read_table(path, rows=rows) == whole.slice(0, rows)
    languages = read_table(path, columns=["language"], rows=rows)
    assert languages == whole.select(["language"]).slice(0, rows)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_samples_are_random_and_do_not_depend_on_blocks(size):
    samples = Samples(["even", "odd"], seed=3)
    for start in range(0, 1000, size):
        numbers = np.arange(start, min(start + size, 1000))
        samples.add(pa.RecordBatch.from_arrays([pa.array(numbers)], names=["number"]), numbers % 2)
    order = np.argsort(np.random.default_rng(3).random(1000))
    chosen = [(kind, n) for odd, kind in enumerate(samples.counts) for n in order[order % 2 == odd][:20]]
    assert [(kind, row["number"]) for kind, row in samples.rows()] == chosen
    assert samples.counts == {"even": 500, "odd": 500}


def test_a_sample_of_a_short_stream_is_all_of_it():
    samples = Samples(["letter"], seed=1)
    samples.add(pa.RecordBatch.from_pydict({"letter": ["b", "a", "c"]}), np.array([0, 0, -1]))
    assert samples.rows("letter") == [("letter", {"letter": "a"}), ("letter", {"letter": "b"})]
    assert (samples.read, samples.counts) == (3, {"letter": 2})


def test_a_row_that_cannot_be_counted_is_an_error():
    samples = Samples(["letter"], seed=1)
    for kind in (1, -2):
        with pytest.raises(ValueError, match=r"^a row is of a kind that is not one of letter$"):
            samples.add(pa.RecordBatch.from_pydict({"letter": ["a", "b"]}), np.array([0, kind]))
    with pytest.raises(ValueError, match=r"^two kinds have one name: letter, letter$"):
        Samples(["letter", "letter"], seed=1)


def test_memory_does_not_grow_with_the_file(tmp_path):
    generator = np.random.default_rng(1)
    path = tmp_path / "large.parquet"
    schema = pa.schema([("noise", pa.binary())])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(40):
            writer.write_table(pa.table([[generator.bytes(1000) for _ in range(500)]], schema=schema))
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in read_blocks(path, rows=500)]
    assert len(held) == 40
    assert max(held) < path.stat().st_size / 5


@pytest.mark.parametrize(
    "error", [pa.lib.ArrowMemoryError("malloc of size 9"), OSError("Failed to launch worker thread")]
)
def test_too_little_memory_is_no_damage(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*arguments: object, **options: object) -> None:
        raise error

    path = written(tmp_path, 5)
    for method in ("iter_batches", "__init__"):
        monkeypatch.setattr(pq.ParquetFile, method, no_memory)
        with pytest.raises(type(error)):
            list(read_blocks(path))
