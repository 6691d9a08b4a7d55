"""Test that foreign data are not executed, servers need a valid certificate, and text is no command."""

import ast
import http.server
import re
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

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path for folder in ("src", "workflow", "benchmarks", "data") for path in (ROOT / folder).rglob("*.py")
)
# These packages rebuild objects by calling the functions that a file names.
UNPICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
RUN = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}
METHODS = {"extractall", "read_pickle", "unsafe_load"}
# These calls are safe if they have the given argument.
GUARDED = {"torch.load": "weights_only=True", "np.load": "allow_pickle=False"}


def faults(source: str) -> list[str]:
    """Return the places where a module would execute its input or rebuild objects from it."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            found += [name for name in names if name.split(".")[0] in UNPICKLERS]
        if not isinstance(node, ast.Call):
            continue
        name, arguments = ast.unparse(node.func), [ast.unparse(keyword) for keyword in node.keywords]
        if name in RUN or name.split(".")[-1] in METHODS:
            found.append(name)
        # Events are the marks of the text alone, of which nothing is made.
        if name.startswith("yaml.") and not name.startswith(("yaml.safe_", "yaml.SafeLoader", "yaml.parse")):
            found.append(name)
        if name in GUARDED and GUARDED[name] not in arguments:
            found.append(name)
        found += [word for word in arguments if word in ("shell=True", "trust_remote_code=True")]
    return found


def test_nothing_that_is_read_is_run() -> None:
    assert len(SOURCES) > 150
    assert {path.relative_to(ROOT): found for path in SOURCES if (found := faults(path.read_text()))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from joblib import load",
        "eval(x)",
        "os.system(x)",
        "archive.extractall(folder)",
        "pd.read_pickle(x)",
        "yaml.load(x)",
        "torch.load(x, weights_only=False)",
        "np.load(x)",
        "subprocess.run(x, shell=True)",
    ],
)
def test_what_would_be_run_is_found(line: str) -> None:
    assert faults(line)


def test_no_rule_has_a_shell() -> None:
    for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]:
        assert not re.findall(r"^\s*(?:shell|run|wrapper|notebook)\b.*:|\bshell\(", path.read_text(), re.M), (
            path
        )


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
