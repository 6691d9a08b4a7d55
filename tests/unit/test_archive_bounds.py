"""Test that no archive fills the memory, and that a check of a whole archive finds damage."""

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import tracemalloc
from contextlib import contextmanager
from pathlib import PurePosixPath

import pyarrow
import pytest
from archives import make_tar, make_zip, read_all

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.compressed import DamagedError, open_stream
from paraphrastic_pipeline.registry.archive import check_whole, read_members


@contextmanager
def little_memory():
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


def tar_of(path, *infos):
    """Write a tar.gz whose headers announce zeros, and the zeros after each header."""
    with gzip.open(path, "wb") as stream:
        for info in infos:
            stream.write(info.tobuf(format=tarfile.GNU_FORMAT))
            for _ in range(-(-info.size // (1 << 20))):
                stream.write(bytes(1 << 20))
    return path


def header(kind, size):
    info = tarfile.TarInfo("m")
    info.type, info.size = kind, size
    return info


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
@pytest.mark.parametrize("first", [True, False])
def test_a_tar_whose_header_would_fill_the_memory_is_refused(tmp_path, kind, first):
    size = 1 << 25
    members = ([] if first else [header(tarfile.REGTYPE, 0)]) + [header(kind, size)]
    path = tar_of(tmp_path / "bomb.tar.gz", *members)
    assert path.stat().st_size < size / 400
    with (
        little_memory(),
        pytest.raises(InputError, match=rf"bomb\.tar\.gz: damaged: .*a header of {size} bytes"),
    ):
        read_all(path, "m")


def test_a_sparse_tar_is_refused(tmp_path):
    path = tar_of(tmp_path / "a.tar.gz", header(tarfile.GNUTYPE_SPARSE, 0))
    with pytest.raises(InputError, match=r"damaged: .*a sparse file"):
        read_all(path, "m")


def test_long_names_are_no_bombs(tmp_path):
    name = "deep/" * 100 + "m"
    for style in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        with tarfile.open(tmp_path / "a.tar", "w", format=style) as archive:
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(b"text"))
        assert read_all(tmp_path / "a.tar", name) == [b"text"]


@pytest.mark.parametrize("make", [make_zip, make_tar], ids=["zip", "tar"])
def test_the_number_of_members_is_bounded(tmp_path, monkeypatch, make):
    path = make(tmp_path / "many", {f"m{i}": b"" for i in range(5)})
    monkeypatch.setattr("paraphrastic_pipeline.registry.archive._MAX_MEMBERS", 5)
    assert len(read_members(path, lambda _: True, max_bytes=0)) == 5
    monkeypatch.setattr("paraphrastic_pipeline.registry.archive._MAX_MEMBERS", 4)
    for read in (lambda: read_members(path, lambda _: True, max_bytes=0), lambda: read_all(path, "m0")):
        with pytest.raises(InputError, match="many: has more than 4 members"):
            read()


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_tar_of_zeros_is_refused_before_it_is_read(tmp_path, mode):
    path = make_tar(tmp_path / "bomb.tar", {"m": bytes(10**7)}, mode)
    with pytest.raises(InputError, match="m: 10000000 bytes, more than the bound of 1000"):
        read_all(path, "m")


def test_an_archive_in_an_archive_is_a_file(tmp_path):
    inner = make_zip(tmp_path / "inner.zip", {"bomb": bytes(10**7)}).read_bytes()
    path = make_zip(tmp_path / "outer.zip", {"inner.zip": inner})
    assert read_members(path, lambda _: True, max_bytes=10**5) == {PurePosixPath("inner.zip"): inner}


def zstd(data):
    return pyarrow.compress(data, codec="zstd", asbytes=True)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, zstd], ids=["gz", "bz2", "zst"])
def test_a_stream_of_zeros_ends_at_its_bound(tmp_path, compress):
    path = tmp_path / "bomb"
    path.write_bytes(compress(bytes(3 * 10**7)))
    assert path.stat().st_size < 40_000
    with (
        little_memory(),
        open_stream(path, max_bytes=10**6) as stream,
        pytest.raises(InputError, match="bomb: grows past the bound of 1000000 bytes"),
    ):
        stream.read()


WHOLE = {
    "a.zip": lambda path: make_zip(path, {"one": TEXT, "two": TEXT}),
    "a.tar": lambda path: make_tar(path, {"one": TEXT, "two": TEXT}, "w"),
    "a.tar.gz": lambda path: make_tar(path, {"one": TEXT, "two": TEXT}),
    "a.tgz": lambda path: make_tar(path, {"one": TEXT}),
    "a.tar.bz2": lambda path: make_tar(path, {"one": TEXT}, "w:bz2"),
    "a.tar.xz": lambda path: make_tar(path, {"one": TEXT}, "w:xz"),
    "a.txt.gz": lambda path: path.write_bytes(gzip.compress(TEXT, mtime=0) + gzip.compress(TEXT)),
    "a.txt.bz2": lambda path: path.write_bytes(bz2.compress(TEXT)),
    "a.txt.xz": lambda path: path.write_bytes(lzma.compress(TEXT)),
    "a.txt.zst": lambda path: path.write_bytes(pyarrow.compress(TEXT, "zstd", asbytes=True)),
}
TEXT = random.Random(1).randbytes(300_000)


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_file_passes_and_a_cut_or_changed_one_does_not(tmp_path, name):
    path = tmp_path / "x.part"  # the type of the archive follows from the finished file's name
    WHOLE[name](path)
    check_whole(path, name)
    data = path.read_bytes()
    spoilt = {"cut": data[: len(data) * 2 // 5], "noise": TEXT, "empty": b""}
    if name not in ("a.tar", "a.txt.zst"):  # these two have no checksum here
        middle = len(data) // 3
        spoilt["changed"] = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    if name != "a.tar":
        spoilt["end"] = data[:-4]
    for content in spoilt.values():
        path.write_bytes(content)
        with pytest.raises(DamagedError, match=r"x\.part: .*damaged: ") as caught:
            check_whole(path, name)
        assert "\n" not in str(caught.value)


def test_what_is_called_a_zip_is_checked_as_one(tmp_path):
    (tmp_path / "x.part").write_bytes(b"<html>404</html>")
    with pytest.raises(DamagedError, match=r"x\.part: damaged: File is not a zip file$"):
        check_whole(tmp_path / "x.part", "a.zip")


def test_files_of_other_names_are_not_read(tmp_path):
    check_whole(tmp_path / "gone", "corpus.txt")


def test_an_archive_may_be_packed_otherwise_than_its_name_says(tmp_path):
    check_whole(make_tar(tmp_path / "a", {"one": TEXT}), "senteval.tar")
    check_whole(make_zip(tmp_path / "b", {"one": TEXT}), "senteval.tar")
    check_whole(tmp_path / "a", "senteval.zip")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.bz2", "a.txt.gz"])
def test_a_check_ends_at_a_bound_in_little_memory(tmp_path, monkeypatch, name):
    monkeypatch.setattr("paraphrastic_pipeline.registry.archive._MIN_BOUND", 5 << 20)
    monkeypatch.setattr("paraphrastic_pipeline.registry.archive._MAX_RATIO", 1)
    zeros = bytes(20 << 20)
    path = tmp_path / name
    if name == "a.zip":
        make_zip(path, {"one": zeros[: 4 << 20], "two": zeros[: 4 << 20]})
    elif name == "a.tar.bz2":
        make_tar(path, {"one": zeros}, "w:bz2")
    else:
        path.write_bytes(gzip.compress(zeros, mtime=0))
    del zeros
    tracemalloc.start()
    with pytest.raises(InputError, match=f"bound of {5 << 20}") as caught:
        check_whole(path, name)
    assert not isinstance(caught.value, DamagedError), "asked again, it would be the same"
    assert tracemalloc.get_traced_memory()[1] < 2 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("name", [b"", b"\xff\xfe"], ids=["none", "not UTF-8"])
def test_a_zip_whose_member_has_no_readable_name_is_damaged(tmp_path, name):
    path = make_zip(tmp_path / "a.zip", {"é": b"content"})
    data = path.read_bytes().replace("é".encode(), name or "é".encode())
    if not name:
        start = data.index(b"PK\x01\x02")  # in the directory, this turns the name's bytes into an extra field
        data = data[: start + 28] + struct.pack("<HH", 0, 2) + data[start + 32 :]
    path.write_bytes(data)
    with pytest.raises(DamagedError, match="damaged: "):
        check_whole(path, "a.zip")
