"""Test that archives give the right streams, and that damaged and hostile ones are refused."""

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import PurePosixPath

import pyarrow
import pytest
from archives import make_tar, make_zip, read_all

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.archive import (
    member_names,
    open_largest,
    open_members,
    open_stream,
    read_members,
)

MAKERS = {
    "zip": make_zip,
    "tar": lambda path, members: make_tar(path, members, "w"),
    "gz": make_tar,
    "bz2": lambda path, members: make_tar(path, members, "w:bz2"),
    "xz": lambda path, members: make_tar(path, members, "w:xz"),
}
PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pyarrow.compress(data, codec="zstd", asbytes=True),
    "plain": bytes,
}
NUMBERS = b"".join(b"%d\n" % i for i in range(50_000))
NOISE = random.Random(1).randbytes(50_000)


@pytest.mark.parametrize("kind", MAKERS)
def test_members_are_read_in_turns_in_the_order_asked(tmp_path, kind):
    sides = {
        f"T.en-fr.{code}": b"".join(b"%s %d\n" % (code.encode(), i) for i in range(30000))
        for code in ("en", "fr")
    }
    path = MAKERS[kind](tmp_path / "archive", sides)
    assert member_names(path) == list(sides)
    names = ["T.en-fr.fr", ("T.fr-en.en", "T.en-fr.en")]
    with open_members(path, names, max_bytes=10**6) as (french, english):
        for i, (first, second) in enumerate(zip(french, english, strict=True)):
            assert (first, second) == (b"fr %d\n" % i, b"en %d\n" % i)
    assert i == 29999


@pytest.mark.parametrize(("count", "held"), [(0, "no files"), (2, "m0, m1"), (12, "m8, m9 and 2 more")])
def test_a_missing_member_lists_what_there_is(tmp_path, count, held):
    path = make_zip(tmp_path / "a.zip", {f"m{i}": b"x" for i in range(count)})
    with pytest.raises(InputError, match=rf"a\.zip: has no member p\.en or q\.en; .*{held}$"):
        read_all(path, ("p.en", "q.en"))


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("vectors.txt", b"PK 0.5 0.5\n", b"PK 0.5 0.5\n"),
        ("vectors.txt", b"", b""),
        ("vectors.zip", gzip.compress(b"a 0.5\n", mtime=0), b"a 0.5\n"),
    ],
)
def test_the_content_says_what_is_an_archive(tmp_path, name, content, text):
    (tmp_path / name).write_bytes(content)
    assert member_names(tmp_path / name) is None
    with open_largest(tmp_path / name, max_bytes=100) as stream:
        assert stream.read() == text
    with pytest.raises(InputError, match=f"{name}: damaged"):
        read_all(tmp_path / name, "m")


def test_the_largest_file_is_read_whatever_its_checksum(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("readme", b"short")
        archive.writestr("vectors.txt", b"the right text")
    path.write_bytes(path.read_bytes().replace(b"right", b"wrong"))
    with open_largest(path, max_bytes=100) as stream:
        assert stream.read() == b"the wrong text"
    with pytest.raises(InputError, match=r"a\.zip: vectors\.txt: damaged: Bad CRC-32"):
        read_all(path, "vectors.txt")
    make_zip(path, {"folder/": b""})
    with pytest.raises(InputError, match=r"a\.zip: holds no files$"), open_largest(path, max_bytes=100):
        pass


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.9])
def test_a_truncated_archive_is_one_clear_line(tmp_path, kind, keep):
    path = MAKERS[kind](tmp_path / "a", {"m": NOISE, "n": NOISE})
    data = path.read_bytes()
    path.write_bytes(data[: keep if keep >= 1 else int(len(data) * keep)])
    with pytest.raises(InputError, match=r"a: .*damaged: ") as caught:
        read_all(path, "m", "n", max_bytes=10**6)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [b"", b"\xff\xfe"], ids=["none", "not UTF-8"])
def test_a_zip_whose_member_has_no_readable_name_is_damaged(tmp_path, name):
    path = make_zip(tmp_path / "a.zip", {"é": b"content"})
    data = path.read_bytes().replace("é".encode(), name or "é".encode())
    if not name:
        start = data.index(b"PK\x01\x02")  # in the directory, this turns the name's bytes into an extra field
        data = data[: start + 28] + struct.pack("<HH", 0, 2) + data[start + 32 :]
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged: "):
        read_members(path, lambda _: True, max_bytes=1000)


def test_an_encrypted_member_is_an_input_error(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"m": b"text"})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"m: damaged: .*encrypted"):
        read_all(path, "m")


def test_missing_files_are_input_errors(tmp_path):
    with pytest.raises(InputError, match=r"a\.zip: cannot be read: No such file"):
        read_all(tmp_path / "a.zip", "m")


@pytest.mark.parametrize("kind", MAKERS)
def test_a_bomb_ends_at_its_bound_in_little_memory(tmp_path, kind):
    path = MAKERS[kind](tmp_path / "bomb", {"m": bytes(3 * 10**7)})
    tracemalloc.start()
    with pytest.raises(InputError, match=r"bomb: m: .*bound of 100000 bytes"):
        read_all(path, "m", max_bytes=10**5)
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()


def test_a_zip_that_lies_about_a_size_does_not_pass(tmp_path):
    path = make_zip(tmp_path / "bomb.zip", {"m": bytes(10**7)})
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<I", 10**7), struct.pack("<I", 100)))
    with pytest.raises(InputError, match=r"bomb\.zip: m: "):
        read_all(path, "m")


@pytest.mark.parametrize("kind", PACKED)
def test_streams_are_told_apart_by_content_and_bounded(tmp_path, kind):
    path = tmp_path / "train.en"
    path.write_bytes(PACKED[kind](NUMBERS))
    with open_stream(path, max_bytes=len(NUMBERS)) as stream:
        assert stream.read() == NUMBERS
    with (
        open_stream(path, max_bytes=len(NUMBERS) - 1) as stream,
        pytest.raises(InputError, match=r"train\.en: .*bound of"),
    ):
        stream.read()


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
@pytest.mark.parametrize(
    "spoil",
    [lambda data: data[:-20], lambda data: data + b"?" + data[1:], lambda data: data + data[:2]],
    ids=["cut", "other", "begun"],
)
def test_a_damaged_stream_is_one_clear_line(tmp_path, kind, spoil):
    path = tmp_path / "train"
    path.write_bytes(spoil(PACKED[kind](NUMBERS)))
    with open_stream(path, max_bytes=10**6) as stream, pytest.raises(InputError, match=r"train: damaged: ."):
        stream.read()


@pytest.mark.parametrize("kind", MAKERS)
def test_the_wanted_members_are_read_and_nothing_is_unpacked(tmp_path, kind):
    members = {"./STS/b.txt": b"b", "STS/deep/a.txt": b"aa", "../c.txt": b"c", "STS/d.csv": bytes(2000)}
    path = MAKERS[kind](tmp_path / "archive", members)
    found = read_members(path, lambda name: name.suffix == ".txt", max_bytes=4)
    assert [(str(name), content) for name, content in found.items()] == [
        ("STS/b.txt", b"b"), ("STS/deep/a.txt", b"aa"), ("../c.txt", b"c")
    ]  # fmt: skip
    assert [p.name for p in tmp_path.rglob("*")] == ["archive"]
    with pytest.raises(InputError, match=r"archive: .*bound of"):
        read_members(path, lambda name: name.suffix == ".txt", max_bytes=3)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_no_members(tmp_path, kind):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    assert read_members(path, lambda _: True, max_bytes=1000) == {}
    with pytest.raises(InputError, match="has no member link"):
        read_all(path, "link")


def test_an_archive_in_an_archive_is_a_file(tmp_path):
    inner = make_zip(tmp_path / "inner.zip", {"bomb": bytes(10**7)}).read_bytes()
    path = make_zip(tmp_path / "outer.zip", {"inner.zip": inner})
    assert read_members(path, lambda _: True, max_bytes=10**5) == {PurePosixPath("inner.zip"): inner}


@pytest.mark.parametrize("style", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_has_long_names(tmp_path, style):
    name = "deep/" * 100 + "m"
    with tarfile.open(tmp_path / "a.tar", "w", format=style) as archive:
        info = tarfile.TarInfo(name)
        info.size = 4
        archive.addfile(info, io.BytesIO(b"text"))
    assert read_all(tmp_path / "a.tar", name) == [b"text"]
