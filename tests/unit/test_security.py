"""Test that servers need a valid certificate, and that all libraries say alike that memory ran out."""

import http.server
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import torch
from faults import message

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.errors import is_out_of_memory
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.registry.download import fetch


@pytest.fixture
def self_signed(tmp_path: Path) -> Iterator[str]:
    """The address of a server with a self-signed certificate."""
    if not (openssl := shutil.which("openssl")):
        pytest.skip("no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    request = (
        "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    files = ["-keyout", key, "-out", certificate]
    subprocess.run([openssl, *request.split(), *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"https://localhost:{server.server_port}/corpus.zip"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_certificate_that_nobody_vouches_for_is_refused(
    self_signed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "localhost")
    monkeypatch.chdir(tmp_path)
    file = RemoteFile(dataset="mine", name="corpus.zip", languages=(), addresses=(self_signed,))
    with pytest.raises(InputError, match="self-signed certificate") as caught:
        fetch(asdict(file), tmp_path / "corpus.zip", attempts=1)
    assert "\n" not in str(caught.value)
    assert message("A certificate is refused").search(str(caught.value))
    assert not (tmp_path / "corpus.zip").exists()


def no_memory_for_duckdb() -> None:
    with duckdb.connect(config={"memory_limit": "1MB"}) as database:
        database.execute("CREATE TABLE big AS SELECT hash(range) FROM range(10000000) ORDER BY 1")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: np.empty(2**60, np.uint8),
        lambda: torch.empty(2**60, dtype=torch.uint8),
        lambda: pa.allocate_buffer(2**60),
        no_memory_for_duckdb,
    ],
    ids=["numpy", "torch", "arrow", "duckdb"],
)
def test_every_library_says_that_memory_ran_out(ask) -> None:
    with pytest.raises(Exception, match=r".") as caught:
        ask()
    assert is_out_of_memory(caught.value), repr(caught.value)
    assert not is_out_of_memory(ValueError("a memory of the sea"))
