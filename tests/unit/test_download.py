"""Test how a file comes to its place: from servers that misbehave, mirrors, and files put by hand."""

import resource
from dataclasses import replace
from email.utils import formatdate
from hashlib import sha256
from pathlib import Path

import pytest
from web_server import DATA, DIGEST, OTHER, get, give, left, refused, remote, status

CUT, SECOND = give(cut=1000), give(OTHER, etag='"v2"', check=False)
DATED = {"etag": None, "modified": formatdate(10**9, usegmt=True)}


@pytest.mark.parametrize(
    ("replies", "expected", "ranges"),
    [
        ([CUT, give(cut=5000), give()], DATA, [1000, 5000]),
        ([give(cut=1000, **DATED), give(**DATED)], DATA, [1000]),
        ([give(cut=1000, stall=True), give()], DATA, [1000]),
        ([CUT, status(503), give()], DATA, [1000, 1000]),
        ([CUT, give(OTHER, etag='"v2"')], OTHER, [1000]),
        # Servers that ignore If-Range, or give bytes from another place, an unknown one, or of another file.
        ([CUT, SECOND], OTHER, [1000, None]),
        ([CUT, give(shift=1), give()], DATA, [1000, None]),
        ([CUT, status(206, ETag='"v1"'), give()], DATA, [1000, None]),
        ([CUT, give(DATA[:500], check=False)], DATA[:500], [1000, None]),
        # Nothing to continue, or nothing that tells the file from others.
        ([give(cut=0), give()], DATA, [None]),
        ([give(cut=1000, etag=None), give(etag=None)], DATA, [None]),
        # A server without ranges sends the whole file.
        ([give(cut=1000, ranges=False), give(ranges=False)], DATA, [1000]),
    ],
)
def test_a_download_goes_on_where_it_broke_off_and_never_glues_two_files(
    server, place, replies, expected, ranges
):
    found = get(remote(server.url("x.zip", *replies)), place, timeout=0.5)
    assert found == sha256(expected).hexdigest()
    assert server.ranges == [None, *(start and f"bytes={start}-" for start in ranges)]
    assert left(place) == ["en-fr.txt"]


def test_the_next_run_goes_on_and_another_address_begins_anew(server, place):
    file = remote(server.url("x.zip", give(cut=1000), status(404), give()))
    message = refused(replace(file, dataset="tatoeba_pairs"), place)
    assert f"{file.addresses[0]}: HTTP 404 Not Found" in message
    # There is another source, and the file can be put by hand.
    assert "tatoeba_opus" in message
    assert message.endswith("resources/manual/tatoeba_pairs/en-fr.txt")
    assert get(file, place) == DIGEST
    first = server.url("a.zip", give(cut=1000), status(404))
    get(remote(first, server.url("b.zip", give(OTHER))), place)
    assert place.read_bytes() == OTHER
    assert server.ranges == [None, "bytes=1000-", "bytes=1000-", None, "bytes=1000-", None]


@pytest.mark.parametrize("code", [408, 429, 503])
def test_errors_that_may_pass_are_asked_again(server, place, code):
    assert get(remote(server.url("x.zip", status(code), status(code), give())), place) == DIGEST
    _, headers = server.requests[0]
    assert headers["User-Agent"].startswith("Mozilla/5.0 (compatible; paraphrastic/")
    assert f"HTTP {code} " in refused(remote(server.url("y.zip", status(code))), place, attempts=2)
    assert len(server.requests) == 5


@pytest.mark.parametrize(
    ("reply", "cause", "asked"),
    [
        (status(404), "HTTP 404 Not Found", 1),
        (give(b"<html>quota exceeded</html>", kind="text/html; charset=utf-8"), "web page", 1),
        (give(b""), "empty", 1),
        (give(length=len(DATA) + 10, ranges=False), "307200 bytes read, 10 more expected", 2),
        (lambda handler: handler.server.released.wait(20), "timed out", 2),
        (status(302, Location="file:///etc/passwd"), "file:///etc/passwd", 1),
        (status(302, Location="/x.zip"), "30 redirects", 31),
        (lambda handler: handler.wfile.write(b"\x1b[2J nonsense\r\n\r\n"), "\\x1b[2J nonsense", 2),
    ],
)
def test_what_is_not_the_file_is_one_line_with_its_address(server, place, reply, cause, asked):
    url = server.url("x.zip", reply)
    message = refused(remote(url), place, attempts=2, timeout=0.2)
    assert message.startswith(f"{place}: ")
    assert f"{url}: " in message
    assert cause in message
    assert message.isprintable()
    assert not place.exists()
    assert len(server.requests) == asked


def test_wrong_bytes_are_refused_and_the_next_address_is_tried(server, place):
    bad, good = server.url("bad.zip", give(OTHER)), server.url("good.zip", give())
    assert get(remote(bad, good, sha256=DIGEST), place) == DIGEST
    place.unlink()
    message = refused(remote(bad, sha256=DIGEST), place)
    assert f"{bad}: its sha256 is {sha256(OTHER).hexdigest()}, the registry says {DIGEST}" in message
    assert "has 307200 bytes, the registry says 5" in refused(remote(good, size=5), place)
    assert not place.exists()


def test_a_file_address_is_read_from_the_working_folder(server, place):
    Path("data").mkdir()
    Path("data/x y.zip").write_bytes(DATA)
    assert get(remote("file:data/x%20y.zip"), place) == DIGEST
    assert get(remote(f"file://{Path('data/x y.zip').resolve()}"), place) == DIGEST
    assert "file:data: Is a directory; http" in refused(remote("file:data", server.url("gone")), place)


def test_a_mirror_is_read_by_host_and_path(server, tmp_path, place):
    there = tmp_path / "mirror" / "www.cs.cmu.edu" / "~a" / "STS.zip"
    there.parent.mkdir(parents=True)
    there.write_bytes(DATA)
    file = remote("https://www.cs.cmu.edu/%7Ea/STS.zip")
    assert get(file, place, mirror="mirror") == DIGEST
    there.unlink()
    assert "(read from mirror/www.cs.cmu.edu/~a/STS.zip): " in refused(file, place, mirror="mirror")
    for bad in ("nowhere", "http://[::1"):
        assert refused(file, place, mirror=bad).startswith("mirror: ")
    path = "www.cs.cmu.edu/~a/STS.zip?id=1"
    root = server.url(path, give()).removesuffix(f"/{path}")
    assert get(remote(f"https://{path}"), place, mirror=f"{root}/") == DIGEST


def test_a_file_put_by_hand_is_used_instead(server, place):
    by_hand = Path("resources/manual/tanzil/en-fr.txt")
    by_hand.parent.mkdir(parents=True)
    by_hand.write_bytes(DATA)
    url = server.url("x.zip", give(OTHER))
    assert get(remote(url), place) == DIGEST
    assert f"{by_hand}: its sha256 is {DIGEST}" in refused(remote(url, sha256="0" * 64), place)
    assert not server.requests


def test_a_disk_that_takes_no_more_is_one_clear_line_and_the_part_is_kept(server, place):
    file = remote(server.url("x.zip", give()), server.url("y.zip", give()))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        message = refused(file, place)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert message == f"{place}.part: cannot be written: File too large"
    assert get(file, place) == DIGEST
    assert server.ranges == [None, "bytes=100000-"]
