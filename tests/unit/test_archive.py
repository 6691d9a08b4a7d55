"""Test that archives give the right streams, and that damaged and hostile ones are refused."""

import gzip
import random
import struct
import tarfile
import tracemalloc
import zipfile

import pytest
from archives import make_tar, make_zip, read_all

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.archive import files_in, open_stream

MAKERS = {
    "zip": make_zip,
    "tar": lambda path, members: make_tar(path, members, "w"),
    "gz": make_tar,
    "bz2": lambda path, members: make_tar(path, members, "w:bz2"),
    "xz": lambda path, members: make_tar(path, members, "w:xz"),
}
NOISE = random.Random(1).randbytes(50_000)


def contents(path, max_bytes=1000):
    return [(name, stream.read()) for name, stream in files_in(path, max_bytes=max_bytes)]


@pytest.mark.parametrize("kind", MAKERS)
def test_members_are_read_in_turns_in_the_order_asked(tmp_path, kind):
    sides = {"T.en-fr.en": NOISE, "T.en-fr.fr": NOISE[::-1]}
    path = MAKERS[kind](tmp_path / "archive", sides)
    french, english = read_all(path, "T.en-fr.fr", ("T.fr-en.en", "T.en-fr.en"), max_bytes=10**6)
    assert (french, english) == (sides["T.en-fr.fr"], sides["T.en-fr.en"])
    with pytest.raises(InputError, match=r"archive: has no member p or q; it holds T.en-fr.en, T.en-fr.fr$"):
        read_all(path, ("p", "q"))


@pytest.mark.parametrize("kind", MAKERS)
def test_all_files_have_one_bound_and_nothing_is_unpacked(tmp_path, kind):
    members = {"./STS/b.txt": b"b", "STS/deep/a.txt": b"aa", "../c.txt": b"c"}
    path = MAKERS[kind](tmp_path / "archive", members)
    assert contents(path, max_bytes=4) == list(members.items())
    with pytest.raises(InputError, match=r"archive: \.\./c\.txt: .*bound of"):
        contents(path, max_bytes=3)
    # What is not read does not count.
    assert [name for name, _ in files_in(path, max_bytes=0)] == list(members)
    assert [p.name for p in tmp_path.rglob("*")] == ["archive"]


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("keep", [0, 0.5, 0.9])
def test_a_truncated_archive_is_one_clear_line(tmp_path, kind, keep):
    path = MAKERS[kind](tmp_path / "a", {"m": NOISE, "n": NOISE})
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(InputError, match=r"a: .*damaged: .") as caught:
        read_all(path, "m", "n", max_bytes=10**6)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_bomb_ends_at_its_bound_in_little_memory(tmp_path, kind):
    path = MAKERS[kind](tmp_path / "bomb", {"m": bytes(3 * 10**7)})
    tracemalloc.start()
    with pytest.raises(InputError, match=r"bomb: m: .*bound of 100000 bytes"):
        read_all(path, "m", max_bytes=10**5)
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()


def test_a_zip_that_lies_about_a_size_or_is_gone_is_one_line(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"é": bytes(5000)})
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 5000), struct.pack("<I", 100)))
    with pytest.raises(InputError, match=r"a\.zip: é: damaged: Bad CRC"):
        contents(path)
    path.unlink()
    with pytest.raises(InputError, match=r"a\.zip: cannot be read: No such file"):
        contents(path)


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
    with open_stream(tmp_path / name, max_bytes=len(text), in_zip=True) as stream:
        assert stream.read() == text
    bound = pytest.raises(InputError, match=f"{name}: .*bound of")
    if text:
        with open_stream(tmp_path / name, max_bytes=len(text) - 1, in_zip=True) as stream, bound:
            stream.read()
    with pytest.raises(InputError, match=f"{name}: damaged"):
        contents(tmp_path / name)


def test_the_largest_file_is_read_whatever_its_checksum(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("readme", b"short")
        archive.writestr("vectors.txt", b"the right text")
    path.write_bytes(path.read_bytes().replace(b"right", b"wrong"))
    with open_stream(path, max_bytes=100, in_zip=True) as stream:
        assert stream.read() == b"the wrong text"
    with pytest.raises(InputError, match=r"a\.zip: vectors\.txt: damaged: Bad CRC-32"):
        read_all(path, "vectors.txt")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_no_members(tmp_path, kind):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    assert contents(tmp_path / "a.tar") == []
