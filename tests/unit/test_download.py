"""Test how a file comes to its place: from servers that misbehave, mirrors, and files put by hand."""

import errno
import multiprocessing
import os
import resource
import socket
import time
from dataclasses import replace
from email.utils import formatdate
from hashlib import sha256
from pathlib import Path

import pytest
from web_server import DATA, DIGEST, OTHER, get, give, left, refused, remote, status

from paraphrastic_pipeline.registry.download import fetch

LONGER = DATA + b"more"
ZIP = "en-fr.txt"


def test_a_file_is_fetched_with_a_name_that_servers_take(server, place):
    assert get(remote(server.url("x.zip", give())), place) == DIGEST
    assert left(place) == [ZIP]
    (_, headers), *others = server.requests
    assert headers["User-Agent"].startswith("Mozilla/5.0 (compatible; paraphrastic/")
    assert not others


@pytest.mark.parametrize(
    "validator", [{"etag": '"v1"'}, {"etag": 'W/"v1"', "modified": formatdate(10**9, usegmt=True)}]
)
def test_an_early_close_is_resumed_where_it_broke_off(server, place, validator):
    url = server.url("x.zip", give(cut=1000, **validator), give(cut=5000, **validator), give(**validator))
    assert get(remote(url), place) == DIGEST
    assert server.ranges == [None, "bytes=1000-", "bytes=5000-"]
    assert server.requests[1][1]["If-Range"] == validator.get("modified", '"v1"'), (
        "a weak tag promises no bytes"
    )
    assert left(place) == [ZIP]


def test_a_part_left_by_an_interrupted_run_is_resumed(server, place):
    file = remote(server.url("x.zip", give(cut=1000), status(404), give()))
    message = refused(file, place)
    assert f"{file.addresses[0]}: HTTP 404 Not Found" in message
    assert message.endswith("resources/manual/en-fr.txt"), "where the file can be put by hand"
    assert get(file, place) == DIGEST
    assert server.ranges == [None, "bytes=1000-", "bytes=1000-"]


@pytest.mark.parametrize(
    ("replies", "expected", "ranges"),
    [
        ([give(cut=1000), give(OTHER, etag='"v2"')], OTHER, [1000]),
        # Servers that ignore If-Range, or give bytes from another place, an unknown one, or of another file.
        ([give(cut=1000), give(OTHER, etag='"v2"', check=False)], OTHER, [1000, None]),
        ([give(cut=1000), give(shift=-1), give()], DATA, [1000, None]),
        ([give(cut=1000), give(shift=1), give()], DATA, [1000, None]),
        ([give(cut=1000), status(206, ETag='"v1"'), give()], DATA, [1000, None]),
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
    assert server.ranges == [None, *(start and f"bytes={start}-" for start in ranges)]


def test_a_part_from_another_address_is_not_continued(server, place):
    first = server.url("a.zip", give(cut=1000), status(404))
    get(remote(first, server.url("b.zip", give(OTHER))), place)
    assert place.read_bytes() == OTHER
    assert server.ranges[-1] is None


@pytest.mark.parametrize("code", [408, 429, 500, 503])
def test_errors_that_may_pass_are_asked_again(server, place, code):
    assert get(remote(server.url("x.zip", status(code), status(code), give())), place) == DIGEST
    assert f"HTTP {code} " in refused(remote(server.url("y.zip", status(code))), place, attempts=2)
    assert len(server.requests) == 5


def test_a_busy_server_says_how_long_to_wait(server, place):
    begun = time.monotonic()
    assert get(remote(server.url("x.zip", status(503, Retry_After="1"), give())), place) == DIGEST
    assert 1 <= time.monotonic() - begun < 4


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (status(404), "HTTP 404 Not Found"),
        (status(406), "HTTP 406 Not Acceptable"),
        (give(b"<html>quota exceeded</html>", kind="text/html; charset=utf-8"), "web page"),
        (give(b""), "empty"),
        (give(length=len(DATA) + 10, ranges=False), "(2 attempts)"),
        (status(302, Location="file:///etc/passwd"), "file:///etc/passwd"),
        (status(302, Location="/x.zip"), "30 redirects"),
        (lambda handler: handler.wfile.write(b"\x1b[2J nonsense\r\n\r\n"), "\\x1b[2J nonsense"),
    ],
)
def test_what_is_not_the_file_is_one_line_with_its_address(server, place, reply, cause):
    url = server.url("x.zip", reply)
    message = refused(remote(url), place, attempts=2)
    assert message.startswith(f"{place}: ")
    assert f"{url}: " in message
    assert cause in message
    assert message.isprintable()
    assert not place.exists()


def test_a_server_that_is_not_there_is_named(place):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/x"
        assert f"{url}: [Errno 111] Connection refused" in refused(remote(url), place, attempts=2)


def test_a_stall_ends_at_the_timeout_and_is_resumed(server, place):
    url = server.url("x.zip", give(cut=1000, stall=True), give())
    assert get(remote(url), place, timeout=0.3) == DIGEST
    assert server.ranges == [None, "bytes=1000-"]
    silent = remote(server.url("y.zip", give(cut=10, stall=True, etag=None)))
    assert "timed out (2 attempts)" in refused(silent, place, timeout=0.1, attempts=2)


def test_a_server_that_gives_a_few_bytes_an_answer_is_given_up(server, place):
    url = server.url("x.txt", *(give(cut=cut) for cut in range(2000, 2100, 10)), give())
    assert "(3 attempts)" in refused(remote(url), place, attempts=3)
    patient = remote(server.url("y.txt", *(give(cut=cut) for cut in range(1000, 6000, 1000)), give()))
    assert get(patient, place, attempts=2) == DIGEST


def test_wrong_bytes_are_refused_and_the_next_address_is_tried(server, place):
    bad, good = server.url("bad.zip", give(OTHER)), server.url("good.zip", give())
    assert get(remote(bad, good, sha256=DIGEST), place) == DIGEST
    place.unlink()
    message = refused(remote(bad, sha256=DIGEST), place)
    assert f"{bad}: its sha256 is {sha256(OTHER).hexdigest()}, the registry says {DIGEST}" in message
    assert "has 307200 bytes, the registry says 5" in refused(remote(good, size=5), place)
    assert not place.exists()


def test_a_file_address_is_read_from_the_working_folder(place):
    Path("data").mkdir()
    Path("data/x y.zip").write_bytes(DATA)
    assert get(remote("file:data/x%20y.zip"), place) == DIGEST
    assert get(remote(f"file://{Path('data/x y.zip').resolve()}"), place) == DIGEST
    message = refused(remote("file:data/none.zip"), place)
    assert message == f"{place}: could not be fetched: file:data/none.zip: no such file"


def test_a_file_that_may_not_be_read_is_one_cause_of_several(server, place, monkeypatch):
    Path("x.zip").write_bytes(b"secret")
    opened = Path.open

    def may_not(path, *arguments, **options):
        if path.name == "x.zip":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", may_not)
    message = refused(remote("file:x.zip", server.url("gone", status(404))), place)
    assert "file:x.zip: Permission denied; http" in message


def test_a_mirror_folder_is_read_by_host_and_path(tmp_path, place):
    there = tmp_path / "mirror" / "www.cs.cmu.edu" / "~a" / "STS.zip"
    there.parent.mkdir(parents=True)
    there.write_bytes(DATA)
    file = remote("https://www.cs.cmu.edu/~a/STS.zip")
    assert get(file, place, mirror="mirror") == DIGEST
    there.unlink()
    message = refused(file, place, mirror="mirror")
    assert "(read from mirror/www.cs.cmu.edu/~a/STS.zip): no such file" in message
    for bad in ("nowhere", "ftp://host", "http://[::1"):
        assert refused(file, place, mirror=bad).startswith("mirror: ")


def test_a_mirror_server_is_read_by_host_and_path(server, place):
    path = "www.cs.cmu.edu/~a/STS.zip?id=1"
    root = server.url(path, give()).removesuffix(f"/{path}")
    assert get(remote(f"https://{path}"), place, mirror=f"{root}/") == DIGEST


def test_a_data_set_with_another_source_is_named(server, place):
    file = remote(server.url("x.zip", status(406)))
    assert "tatoeba_opus" in refused(replace(file, dataset="tatoeba_pairs"), place)


@pytest.mark.parametrize("where", ["en-fr.txt", "tanzil/en-fr.txt"])
def test_a_file_put_by_hand_is_used_instead(server, place, where):
    by_hand = Path("resources/manual") / where
    by_hand.parent.mkdir(parents=True)
    by_hand.write_bytes(DATA)
    url = server.url("x.zip", give(OTHER))
    assert get(remote(url), place) == DIGEST
    assert f"{by_hand}: its sha256 is {DIGEST}" in refused(remote(url, sha256="0" * 64), place)
    assert not server.requests


def test_a_name_that_others_have_needs_the_folder_of_its_data_set(server, place):
    Path("resources/manual").mkdir(parents=True)
    Path("resources/manual/en-fr.txt").write_bytes(OTHER)
    Path("x.zip").write_bytes(DATA)
    assert get(remote("file:x.zip"), place) == DIGEST
    shared = remote(server.url("x.zip", status(404)), name_is_shared=True)
    assert refused(shared, place).endswith("resources/manual/tanzil/en-fr.txt")


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


def test_a_place_that_cannot_be_written_is_one_clear_line(place):
    Path("resources").write_text("a file where a folder should be")
    assert "cannot be written: " in refused(remote("file:x.zip"), place)


def _fetch_in_child(address, place):
    fetch(remote(address), place, timeout=10)


def test_processes_at_once_do_not_mix_their_bytes(server, place):
    def slowly(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(DATA)))
        handler.end_headers()
        for start in range(0, len(DATA), len(DATA) // 10):
            handler.wfile.write(DATA[start : start + len(DATA) // 10])
            time.sleep(0.02)

    url = server.url("x.zip", slowly)
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_fetch_in_child, args=(url, place)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(20)
    assert [child.exitcode for child in children] == [0] * 4
    assert place.read_bytes() == DATA
    assert left(place) == [ZIP]


def test_a_killed_process_leaves_a_part_that_is_resumed(server, place):
    url = server.url("x.zip", give(cut=1000, stall=True), give())
    child = multiprocessing.get_context("fork").Process(target=_fetch_in_child, args=(url, place))
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
