"""A local web server that misbehaves on request, and downloads from it."""

import re
import threading
from dataclasses import asdict
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.registry.download import fetch

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
    data=DATA, *, cut=None, etag='"v1"', modified=None, ranges=True, check=True, shift=0, length=None,
    stall=False, kind=None,
):  # fmt: skip
    """Reply with the file and handle Range and If-Range correctly, except for what the arguments spoil."""

    def reply(handler):
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start = int(wanted[1]) if wanted and ranges else 0
        if check and handler.headers.get("If-Range") not in (None, etag, modified):
            start = 0
        start += shift
        if wanted and start >= len(data):
            return status(416, Content_Range=f"bytes */{len(data)}")(handler)
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        for name, value in (("ETag", etag), ("Last-Modified", modified), ("Content-Type", kind)):
            if value:
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(length or len(data) - start))
        handler.end_headers()
        handler.wfile.write(data[start:cut])
        handler.wfile.flush()
        if stall:
            handler.server.released.wait(20)
        return None

    return reply


def remote(*addresses, name="en-fr.txt", **fields):
    return RemoteFile(dataset="tanzil", name=name, languages=("en", "fr"), addresses=addresses, **fields)


def get(file, place, **options):
    fetch(asdict(file), place, **{"timeout": 5.0, "backoff": 0, **options})
    return sha256(place.read_bytes()).hexdigest()


def refused(file, place, **options):
    with pytest.raises(InputError) as caught:
        get(file, place, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def left(place):
    return sorted(path.name for path in place.parent.iterdir())
