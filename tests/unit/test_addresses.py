"""Test that secrets in addresses are refused, and that no message has them."""

import base64
import json
import logging
from pathlib import Path

import pytest
from configurations import changed, checked
from web_server import DIGEST, get, give, refused, remote, status

from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.base.addresses import hide_secrets, secret_error
from paraphrastic_pipeline.registry.datasets import COLUMNS
from paraphrastic_pipeline.registry.download import fetch
from paraphrastic_pipeline.registry.http import AddressError
from paraphrastic_pipeline.registry.opus import LISTS, read_list

USER, PARAMETER = "user name or password", "has a secret in it"
# The secret is always `s3cret`.
SECRETS = {
    "https://me:s3cret@host/x": ("https://***@host/x", USER),
    "HTTP://s3cret@host": ("HTTP://***@host", USER),
    "https://me:s3c@s3cret@host:8080/x?a=b": ("https://***@host:8080/x?a=b", USER),
    "https://me:s/s3cret@host/x": ("https://***@host/x", USER),
    "https:/me:s3cret@host/x": ("https:/***@host/x", USER),
    "ftp://me:s3cret@host": ("ftp://***@host", USER),
    "https://host/x?token=s3cret&dl=1": ("https://host/x?token=***&dl=1", PARAMETER),
    "https://host/x?a=1&access_token=s3cret": ("https://host/x?a=1&access_token=***", PARAMETER),
    "https://host/x?X-Amz-Signature=s3cret": ("https://host/x?X-Amz-Signature=***", PARAMETER),
    "https://host/x?sig=s3cret": ("https://host/x?sig=***", PARAMETER),
    "https://host/x?%74oken=s3cret": ("https://host/x?%74oken=***", PARAMETER),
    "https://host/x?api_key=s3cret;b=2": ("https://host/x?api_key=***;b=2", PARAMETER),
    "https://host/x#token=s3cret": ("https://host/x#token=***", PARAMETER),
}
# Quotes, spaces and slashes in a password, and what only a server decodes, are refused before they are shown.
OPENING = (
    "secret_key", "auth_key", "subscription-key", "pass", "pw", "passphrase", "access_token_v2",
    "auth_token[]", "%74oken%20", "hmac",
)  # fmt: skip
REFUSED = [
    'https://me:"s3cret"@host/',
    "https://me:s3 cret@host/",
    "https://s3<cret@host/",
    "https://me:12/s3cret@host/",
    "https://me:s3#cret@host/",
    "https://me%3As3cret%40host/x",
    "https:////me:s3cret@host/x",
    "https://host.org/x;jsessionid=s3cret",
    *(f"https://host.org/x?{name}=s3cret" for name in OPENING),
]
HARMLESS = [
    "file:///me@home/x.tsv",
    "https://host.org/me@home",
    "https://host.org:80/x?mail=me@host.org",
    "https://host.org:8080/path/of@version/x?id=3&export=download&confirm=t",
    "http://[::1]:80/a@b",
    "https://host/x?keyword=a&sort_key=b&tokens=3",
    "data/me@host:x/file.tsv",
    "mine.tsv:3: me@host.org",
    "git@host.org:path/x",
    "key=value; token=value",
    "Meet at 10:30@home",
    "r?key=5.txt",
]


@pytest.mark.parametrize("address", REFUSED)
def test_no_secret_is_taken(address: str) -> None:
    assert secret_error(address)


@pytest.mark.parametrize("address", SECRETS)
def test_a_secret_is_found_and_hidden(address: str) -> None:
    hidden, kind = SECRETS[address]
    assert kind in (secret_error(address) or "")
    assert hide_secrets(address) == hidden
    for text in (f"a.tsv: {address!r}: damaged", f'{{"address": "{address}"}}'):
        assert hide_secrets(text) == text.replace(address, hidden)
    assert "s3cret" not in str(AddressError(address))


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay(text: str) -> None:
    assert secret_error(text) is None
    assert hide_secrets(text) == text


@pytest.mark.parametrize("address", list(SECRETS)[::5])
@pytest.mark.parametrize(
    "key",
    [
        "mirror",
        "registry",
        "systems.other.sentence_transformers",
        "definitions.en.corpora",
        "unknown.0",
        "{}",
    ],
)
def test_a_configuration_has_no_secrets(address: str, key: str) -> None:
    value = {"definitions.en.corpora": ["all_nli", {"path": address}], "unknown.0": {"x": [address]}}
    with pytest.raises(InputError) as caught:
        checked(changed(address, 1) if key == "{}" else changed(key, value.get(key, address)))
    message = str(caught.value)
    assert SECRETS[address][1] in message
    assert "s3cret" not in message
    assert message.startswith(f"config: {'***' if key == '{}' else key}") or key == "{}"


@pytest.mark.parametrize("address", SECRETS)
def test_no_address_of_a_file_has_a_secret(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    row = ["x", "1", "file", "-", "x.txt", address, "-", "-", "-", "CC0"]
    Path("datasets.tsv").write_text("\t".join(COLUMNS) + "\n" + "\t".join(row) + "\n")
    assert main(["links", "--registry", "datasets.tsv"]) == 1
    messages = [error_of(capsys)]
    assert messages[0].startswith("datasets.tsv:2: addresses: ")
    for mirror in (address, f"{address}/sub"):
        assert main(["corpora", "--languages", "de-en", "--mirror", mirror]) == 1
        messages.append(error_of(capsys))
    path = LISTS / "de-en.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    if "?" not in address and "#" not in address:
        url = f"{address}/moses/de-en.txt.zip"
        path.write_text(json.dumps({"corpora": [{"corpus": "A", "version": "v1", "url": url}]}))
        with pytest.raises(InputError) as caught:
            read_list(("de", "en"))
        messages.append(str(caught.value))
    for place in (remote(address), remote("https://host/x")):
        with pytest.raises(InputError) as caught:
            fetch(place, tmp_path / "x", mirror=None if place.addresses == (address,) else address)
        messages.append(str(caught.value))
    assert "s3cret" not in "".join(messages)
    assert all("address" in message or "a secret" in message or "password" in message for message in messages)
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and "s3cret" in file.read_text()
                and file.name not in ("datasets.tsv", "de-en.json")]  # fmt: skip


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.startswith("paraphrastic: error: ")
    assert error.count("\n") == 1
    return error.removeprefix("paraphrastic: error: ").strip()


WANTED = "Basic " + base64.b64encode(b"me:s3cret").decode()


def guarded(handler) -> None:
    """Reply with the file to those who know the password."""
    known = handler.headers.get("Authorization") == WANTED
    (give() if known else status(401, WWW_Authenticate="Basic"))(handler)


@pytest.fixture
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the password of the local server."""
    path = tmp_path / "netrc"
    path.write_text("machine 127.0.0.1 login me password s3cret\n")
    monkeypatch.setenv("NETRC", str(path))
    monkeypatch.setenv("no_proxy", "*")
    return path


def test_a_password_comes_from_netrc_and_goes_nowhere_else(server, place, netrc, caplog) -> None:
    mirror = server.url("", status(404)).rstrip("/")
    server.url("host/x.txt", status(503), guarded)
    with caplog.at_level(logging.INFO):
        assert get(remote("https://host/x.txt"), place, mirror=mirror) == DIGEST
    lock = place.with_name(f"{place.name}.lock").read_text()
    assert mirror in lock
    assert "s3cret" not in lock + caplog.text
    assert caplog.text


def test_a_redirect_takes_no_password_to_another_host(server, place, netrc) -> None:
    other = server.url("other.txt", give()).replace("127.0.0.1", "localhost")
    netrc.write_text(f"{netrc.read_text()}machine localhost login me password s3cret\n")
    same = server.url("same.txt", status(302, Location=other))
    assert get(remote(server.url("x.txt", status(302, Location=same))), place) == DIGEST
    sent = {path: headers.get("Authorization") for path, headers in server.requests}
    assert sent == {"/x.txt": WANTED, "/same.txt": WANTED, "/other.txt": None}


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("machine 127.0.0.1 login me password 0ther", "with user and password from {}"),
        ("machine 127.0.0.2 login me password s3cret", "{} has no user and password for 127.0.0.1"),
        ("default login me password s3cret", "{} has no user and password for 127.0.0.1"),
        ("\nmachine 127.0.0.1 login me s3cret", "{}: line 2 is damaged"),
        (None, "{} has no user and password for 127.0.0.1"),
        ("/", "{} cannot be read"),
    ],
)
def test_a_password_that_is_missing_or_wrong(server, place, netrc, content: str | None, cause: str) -> None:
    netrc.unlink()
    if content == "/":
        netrc.mkdir()
    elif content:
        netrc.write_text(content)
    message = refused(remote(server.url("x.txt", guarded)), place)
    assert f"HTTP 401 Unauthorized ({cause.format(netrc)})" in message
    assert "s3cret" not in message


@pytest.mark.parametrize(
    "proxy", ["http://me:s3cret@127.0.0.1:9/", "http://me:s3cret@a b", "x://me:s3cret@a"]
)
def test_the_password_of_a_proxy_is_in_no_message(place, proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", proxy)
    assert "s3cret" not in refused(remote("http://host.invalid/x.txt"), place, attempts=1)


def test_the_secrets_of_a_redirect_are_in_no_message(server, place) -> None:
    target = "ftp://me:s3cret@host/x?token=s3cret"
    message = refused(remote(server.url("x.txt", status(302, Location=target))), place)
    assert "redirection from http to 'ftp://***@host/x?token=***' is not allowed" in message
