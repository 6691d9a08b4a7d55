"""Test the check of the registry's addresses."""

from pathlib import Path

import pytest
from web_server import DATA, Server, give, status

from paraphrastic.cli import main
from paraphrastic_pipeline.registry.datasets import read_registry
from paraphrastic_pipeline.registry.links import check_links

HEADER = "name\tversion\tkind\tlanguages\tfile\taddresses\tsha256\tsize\tmembers\tlicence\n"


def registry(folder: Path, *files: tuple[str, str]) -> Path:
    """Write a registry with files of given addresses and sizes."""
    path = folder / "datasets.tsv"
    rows = [
        f"data\t1\tfile\t-\tfile{number}\t{addresses}\t-\t{size}\t-\tMIT\n"
        for number, (addresses, size) in enumerate(files)
    ]
    path.write_text(HEADER + "".join(rows))
    return path


def states(path: Path, **options: object) -> list[tuple[str, str, str]]:
    links = check_links(read_registry(path).values(), timeout=5, **options)
    return [(link.file.name, link.state, link.cause) for link in links]


def test_each_address_is_ok_changed_dead_or_spare(server: Server, tmp_path: Path) -> None:
    good, gone = server.url("good", give()), server.url("gone", status(404))
    page = server.url("page", give(kind="text/html"))
    path = registry(
        tmp_path,
        (good, str(len(DATA))),
        (good, "5"),
        (gone, "-"),
        (f"{gone} {good}", "-"),
        (f"{page} {gone}", "-"),
        ("file:data", "-"),
    )
    assert states(path) == [
        ("file0", "ok", ""),
        ("file1", "changed", f"has {len(DATA)} bytes, the registry says 5"),
        ("file2", "dead", "HTTP 404 Not Found"),
        ("file3", "spare", "HTTP 404 Not Found"),
        ("file3", "ok", ""),
        ("file4", "dead", "answered with a web page instead of the file"),
        ("file4", "dead", "HTTP 404 Not Found"),
    ]


def test_nothing_is_downloaded_where_the_server_answers_for_the_head(server: Server, tmp_path: Path) -> None:
    states(registry(tmp_path, (server.url("good", give()), "-")))
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [403, 404, 405, 501])
def test_a_server_that_refuses_heads_is_asked_for_the_file(server: Server, tmp_path: Path, code: int) -> None:
    url = server.url("good", lambda handler: (status(code) if handler.command == "HEAD" else give())(handler))
    assert states(registry(tmp_path, (url, "-"))) == [("file0", "ok", "")]


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    busy = server.url("busy", status(503), status(503), give())
    assert states(registry(tmp_path, (busy, "-"))) == [("file0", "ok", "")]
    down = server.url("down", status(503))
    assert states(registry(tmp_path, (down, "-"))) == [("file0", "dead", "HTTP 503 Service Unavailable")]
    assert [path for path, _ in server.requests] == ["/busy"] * 3 + ["/down"] * 3


def test_a_mirror_is_looked_at_instead(tmp_path: Path) -> None:
    host = tmp_path / "mirror/host.org"
    host.mkdir(parents=True)
    (host / "good").write_bytes(b"12345")
    path = registry(
        tmp_path, ("https://host.org/good", "5"), ("https://host.org/good", "6"), ("https://host.org/x", "-")
    )
    found = states(path, mirror=str(tmp_path / "mirror"))
    assert [state for _, state, _ in found] == ["ok", "changed", "dead"]


def test_the_command_lists_what_is_dead(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = server.url("gone", status(404))
    path = registry(tmp_path, (gone, "-"), (server.url("good", give()), "-"))
    assert main(["links", "--registry", str(path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == f"dead\tdata\tfile0\t{gone}\tHTTP 404 Not Found\n"
    assert printed.err.endswith("datasets.tsv: 1 of 2 addresses are dead or changed\n")
    assert main(["links", "--registry", str(path), "--datasets", "dat"]) == 1
    assert "did you mean 'data'?" in capsys.readouterr().err
    path = registry(tmp_path, (f"{gone} {server.url('good', give())}", "-"))
    assert main(["links", "--registry", str(path)]) == 0
