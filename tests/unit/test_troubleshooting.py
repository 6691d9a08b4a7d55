"""Test that the page on troubleshooting quotes messages exactly; tests/workflow provokes those of runs."""

import gzip
import re
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from faults import PAGE, message
from web_server import Server, give, status

from paraphrastic.base.errors import InputError
from paraphrastic.neighbours.vectors import Matrix, check_maker
from paraphrastic_pipeline.registry.archive import open_members, open_stream
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.registry.download import fetch
from paraphrastic_pipeline.settings.check import check_config

ROOT = Path(__file__).resolve().parents[2]


def titles() -> list[str]:
    return re.findall(r"^## (.*)\n\n```text$", PAGE.read_text(encoding="utf-8"), re.M)


def test_every_message_of_the_page_is_provoked_by_a_test() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(titles()) >= 10
    assert [title for title in titles() if f'"{title}"' not in tests] == []


def lines(title: str) -> list[str]:
    return message(title).pattern.split("|")


def provoked(title: str, *messages: str) -> None:
    """Assert that the lines under the title and the messages match one by one."""
    assert len(messages) == len(lines(title))
    for line, text in zip(lines(title), messages, strict=True):
        assert re.fullmatch(line, text), text


def of_fetch(*addresses: str, **fields: object) -> str:
    fields = {"dataset": "mine", "name": "a.txt", "languages": (), **fields}
    file = RemoteFile(addresses=addresses, **fields)
    with pytest.raises(InputError) as caught:
        fetch(asdict(file), Path("downloads/a.txt"), attempts=2, timeout=0.2, backoff=0)
    return str(caught.value)


def test_downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.chdir(tmp_path)
    provoked(
        "A download fails",
        of_fetch(server.url("a", status(404))),
        of_fetch(server.url("closed", status(401))),
        of_fetch(server.url("b", give(cut=10, stall=True, etag=None))),
        of_fetch("file:none.zip"),
        of_fetch(server.url("d", give(b""))),
        of_fetch(server.url("e", give(kind="text/html"))),
    )
    Path("a.zip").write_bytes(b"one")
    provoked(
        "A download is not what it was",
        of_fetch("file:a.zip", sha256="0" * 64),
        of_fetch("file:a.zip", size=4),
    )


def test_archives(tmp_path: Path) -> None:
    (tmp_path / "page.tar").write_bytes(b"<html>")
    with pytest.raises(InputError) as damaged, open_members(tmp_path / "page.tar", ["m"], max_bytes=1000):
        pass
    (tmp_path / "zeros").write_bytes(gzip.compress(bytes(1001), mtime=0))
    with open_stream(tmp_path / "zeros", max_bytes=1000) as stream, pytest.raises(InputError) as grown:
        stream.read()
    provoked("An archive is refused", str(damaged.value), str(grown.value))


def test_settings() -> None:
    def refused(path: str, value: object) -> str:
        config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
        config["registry"] = str(ROOT / "config/datasets.tsv")
        section, _, key = path.rpartition(".")
        (config[section] if section else config)[key] = value
        with pytest.raises(InputError) as caught:
            check_config(config)
        return str(caught.value).splitlines()[0]

    provoked(
        "A setting is refused",
        refused("trainig", {}),
        refused("language_id", "lid177"),
        refused("definitions.x y", {"languages": ["en"], "corpora": ["sample_paranmt"]}),
        refused("mirror", "https://me:mine@host"),
    )


def test_vectors_of_another_model() -> None:
    title, encoder = "Vectors of another model", SimpleNamespace(label="mine", digest="1", dim=2)
    matrix = Matrix(np.ones((1, 2), np.float32), "vectors.npy")
    messages = [f"paraphrastic: {check_maker(matrix, encoder)}"]
    for description in ({"digest": "2", "label": "yours"}, {"digest": "1", "rows": 5, "dimension": 2}):
        matrix.description = description
        with pytest.raises(InputError) as caught:
            check_maker(matrix, encoder)
        messages.append(f"paraphrastic: error: {caught.value}")
    provoked(title, *messages)
