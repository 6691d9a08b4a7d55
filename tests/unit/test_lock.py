"""Test the locks of downloads, and what a step reports about a download that has changed since."""

import re
from pathlib import Path

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.registry.download import fetch
from paraphrastic_pipeline.registry.lock import CONFIGFILES, lock_path, verify_downloads


@pytest.fixture
def download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a downloaded file whose source has been removed since."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(CONFIGFILES, raising=False)
    Path("a.txt").write_text("one\ntwo\n")
    file = RemoteFile(dataset="mine", name="a.txt", languages=(), addresses=("file:a.txt",))
    fetch(file, file.location)
    Path("a.txt").unlink()
    return file.location


def fault(path: str) -> str:
    with pytest.raises(InputError) as caught:
        verify_downloads([path])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_whole_download_is_read_and_its_address_is_not_asked(download: str) -> None:
    verify_downloads([download, download])


def test_files_from_elsewhere_are_not_looked_at() -> None:
    verify_downloads(["results/pairs/a.parquet", "data/sample/none.zip", "/resources/downloads/a"])


def test_a_download_of_another_size_is_not_read(download: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraphrastic_pipeline.registry.lock.sha256", lambda path: pytest.fail("it was read"))
    Path(download).write_text("one\n")
    assert fault(download) == (
        f"{download}: damaged: it has 4 bytes, and had 8 when it was fetched; "
        f"to fetch it again: snakemake --cores 1 --force {download}"
    )


def test_a_download_with_other_bytes_is_damaged(download: str) -> None:
    before = sha256(download)
    Path(download).write_text("one\nTWO\n")
    after = sha256(download)
    assert f": damaged: its sha256 is {after}, and was {before} when it was fetched; " in fault(download)


def test_a_download_without_a_lock_cannot_be_verified(download: str) -> None:
    lock_path(download).unlink()
    assert f": cannot be verified, because {download}.lock is missing; to fetch" in fault(download)


def test_the_command_names_the_configuration_of_the_run(
    download: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONFIGFILES, "my config.yaml\nmore.yaml")
    Path(download).write_text("")
    assert re.search(r"--configfile 'my config\.yaml' more\.yaml --force resources/", fault(download))


def test_the_lock_is_written_again_if_it_went_away(download: str) -> None:
    Path(download).rename("a.txt")
    lock_path(download).unlink()
    digest = sha256("a.txt")
    file = RemoteFile("mine", "a.txt", languages=(), addresses=("file:a.txt",), sha256=digest)
    fetch(file, download)
    lock_path(download).unlink()
    fetch(file, download)
    verify_downloads([download])
