"""Test where downloads come from and go to: locks, mirrors, files put by hand, disks, processes."""

import errno
import json
import logging
import multiprocessing
import os
import resource
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest
from filelock import FileLock
from web_server import DATA, DIGEST, OTHER, get, give, left, refused, remote, status

from paraphrastic_pipeline.registry.download import fetch


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
    assert get(remote("file:x.zip", server.url("x", give())), place) == DIGEST


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


def test_a_place_that_cannot_be_written_is_one_clear_line(place):
    Path("resources").write_text("a file where a folder should be")
    Path("x.zip").write_bytes(DATA)
    assert refused(remote("file:x.zip"), place) == f"{place.parent}: cannot be written: Not a directory"
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


def test_a_lock_that_went_away_while_it_was_waited_for_is_made_anew(server, place, caplog):
    url = server.url("x.zip", give())
    lock = Path(f"{place}.part.lock")
    lock.parent.mkdir(parents=True)
    done = []
    waiting = threading.Thread(target=lambda: done.append(get(remote(url), place)))
    with caplog.at_level(logging.INFO), FileLock(lock):
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        assert "another process is fetching it: waiting" in caplog.text
        lock.unlink()
    waiting.join(10)
    assert done == [DIGEST]
    assert left(place) == ["en-fr.txt", "en-fr.txt.lock"]


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
