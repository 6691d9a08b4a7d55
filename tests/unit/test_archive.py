"""Test that archives give the right streams, and that damaged ones are refused."""

import bz2
import gzip
import lzma
import random
import struct
import tarfile
import zipfile

import psutil
import pytest
from archives import make_tar, make_zip, read_all

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.compressed import open_stream
from paraphrastic_pipeline.registry.archive import member_names, open_largest, open_members, read_members


@pytest.mark.parametrize(
    "make",
    [make_zip, make_tar, lambda path, members: make_tar(path, members, "w:bz2")],
    ids=["zip", "gz", "bz2"],
)
def test_members_are_read_in_turns_in_the_order_asked(tmp_path, make):
    sides = {
        f"T.en-fr.{code}": b"".join(b"%s %d\n" % (code.encode(), i) for i in range(30000))
        for code in ("en", "fr")
    }
    path = make(tmp_path / "archive", sides)
    with open_members(path, ["T.en-fr.fr", ("T.fr-en.en", "T.en-fr.en")], max_bytes=10**6) as (
        french,
        english,
    ):
        for i, (first, second) in enumerate(zip(french, english, strict=True)):
            assert (first, second) == (b"fr %d\n" % i, b"en %d\n" % i)
    assert i == 29999
    assert str(path) not in {file.path for file in psutil.Process().open_files()}, "although streams are held"


@pytest.mark.parametrize(
    ("count", "held"),
    [(0, "no files"), (2, "m0, m1"), (10, "m0, .*, m8, m9"), (12, "m0, .*, m8, m9 and 2 more")],
)
def test_a_missing_member_lists_what_there_is(tmp_path, count, held):
    path = make_zip(tmp_path / "a.zip", {f"m{i}": b"x" for i in range(count)})
    with pytest.raises(InputError, match=rf"a\.zip: has no member p\.en or q\.en; it holds {held}$"):
        read_all(path, ("p.en", "q.en"))


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_truncated_zip_is_one_clear_line(tmp_path, keep):
    path = make_zip(tmp_path / "a.zip", {"m": bytes(range(256)) * 3})
    data = path.read_bytes()
    path.write_bytes(data[: keep if keep >= 1 else int(len(data) * keep)])
    with pytest.raises(InputError, match=r"a\.zip: damaged: File is not a zip file$"):
        read_all(path, "m")


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("vectors.txt", b"PK 0.5 0.5\n", b"PK 0.5 0.5\n"),
        ("vectors.txt", b"PK", b"PK"),
        ("vectors.zip", gzip.compress(b"a 0.5\n", mtime=0), b"a 0.5\n"),
    ],
)
def test_text_that_begins_or_is_called_like_a_zip_is_no_archive(tmp_path, name, content, text):
    (tmp_path / name).write_bytes(content)
    assert member_names(tmp_path / name) is None
    with open_largest(tmp_path / name, max_bytes=100) as stream:
        assert stream.read() == text


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_that_is_called_a_zip_is_a_tar(tmp_path, mode):
    path = make_tar(tmp_path / "a.zip", {"m": b"x"}, mode)
    assert member_names(path) == ["m"]
    assert read_all(path, "m") == [b"x"]


def test_an_empty_zip_has_no_largest_file(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"folder/": b""})
    with pytest.raises(InputError, match=r"a\.zip: holds no files$"), open_largest(path, max_bytes=100):
        pass


def test_a_tar_that_is_damaged_where_it_begins_is_no_other_file(tmp_path):
    path = make_tar(tmp_path / "a", {"m": b"x"})
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InputError, match=r"a: damaged: .*ended before"):
        member_names(path)


def test_changed_bytes_in_a_member_are_found_by_its_crc(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("m", b"the right text")
    path.write_bytes(path.read_bytes().replace(b"right", b"wrong"))
    with pytest.raises(InputError, match=r"a\.zip: m: damaged: Bad CRC-32"):
        read_all(path, "m")


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w"])
def test_a_truncated_tar_is_one_clear_line(tmp_path, mode):
    noise = random.Random(1).randbytes(50_000)
    path = make_tar(tmp_path / "a.tar", {"m": noise, "n": noise}, mode)
    path.write_bytes(path.read_bytes()[:40_000])
    with pytest.raises(InputError, match=r"a\.tar: .*damaged: ") as caught:
        read_all(path, "m", max_bytes=10**6)
    assert "\n" not in str(caught.value)


def test_a_web_page_is_no_archive(tmp_path):
    for name in ("a.zip", "a.tar.gz"):
        (tmp_path / name).write_text("<html>404</html>")
        with pytest.raises(InputError, match="damaged: ") as caught:
            read_all(tmp_path / name, "m")
        assert "\n" not in str(caught.value)


def test_missing_files_are_input_errors(tmp_path):
    for name in ("a.zip", "a.tar"):
        with pytest.raises(InputError, match="cannot be read: No such file"):
            read_all(tmp_path / name, "m")
    with (
        pytest.raises(InputError, match="cannot be read: No such file"),
        open_stream(tmp_path / "x", max_bytes=1),
    ):
        pass


def test_an_encrypted_member_is_an_input_error(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"m": b"text"})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"m: damaged: .*encrypted"):
        read_all(path, "m")


def test_a_member_over_the_bound_is_refused_before_it_is_read(tmp_path):
    path = make_zip(tmp_path / "bomb.zip", {"m": bytes(10**7)})
    with pytest.raises(InputError, match=r"bomb\.zip: m: 10000000 bytes, more than the bound of 1000"):
        read_all(path, "m")
    assert read_all(path, "m", max_bytes=10**7) == [bytes(10**7)]


def test_a_zip_that_lies_about_a_size_does_not_pass(tmp_path):
    path = make_zip(tmp_path / "bomb.zip", {"m": bytes(10**7)})
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<I", 10**7), struct.pack("<I", 100)))
    with pytest.raises(InputError, match=r"bomb\.zip: m: "):
        read_all(path, "m")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, bytes], ids=["gz", "bz2", "plain"])
def test_streams_are_told_apart_by_content_and_bounded(tmp_path, compress):
    path = tmp_path / "train.en"
    path.write_bytes(compress(b"line\n" * 2000))
    with open_stream(path, max_bytes=10_000) as stream:
        assert stream.readlines() == [b"line\n"] * 2000
    with (
        open_stream(path, max_bytes=9_999) as stream,
        pytest.raises(InputError, match=r"train\.en: grows past the bound of 9999 bytes"),
    ):
        stream.read()


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress], ids=["gz", "bz2"])
def test_a_truncated_stream_is_one_clear_line(tmp_path, compress):
    path = tmp_path / "train.gz"
    path.write_bytes(compress(b"".join(b"%d\n" % i for i in range(5000)))[:-20])
    with (
        open_stream(path, max_bytes=10**6) as stream,
        pytest.raises(InputError, match=r"train\.gz: damaged: .*ended before"),
    ):
        stream.read()


NUMBERS = b"".join(b"%d\n" % i for i in range(50_000))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_a_file_of_several_streams_is_read_whole(tmp_path, compress):
    parts = [NUMBERS[start : start + 90_000] for start in range(0, len(NUMBERS), 90_000)]
    path = tmp_path / "train"
    path.write_bytes(b"".join(compress(part) for part in [b"", *parts, b""]))
    with open_stream(path, max_bytes=10**6) as stream:
        assert stream.read() == NUMBERS


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
@pytest.mark.parametrize(
    "spoil",
    [lambda data: b"?" + data[1:], lambda data: b"no stream at all", lambda data: data[:2]],
    ids=["damaged", "other", "cut"],
)
def test_what_follows_a_stream_is_another_one_or_damage(tmp_path, compress, spoil):
    path = tmp_path / "train"
    path.write_bytes(compress(NUMBERS) + spoil(compress(NUMBERS)))
    with open_stream(path, max_bytes=10**6) as stream, pytest.raises(InputError, match=r"train: damaged: ."):
        stream.read()


@pytest.mark.parametrize("make", [make_zip, make_tar], ids=["zip", "tar"])
def test_the_wanted_members_are_read_in_the_order_of_the_archive(tmp_path, make):
    members = {"./STS/b.txt": b"b", "STS/deep/a.txt": b"aa", "../c.txt": b"c", "STS/d.csv": bytes(2000)}
    path = make(tmp_path / "archive", members)
    found = read_members(path, lambda name: name.suffix == ".txt", max_bytes=1000)
    assert [(str(name), content) for name, content in found.items()] == [
        ("STS/b.txt", b"b"), ("STS/deep/a.txt", b"aa"), ("../c.txt", b"c")
    ]  # fmt: skip
    assert [p.name for p in tmp_path.rglob("*")] == ["archive"]


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


def test_a_link_in_a_zip_is_no_member(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, mode in (("link", 0o120777), ("file", 0o100644), ("old", 0), ("folder/", 0)):
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, "/etc/passwd" if mode else "")
    assert member_names(path) == ["file", "old"]
    assert len(read_members(path, lambda _: True, max_bytes=1000)) == 2


def test_wanted_members_are_bounded_together(tmp_path):
    path = make_zip(tmp_path / "a.zip", {f"m{i}": bytes(900) for i in range(6)})
    with pytest.raises(InputError, match=r"a\.zip: 5400 bytes, more than the bound of 5000"):
        read_members(path, lambda _: True, max_bytes=5000)
    assert len(read_members(path, lambda _: True, max_bytes=5400)) == 6
