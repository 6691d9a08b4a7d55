"""Test that scripts report faults of input or machine in one line, and our own faults with a traceback."""

import errno
import logging
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.workflow.step import step


def fail(error: Exception, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the error in a script without inputs and outputs, in a process that has no log yet."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(logging, "raiseExceptions", True)
    snakemake = SimpleNamespace(rule="merge_pairs", input=[], output=[], log=[str(log)], params={}, config={})
    with step(snakemake):
        raise error


NO_MEMORY = "not enough memory: "


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("pairs.tsv:3: one column"), "pairs.tsv:3: one column"),
        (InputError("out of memory.txt: empty"), "out of memory.txt: empty"),
        (OSError(errno.ENOSPC, "No space left on device", "a.npy"), "a.npy: No space left on device"),
        (OSError("truncated"), "truncated"),
        (OSError(errno.EIO, "I/O error", "a\x1b[2J"), "a\\x1b[2J: I/O error"),
        (MemoryError("Unable to\nallocate 1 GiB"), f"{NO_MEMORY}Unable to allocate 1 GiB; "),
        (RuntimeError("can't start new thread"), f"{NO_MEMORY}can't start new thread; "),
        (
            pa.ArrowException("Failed to launch worker thread: x"),
            f"{NO_MEMORY}Failed to launch worker thread: x; ",
        ),
    ],
)
def test_a_fault_of_input_or_machine_is_one_line(
    error: Exception, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as stopped:
        fail(error, tmp_path / "log", monkeypatch)
    assert str(stopped.value.code).startswith(f"error in merge_pairs: {line}")
    (logged,) = (tmp_path / "log").read_text().splitlines()
    assert f"error: {line}" in logged
    assert line.startswith(NO_MEMORY) or logged.endswith(line)


def test_a_log_has_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "GET https://host/x?X-Amz-Signature=s3cret through http://me:s3cret@proxy:3128/"
    with pytest.raises(SystemExit):
        fail(InputError(text), tmp_path / "log", monkeypatch)
    assert "GET https://host/x?*** through http://***@proxy:3128/" in (tmp_path / "log").read_text()


def test_a_fault_of_ours_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError):
        fail(KeyError("language"), tmp_path / "log", monkeypatch)
    assert "Traceback" in (tmp_path / "log").read_text()
