"""Test how a file comes from a server, however the server behaves."""

import gzip
import io
import json
import logging
import re
import time
import zipfile
from email.utils import formatdate
from hashlib import sha256
from pathlib import Path

import pytest
import requests
from web_server import DATA, DIGEST, OTHER, get, give, left, refused, remote, status, trickle

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.download import fetch
from paraphrastic_pipeline.registry.http import AddressError, _Session

LONGER = DATA + b"more"


def test_a_file_is_fetched_locked_and_not_fetched_again(server, place):
    file = remote(server.url("x.zip", give()), version="v1")
    assert get(file, place) == DIGEST
    assert place.read_bytes() == DATA
    assert left(place) == ["en-fr.txt", "en-fr.txt.lock"]
    assert json.loads((place.parent / "en-fr.txt.lock").read_text()) == {
        "sha256": DIGEST,
        "address": file.addresses[0],
        "version": "v1",
        "size": len(DATA),
    }
    assert get(file, place) == DIGEST
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "validator", [{"etag": '"v1"'}, {"etag": 'W/"v1"', "modified": formatdate(10**9, usegmt=True)}]
)
def test_an_early_close_is_resumed_where_it_broke_off(server, place, validator):
    naps = []
    url = server.url("x.zip", give(cut=1000, **validator), give(cut=5000, **validator), give(**validator))
    assert get(remote(url), place, naps) == DIGEST
    assert server.ranges == [None, "bytes=1000-", "bytes=5000-"]
    assert server.requests[1][1]["If-Range"] == validator.get("modified", '"v1"'), (
        "a weak tag promises no bytes"
    )
    assert naps == [1.0, 1.0], "an attempt that got further starts the count anew"
    assert left(place) == ["en-fr.txt", "en-fr.txt.lock"]


def test_a_part_left_by_an_interrupted_run_is_resumed(server, place):
    file = remote(server.url("x.zip", give(cut=1000), status(404), give()))
    message = refused(file, place)
    assert message.endswith(
        f"{file.addresses[0]}: HTTP 404 Not Found; or put the file by hand into resources/manual/en-fr.txt"
    )
    assert left(place) == ["en-fr.txt.part", "en-fr.txt.part.json"]
    assert get(file, place) == DIGEST
    assert server.ranges == [None, "bytes=1000-", "bytes=1000-"]


def test_a_part_that_only_missed_its_name_is_not_fetched_again(server, place):
    file = remote(server.url("x.zip", give(cut=1000), status(404)))
    refused(file, place)
    place.with_name("en-fr.txt.part").write_bytes(DATA)
    assert get(file, place) == DIGEST
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("replies", "expected", "ranges"),
    [
        ([give(cut=1000), give(OTHER, etag='"v2"')], OTHER, [1000]),
        # Servers that ignore If-Range, or give bytes from another place, an unknown one, or of another file.
        ([give(cut=1000), give(OTHER, etag='"v2"', check=False)], OTHER, [1000, None]),
        ([give(cut=1000), give(shift=-1), give()], DATA, [1000, None]),
        ([give(cut=1000), give(shift=1), give()], DATA, [1000, None]),
        ([give(cut=1000), status(206, ETag='"v1"'), give()], DATA, [1000, None]),
        ([give(cut=1000), give(LONGER), give(LONGER)], LONGER, [1000, None]),
        ([give(cut=1000), give(DATA[:500], check=False)], DATA[:500], [1000, None]),
        # Nothing to continue, or nothing that tells the file from others.
        ([give(cut=0), give()], DATA, [None]),
        ([give(cut=1000, etag=None), give(etag=None)], DATA, [None]),
        # A server without ranges sends the whole file.
        ([give(cut=1000, ranges=False), give(ranges=False)], DATA, [1000]),
    ],
)
def test_two_files_are_never_glued(server, place, replies, expected, ranges):
    assert get(remote(server.url("x.zip", *replies)), place) == sha256(expected).hexdigest()
    assert place.read_bytes() == expected
    assert server.ranges == [None, *(start and f"bytes={start}-" for start in ranges)]


def test_a_part_from_another_address_is_not_continued(server, place):
    first = server.url("a.zip", give(cut=1000), status(404))
    second = server.url("b.zip", give(OTHER))
    get(remote(first, second), place)
    assert place.read_bytes() == OTHER
    assert server.ranges[-1] is None


def zipped(data=DATA):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("c.en-fr.en", data)
    return archive.getvalue()


GZ, ZIP = gzip.compress(DATA, mtime=0), zipped()


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("x.gz", GZ, give(GZ[:200], length="none")),  # the server gives no length and closes early
        ("x.gz", GZ, give(GZ[:200])),  # the length is that of the cut file
        ("x.gz", GZ, give(OTHER)),
        ("x.zip", ZIP, give(ZIP[:-200], length="none")),
        ("x.zip", ZIP, give(OTHER)),
        ("x.zip", ZIP, give(ZIP[:1000] + b"?" + ZIP[1001:])),
        ("x.txt", DATA, give(b"")),
        ("x.txt", DATA, give(b"", length="none")),
    ],
)
def test_a_bad_first_download_is_not_locked(server, place, name, good, bad):
    place = place.with_name(name)
    address = server.url(name, bad)
    message = refused(remote(address, name=name), place, attempts=2)
    assert re.search(rf"{address}: (.*damaged: .+|the file is empty) \(2 attempts\)", message), message
    assert left(place) == []
    assert server.ranges == [None, None]
    server.url(name, bad, give(good))
    assert get(remote(address, name=name), place) == sha256(good).hexdigest()
    place.unlink()
    place.with_name(f"{name}.lock").unlink()
    server.url(name, bad)
    file = remote(address, server.url("other", give(good)), name=name)
    assert get(file, place, attempts=1) == sha256(good).hexdigest()


def test_a_damaged_file_that_is_not_fetched_by_web_is_refused_at_once(place):
    place = place.with_name("x.gz")
    Path("x.gz").write_bytes(GZ[:200])
    message = refused(remote("file:x.gz", name="x.gz"), place)
    assert message.startswith(f"{place}: could not be fetched: file:x.gz: damaged: Compressed file ended ")
    assert "attempts" not in message
    assert left(place) == []
    Path("resources/manual").mkdir()
    Path("x.gz").rename("resources/manual/x.gz")
    message = refused(remote("http://host/x.gz", name="x.gz"), place)
    assert message.startswith("resources/manual/x.gz: damaged: Compressed file ended ")


def test_a_file_with_a_digest_is_what_its_digest_says(server, place):
    file = remote(server.url("x.gz", give(OTHER)), name="x.gz", sha256=sha256(OTHER).hexdigest())
    assert get(file, place.with_name("x.gz")) == file.sha256


def test_a_damaged_part_is_fetched_again_from_its_beginning(server, place):
    file = remote(server.url("x.zip", give(cut=1000), status(404), give()), sha256=DIGEST)
    refused(file, place)
    place.with_name("en-fr.txt.part").write_bytes(bytes(1000))
    assert get(file, place) == DIGEST
    assert server.ranges[2:] == ["bytes=1000-", None]


def test_a_wrong_length_ends_after_the_attempts(server, place):
    url = server.url("x.zip", give(length=len(DATA) + 10, ranges=False))
    message = refused(remote(url), place, attempts=3)
    assert f"the connection closed after {len(DATA)} of {len(DATA) + 10} bytes (3 attempts)" in message
    assert not place.exists()


def test_no_length_at_all_is_allowed_and_checked(server, place):
    file = remote(server.url("x.zip", give(cut=1000, length="none"), give(length="none")), size=len(DATA))
    assert "has 1000 bytes, the registry says 307200" in refused(file, place)
    assert get(file, place) == DIGEST


def test_errors_that_may_pass_are_asked_again_with_doubling_pauses(server, place):
    naps = []
    passing = [status(code) for code in (500, 408, 425, 429)]
    assert get(remote(server.url("x.zip", *passing, give())), place, naps) == DIGEST
    assert naps == [1, 2, 4, 8]


def test_a_busy_server_says_how_long_to_wait_within_bounds(server, place):
    naps = []
    asked = ["7", "100000", "soon", formatdate(time.time() + 100, usegmt=True)]
    url = server.url("x.zip", *(status(503, Retry_After=text) for text in asked), give())
    assert get(remote(url), place, naps) == DIGEST
    assert naps[:3] == [7, 300, 4]
    assert 80 < naps[3] <= 100
    vague = remote(server.url("y.zip", status(503, Retry_After="soon")), version="2")
    assert "HTTP 503 Service Unavailable (2 attempts)" in refused(vague, place, attempts=2)


def test_a_server_that_is_down_is_given_up_after_the_attempts(server, place):
    naps = []
    server.url("x.zip", status(500))
    message = refused(remote(server.url("x.zip", status(500))), place, naps=naps, attempts=3)
    assert "HTTP 500 Internal Server Error (3 attempts)" in message
    assert len(server.requests) == 3
    assert naps == [1.0, 2.0]


def test_a_refused_connection_is_named(server, place):
    server.shutdown()
    server.server_close()
    assert "Connection refused (2 attempts)" in refused(
        remote(server.url("x", status(200))), place, attempts=2
    )


def test_a_stall_ends_at_the_timeout_and_is_resumed(server, place):
    url = server.url("x.zip", give(cut=1000, stall=True), give())
    begun = time.monotonic()
    assert fetch(remote(url), place, timeout=0.3, sleep=lambda _: None) == DIGEST
    assert time.monotonic() - begun < 5
    assert server.ranges == [None, "bytes=1000-"]


HEAD = b'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nETag: "v1"\r\n'


@pytest.mark.parametrize(
    "before",
    [
        HEAD + b"\r\n",
        HEAD + b"X-Line: ",
        b"HTTP/1.1 200 ",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
    ],
    ids=["content", "header", "status", "chunk"],
)
def test_a_trickle_is_a_stall(server, place, before):
    url = server.url("x.txt", trickle(before))
    begun = time.monotonic()
    with pytest.raises(InputError, match=r"too slow: \d+ bytes in 0\.2 seconds \(3 attempts\)"):
        fetch(remote(url), place, attempts=3, timeout=0.2, sleep=lambda _: None)
    assert time.monotonic() - begun < 5


def test_a_server_that_only_asks_for_patience_is_a_stall(server, place):
    def patience(handler):
        while not handler.server.released.wait(0.01):
            try:
                handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
            except OSError:
                return

    url = server.url("x.txt", patience)
    with pytest.raises(InputError, match="too slow: "):
        fetch(remote(url), place, attempts=1, timeout=0.2, sleep=lambda _: None)


def test_a_trickle_is_resumed(server, place):
    def slowly(handler):
        handler.wfile.write(HEAD.replace(b"100000", str(len(DATA)).encode()) + b"\r\n" + DATA[:5000])
        for byte in DATA[5000:5100]:
            if handler.server.released.wait(0.02):
                return
            try:
                handler.wfile.write(bytes([byte]))
            except OSError:
                return

    url = server.url("x.txt", slowly, give())
    assert fetch(remote(url), place, timeout=0.3, sleep=lambda _: None) == DIGEST
    assert server.ranges[0] is None
    assert 5000 < int(server.ranges[1].removeprefix("bytes=").removesuffix("-")) < 5100


def test_a_server_that_gives_a_few_bytes_an_answer_is_given_up(server, place):
    url = server.url("x.txt", *(give(cut=cut) for cut in range(2000, 2100, 10)), give())
    assert "(3 attempts)" in refused(remote(url), place, attempts=3)
    assert server.ranges == [None, "bytes=2000-", "bytes=2010-"]


def test_a_thousand_new_bytes_start_the_count_of_attempts_anew(server, place):
    naps = []
    url = server.url("x.txt", *(give(cut=cut) for cut in range(1000, 6000, 1000)), give())
    assert get(remote(url), place, naps, attempts=2) == DIGEST
    assert naps == [1] * 5


def test_a_server_that_changes_its_file_again_and_again_is_given_up(server, place):
    url = server.url("x.txt", *[give(cut=3000), give(OTHER, cut=500, etag='"v2"')] * 5, give())
    assert "(3 attempts)" in refused(remote(url), place, attempts=3)


def test_a_slow_transfer_that_gets_on_is_no_stall(server, place):
    def slowly(handler):
        handler.wfile.write(HEAD.replace(b"100000", b"20000") + b"\r\n")
        for start in range(0, 20000, 1000):
            handler.wfile.write(DATA[start : start + 1000])
            time.sleep(0.05)

    url = server.url("x.txt", slowly)
    assert fetch(remote(url), place, timeout=0.4, attempts=1) == sha256(DATA[:20000]).hexdigest()


def test_redirects_are_followed_to_the_web_only(server, place):
    target = server.url("target.zip", give())
    assert get(remote(server.url("a.zip", status(302, Location=target))), place) == DIGEST
    for bad in ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x/y"):
        moved = remote(server.url("b.zip", status(301, Location=bad)), version="2")
        cause = f"HTTP 301 Moved Permanently: redirection from http to {bad!r} is not allowed"
        assert cause in refused(moved, place)


def test_a_redirect_does_not_leave_https():
    def redirected(address, target):
        response = requests.Response()
        response.url, response.status_code, response.reason = address, 302, "Found"
        response.headers["Location"] = target
        return _Session(address).get_redirect_target(response)

    with pytest.raises(AddressError) as caught:
        redirected("https://host/x", "http://host/x")
    cause = "HTTP 302 Found: redirection from https to 'http://host/x' is not allowed"
    assert str(caught.value) == cause
    for address, target in (("https://a/x", "https://b/x"), ("http://a/x", "https://a/x")):
        assert redirected(address, target) == target


def test_a_redirect_loop_ends(server, place):
    url = server.url("x.zip", status(302, Location="/x.zip"))
    assert "not a usable address: Exceeded 30 redirects" in refused(remote(url), place)


def test_what_a_server_says_cannot_order_a_terminal_about(server, place, caplog):
    def say(text):
        return lambda handler: handler.wfile.write(text)

    garbage = server.url("a", say(b"\x1b[2J nonsense\r\n\r\n"))
    reason = server.url("b", say(b"HTTP/1.1 404 \x1b]0;title\x07\r\nContent-Length: 0\r\n\r\n"))
    target = server.url("c", say(b"HTTP/1.1 302 Found\r\nLocation: x:\x1b[2J\r\nContent-Length: 0\r\n\r\n"))
    with caplog.at_level(logging.INFO):
        message = refused(remote(garbage, reason, target), place, attempts=2)
    assert f"{garbage}: \\x1b[2J nonsense (2 attempts); {reason}: HTTP 404 \\x1b]0;title\\x07; " in message
    assert all(record.getMessage().isprintable() for record in caplog.records)


def test_a_web_page_is_not_taken_for_the_file(server, place):
    page = server.url("x.zip", give(b"<html>quota exceeded</html>", kind="text/html; charset=utf-8"))
    assert "answered with a web page instead of the file" in refused(remote(page), place)


def test_wrong_bytes_are_refused_and_the_next_address_is_tried(server, place):
    bad, good = server.url("bad.zip", give(OTHER)), server.url("good.zip", give())
    assert get(remote(bad, good, sha256=DIGEST), place) == DIGEST
    place.unlink()
    message = refused(remote(bad, sha256=DIGEST), place)
    assert f"{bad}: its sha256 is {sha256(OTHER).hexdigest()}, the registry says {DIGEST}" in message
    assert left(place) == ["en-fr.txt.lock"]


@pytest.mark.parametrize("size", [5, 10**13])
def test_a_wrong_size_is_refused_before_the_file_is_read(server, place, size):
    url = server.url("x.zip", give(cut=10, length=10**12))
    assert f"has 1000000000000 bytes, the registry says {size}" in refused(remote(url, size=size), place)
    assert len(server.requests) == 1
