"""Test that secrets in addresses are refused, and that no message has them."""

import base64
import json
from pathlib import Path

import pytest
from configurations import changed, checked
from web_server import DIGEST, get, give, refused, remote, status

from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.base.errors import spelled_out
from paraphrastic_pipeline.registry.addresses import address_error, secret_error
from paraphrastic_pipeline.registry.datasets import COLUMNS, read_registry
from paraphrastic_pipeline.registry.opus import LISTS, read_list

# The secret is always `s3cret`.
SECRETS = [
    "https://me:s3cret@host/x",
    "HTTP://s3cret@host/x",
    "https://me%3As3cret%40host/x",
    "https://host/x?a=1&access_token=s3cret&dl=1",
    "https://host/x?X-Amz-Signature=s3cret",
    "https://host/x?api_key=s3cret;b=2",
    "https://host/x#a=1&sig=s3cret",
]
HARMLESS = [
    "file:///me@home/x.tsv",
    "https://host.org/me@home",
    "https://host.org:8080/path/of@version/x?id=3&export=download&confirm=t&mail=me@host.org",
    "http://[::1]:80/a@b",
    "https://host/x?keyword=a&sort_key=b&tokens=3",
    "git@host.org:path/x",
    "key=value; token=value",
    "Meet at 10:30@home",
    "r?key=5.txt",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay(text: str) -> None:
    assert secret_error(text) is None
    assert spelled_out(text) == text


@pytest.mark.parametrize("text", [*SECRETS, 'at "http://s3cret@host": damaged'])
def test_a_log_has_no_password(text: str) -> None:
    assert "s3cret" not in spelled_out(text)
    assert "host" in spelled_out(text)


@pytest.mark.parametrize("address", ["ftp://host/x", "data/x.zip", "https:///x", "file://host/x", "file:", "https://host",
                                     "http://[::1/x", "http://a:x/y", "https://host/%2e%2e/x"])  # fmt: skip
def test_what_is_no_address(address: str) -> None:
    assert address_error(address)


@pytest.mark.parametrize("address", SECRETS)
def test_no_secret_is_taken_or_shown(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    row = ["x", "1", "file", "-", "x.txt", address, "-", "-", "-", "CC0", "-"]
    Path("datasets.tsv").write_text("\t".join(COLUMNS) + "\n" + "\t".join(row) + "\n")
    url = f"{address}/moses/de-en.txt.zip"
    LISTS.mkdir(parents=True)
    (LISTS / "de-en.json").write_text(json.dumps({"corpora": [{"corpus": "A", "version": "1", "url": url}]}))
    assert read_list(("de", "en")) == {}
    for at, refuse in {
        "datasets.tsv:2: addresses: ": lambda: read_registry("datasets.tsv"),
        "config: mirror: ": lambda: checked(changed("mirror", address)),
        "config: definitions.en.": lambda: checked(changed("definitions.en.corpora", [{"path": address}])),
    }.items():
        with pytest.raises(InputError, match=f"^{at}") as caught:
            refuse()
        assert "s3cret" not in str(caught.value)
    assert main(["corpora", "--languages", "de-fr", "--mirror", address]) == 1
    assert "s3cret" not in capsys.readouterr().err


def guarded(handler) -> None:
    """Reply with the file to those who know the password."""
    known = handler.headers.get("Authorization") == "Basic " + base64.b64encode(b"me:s3cret").decode()
    (give() if known else status(401, WWW_Authenticate="Basic"))(handler)


def test_a_password_comes_from_netrc_and_goes_to_its_host_alone(server, place, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert "HTTP 401" in refused(remote(server.url("x.txt", guarded)), place)
    Path("netrc").write_text("machine 127.0.0.1 login me password s3cret\n")
    other = server.url("other.txt", give()).replace("127.0.0.1", "localhost")
    assert get(remote(server.url("x.txt", guarded)), place) == DIGEST
    assert get(remote(server.url("moved.txt", status(302, Location=other))), place) == DIGEST
    sent = {path: "Authorization" in headers for path, headers in server.requests}
    assert sent == {"/x.txt": True, "/moved.txt": True, "/other.txt": False}
