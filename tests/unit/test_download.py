"""Test downloads against a local server that misbehaves on request."""

import errno
import fcntl
import gzip
import io
import json
import logging
import multiprocessing
import os
import re
import resource
import threading
import time
import zipfile
from email.utils import formatdate
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import FileIO
from pathlib import Path

import pytest
import requests

from paraphrastic.base.errors import InputError
from paraphrastic.registry.datasets import RemoteFile
from paraphrastic.registry.download import fetch
from paraphrastic.registry.http import Part, RefusedError, _Session

DATA = bytes(range(256)) * 1200
OTHER = bytes(reversed(DATA))
DIGEST = sha256(DATA).hexdigest()


class Server(ThreadingHTTPServer):
    """A server that sends its scripted replies to each path one by one and then repeats the last one."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = {}
        self.requests = []
        self.released = threading.Event()

    def url(self, path, *replies):
        self.replies[f"/{path}"] = list(replies)
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"

    @property
    def ranges(self):
        return [headers.get("Range") for _, headers in self.requests]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers)))
        replies = self.server.replies.get(self.path, [status(404)])
        (replies.pop(0) if len(replies) > 1 else replies[0])(self)
        self.close_connection = True

    def log_message(self, *_):
        pass


def status(code, **headers):
    def reply(handler):
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return reply


def give(
    data=DATA,
    *,
    cut=None,
    etag='"v1"',
    modified=None,
    ranges=True,
    check=True,
    length=None,
    stall=False,
    kind=None,
):
    """Reply with the file and handle Range and If-Range correctly, except for what the arguments spoil."""

    def reply(handler):
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start = int(wanted[1]) if wanted and ranges else 0
        if check and handler.headers.get("If-Range") not in (None, etag, modified):
            start = 0
        if wanted and start >= len(data):
            return status(416, Content_Range=f"bytes */{len(data)}")(handler)
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        for name, value in (("ETag", etag), ("Last-Modified", modified), ("Content-Type", kind)):
            if value:
                handler.send_header(name, value)
        if length != "none":
            handler.send_header("Content-Length", str(length or len(data) - start))
        handler.end_headers()
        handler.wfile.write(data[start:cut])
        handler.wfile.flush()
        if stall:
            handler.server.released.wait(20)
        return None

    return reply


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "resources" / "tanzil" / "en-fr.txt"


def remote(*addresses, name="en-fr.txt", **fields):
    return RemoteFile(dataset="tanzil", name=name, languages=("en", "fr"), addresses=addresses, **fields)


def get(file, place, naps=None, **options):
    return fetch(file, place, sleep=(naps if naps is not None else []).append, timeout=5.0, **options)


def refused(file, place, **options):
    with pytest.raises(InputError) as caught:
        get(file, place, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def left(place):
    return sorted(path.name for path in place.parent.iterdir())


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


def test_two_versions_are_never_glued(server, place):
    url = server.url("x.zip", give(cut=1000), give(OTHER, etag='"v2"'))
    assert get(remote(url), place) == sha256(OTHER).hexdigest()
    assert place.read_bytes() == OTHER
    assert server.ranges == [None, "bytes=1000-"]


def test_two_versions_are_never_glued_by_a_server_that_ignores_if_range(server, place):
    spoilt = give(OTHER, etag='"v2"', check=False)
    url = server.url("x.zip", give(cut=1000), spoilt)
    get(remote(url), place)
    assert place.read_bytes() == OTHER
    assert server.ranges == [None, "bytes=1000-", None]


def test_a_part_from_another_address_is_not_continued(server, place):
    first = server.url("a.zip", give(cut=1000), status(404))
    second = server.url("b.zip", give(OTHER))
    get(remote(first, second), place)
    assert place.read_bytes() == OTHER
    assert server.ranges[-1] is None


def test_a_part_without_a_validator_is_fetched_from_its_beginning(server, place):
    url = server.url("x.zip", give(cut=1000, etag=None), give(etag=None))
    assert get(remote(url), place) == DIGEST
    assert server.ranges == [None, None]


def test_a_server_without_ranges_restarts_cleanly(server, place):
    url = server.url("x.zip", give(cut=1000, ranges=False), give(ranges=False))
    assert get(remote(url), place) == DIGEST
    assert place.read_bytes() == DATA


def test_a_part_longer_than_the_file_is_dropped(server, place):
    url = server.url("x.zip", give(cut=1000), give(DATA[:500], check=False), give(DATA[:500], check=False))
    get(remote(url), place)
    assert place.read_bytes() == DATA[:500]


def zipped(data=DATA):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("c.en-fr.en", data)
    return archive.getvalue()


GZ, ZIP = gzip.compress(DATA), zipped()


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
    url = server.url("x.zip", status(500), status(429), status(503), give())
    assert get(remote(url), place, naps) == DIGEST
    assert naps == [1, 2, 4]


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


def trickle(before):
    """Send `before` at once, and then one byte every 10 ms until nobody listens any more."""

    def reply(handler):
        handler.wfile.write(before)
        while not handler.server.released.wait(0.01):
            try:
                handler.wfile.write(b"a")
            except OSError:
                return

    return reply


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


def test_a_slow_transfer_that_gets_on_is_no_stall(server, place):
    def slowly(handler):
        handler.wfile.write(HEAD.replace(b"100000", b"20000") + b"\r\n")
        for start in range(0, 20000, 1000):
            handler.wfile.write(DATA[start : start + 1000])
            time.sleep(0.05)

    url = server.url("x.txt", slowly)
    assert fetch(remote(url), place, timeout=0.4, attempts=1) == sha256(DATA[:20000]).hexdigest()


def test_the_next_address_is_tried_and_all_causes_are_listed(server, place):
    bad, good = server.url("bad.zip", status(404)), server.url("good.zip", give())
    assert get(remote(bad, good), place) == DIGEST
    assert len(server.requests) == 2
    place.unlink()
    gone = server.url("gone.zip", status(410))
    message = refused(remote(bad, gone), place)
    assert message == (
        f"{place}: could not be fetched: {bad}: HTTP 404 Not Found; {gone}: HTTP 410 Gone"
        "; or put the file by hand into resources/manual/en-fr.txt"
    )


def test_redirects_are_followed_to_the_web_only(server, place):
    target = server.url("target.zip", give())
    assert get(remote(server.url("a.zip", status(302, Location=target))), place) == DIGEST
    for bad in ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x/y"):
        moved = remote(server.url("b.zip", status(301, Location=bad)), version="2")
        assert f"Redirection to url {bad!r} is not allowed" in refused(moved, place)


def test_a_redirect_does_not_leave_https():
    def redirected(address, target):
        response = requests.Response()
        response.url, response.status_code, response.reason = address, 302, "Found"
        response.headers["Location"] = target
        return _Session().get_redirect_target(response)

    with pytest.raises(RefusedError) as caught:
        redirected("https://host/x", "http://host/x")
    cause = "HTTP 302 Found - Redirection from https to 'http://host/x' is not allowed"
    assert str(caught.value) == cause
    for address, target in (("https://a/x", "https://b/x"), ("http://a/x", "https://a/x")):
        assert redirected(address, target) == target


def test_a_redirect_loop_ends(server, place):
    url = server.url("x.zip", status(302, Location="/x.zip"))
    assert "HTTP 302: redirects without end" in refused(remote(url), place)


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


def test_a_wrong_size_is_refused_before_the_file_is_read(server, place):
    url = server.url("x.zip", give(cut=10, length=10**12))
    assert "has 1000000000000 bytes, the registry says 5" in refused(remote(url, size=5), place)
    assert len(server.requests) == 1


def test_a_damaged_file_is_said_and_fetched_again(server, place, caplog):
    file = remote(server.url("x.zip", give()))
    get(file, place)
    place.write_bytes(DATA[:100])
    with caplog.at_level(logging.WARNING):
        assert get(file, place) == DIGEST
    assert f"{place}: damaged" in caplog.text
    assert place.read_bytes() == DATA


def test_a_file_without_a_lock_is_not_trusted(server, place):
    place.parent.mkdir(parents=True)
    place.write_bytes(b"from somewhere")
    assert get(remote(server.url("x.zip", give())), place) == DIGEST


def test_a_lock_that_disagrees_names_both_digests_and_the_way_out(server, place):
    file = remote(server.url("x.zip", give(), give(OTHER)))
    get(file, place)
    place.unlink()
    lock = place.with_name("en-fr.txt.lock")
    message = refused(file, place)
    assert f"its sha256 is {sha256(OTHER).hexdigest()}, the first download had {DIGEST}" in message
    assert f"delete {lock} to accept the new file" in message
    lock.unlink()
    assert get(file, place) == sha256(OTHER).hexdigest()


def test_another_version_in_the_registry_replaces_file_and_lock(server, place):
    url = server.url("x.zip", give(), give(OTHER))
    get(remote(url, version="v1"), place)
    assert get(remote(url, version="v2"), place) == sha256(OTHER).hexdigest()


@pytest.mark.parametrize("text", ["{", "[]", '{"sha256": 3}'])
def test_a_damaged_lock_is_one_clear_line(server, place, text):
    place.parent.mkdir(parents=True)
    place.with_name("en-fr.txt.lock").write_text(text)
    assert "en-fr.txt.lock: " in refused(remote(server.url("x.zip", give())), place)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/x",
        "s3://bucket/x",
        "data/x.zip",
        "https:///x",
        "file://host/x",
        "http://[::1/x",
        "http://a:x/y",
    ],
)
def test_other_addresses_are_refused_by_name(place, address):
    assert refused(remote(address), place).startswith(f"{address}: ")


def test_a_file_address_is_read_from_the_working_folder(place):
    Path("data").mkdir()
    Path("data/x y.zip").write_bytes(DATA)
    assert get(remote("file:data/x%20y.zip"), place) == DIGEST
    assert get(remote(f"file://{Path('data/x y.zip').resolve()}", version="2"), place) == DIGEST
    message = refused(remote("file:data/none.zip", version="3"), place)
    assert message == f"{place}: could not be fetched: file:data/none.zip: no such file"
    assert "not a file" in refused(remote("file:data", version="3"), place)


def test_a_mirror_folder_is_read_by_host_and_path(tmp_path, place):
    there = tmp_path / "mirror" / "www.cs.cmu.edu" / "~a" / "STS.zip"
    there.parent.mkdir(parents=True)
    there.write_bytes(DATA)
    file = remote("https://www.cs.cmu.edu/~a/STS.zip")
    assert get(file, place, mirror="mirror") == DIGEST
    there.unlink()
    place.unlink()
    assert "(read from mirror/www.cs.cmu.edu/~a/STS.zip): no such file" in refused(
        file, place, mirror="mirror"
    )
    for bad in ("nowhere", "ftp://host"):
        message = refused(file, place, mirror=bad)
        assert message == f"mirror: {bad!r} is neither a folder nor an http(s) address"
    message = refused(file, place, mirror="http://[::1")
    assert message == "mirror: 'http://[::1': not a usable address: Invalid IPv6 URL"


def test_a_mirror_server_is_read_by_host_and_path(server, place):
    root = server.url("www.cs.cmu.edu/~a/STS.zip?id=1", give()).removesuffix(
        "/www.cs.cmu.edu/~a/STS.zip?id=1"
    )
    assert get(remote("https://www.cs.cmu.edu/~a/STS.zip?id=1"), place, mirror=root + "/") == DIGEST
    assert f"(read from {root}/host/x): HTTP 404" in refused(
        remote("https://host/x", version="2"), place, mirror=root
    )


def test_a_part_is_not_continued_after_a_copy_was_interrupted(server, place):
    file = remote(server.url("x.zip", give(cut=1000), status(404), give()))
    refused(file, place)
    refused(remote("file:none.zip"), place)
    place.with_name("en-fr.txt.part").write_bytes(OTHER[:2000])
    assert get(file, place) == DIGEST


@pytest.mark.parametrize("where", ["en-fr.txt", "tanzil/en-fr.txt"])
def test_a_file_put_by_hand_is_used_instead(server, place, where):
    by_hand = Path("resources/manual") / where
    by_hand.parent.mkdir(parents=True)
    by_hand.write_bytes(DATA)
    file = remote(server.url("x.zip", give(OTHER)))
    assert get(file, place) == get(file, place) == DIGEST
    assert not server.requests
    assert json.loads(place.with_name("en-fr.txt.lock").read_text())["address"] == str(by_hand)
    by_hand.write_bytes(OTHER)
    assert refused(file, place).startswith(
        f"{by_hand}: its sha256 is {sha256(OTHER).hexdigest()}, the first "
    )
    assert refused(remote(*file.addresses, sha256="0" * 64), place).endswith(f"the registry says {'0' * 64}")


def test_a_name_of_several_data_sets_needs_the_folder_of_one(server, place):
    file = remote(server.url("x.zip", status(404)), name_is_shared=True)
    assert refused(file, place).endswith("; or put the file by hand into resources/manual/tanzil/en-fr.txt")
    Path("resources/manual").mkdir()
    Path("resources/manual/en-fr.txt").write_bytes(DATA)
    message = refused(file, place)
    assert message.startswith(
        "resources/manual/en-fr.txt: several data sets have a file with this name: move it to "
    )


def test_a_shipped_file_is_not_replaced_by_a_name_put_by_hand(place):
    Path("resources/manual").mkdir(parents=True)
    Path("resources/manual/en-fr.txt").write_bytes(OTHER)
    Path("x.zip").write_bytes(DATA)
    assert get(remote("file:x.zip"), place) == DIGEST


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


def test_a_full_disk_is_one_clear_line(tmp_path):
    class Full(FileIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Full(tmp_path / "x.part", "a+b") as stream, pytest.raises(InputError) as caught:
        Part(stream).append(lambda: DATA)
    assert str(caught.value) == f"{tmp_path / 'x.part'}: cannot be written: No space left on device"


def test_a_place_that_cannot_be_written_is_one_clear_line(place):
    Path("resources").write_text("a file where a folder should be")
    Path("x.zip").write_bytes(DATA)
    assert "en-fr.txt.part: cannot be opened for writing: " in refused(remote("file:x.zip"), place)
    Path("resources").unlink()
    place.mkdir(parents=True)
    assert refused(remote("file:x.zip"), place) == f"{place}: cannot be written: Is a directory"


def _fetch_in_child(address, place, results):
    results.put(fetch(remote(address), place, timeout=10))


def test_processes_at_once_fetch_once(server, place):
    def slowly(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(DATA)))
        handler.end_headers()
        for start in range(0, len(DATA), len(DATA) // 10):
            handler.wfile.write(DATA[start : start + len(DATA) // 10])
            time.sleep(0.02)

    url = server.url("x.zip", slowly)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    children = [context.Process(target=_fetch_in_child, args=(url, place, results)) for _ in range(4)]
    for child in children:
        child.start()
    assert [results.get(timeout=20) for _ in children] == [DIGEST] * 4
    for child in children:
        child.join(20)
    assert len(server.requests) == 1
    assert left(place) == ["en-fr.txt", "en-fr.txt.lock"]


def test_a_part_that_went_away_while_it_was_waited_for_is_made_anew(server, place):
    url = server.url("x.zip", give())
    part = place.with_name("en-fr.txt.part")
    part.parent.mkdir(parents=True)
    done = []
    waiting = threading.Thread(target=lambda: done.append(get(remote(url), place)))
    with part.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        part.unlink()
    waiting.join(10)
    assert done == [DIGEST]


def test_a_killed_process_leaves_a_part_that_is_resumed(server, place):
    url = server.url("x.zip", give(cut=1000, stall=True), give())
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_fetch_in_child, args=(url, place, context.Queue()))
    child.start()
    part = place.with_name("en-fr.txt.part")
    deadline = time.monotonic() + 10
    while not (part.exists() and part.stat().st_size == 1000) and time.monotonic() < deadline:
        time.sleep(0.01)
    child.kill()
    child.join(10)
    assert not place.exists()
    assert get(remote(url), place) == DIGEST
    assert server.ranges == [None, "bytes=1000-"]


def test_a_real_file_comes_through_a_mirror(mirror, place):
    address = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/val.en.gz"
    get(remote(address), place, mirror=str(mirror))
    real = mirror / address.removeprefix("https://")
    assert place.read_bytes() == real.read_bytes()
