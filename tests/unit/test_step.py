"""Test that scripts report faults of input or machine in one line, and our own faults with a traceback."""

import errno
import logging
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.pipeline.step import step


def fail(error: Exception, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the error in a script without inputs and outputs, in a process that has no log yet."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(logging, "raiseExceptions", True)
    snakemake = SimpleNamespace(rule="merge_pairs", input=[], output=[], log=[str(log)], params={}, config={})
    with step(snakemake):
        raise error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("pairs.tsv:3: one column"), "pairs.tsv:3: one column"),
        (InputError("out of memory.txt: empty"), "out of memory.txt: empty"),
        (OSError(errno.ENOSPC, "No space left on device", "a.npy"), "a.npy: No space left on device"),
        (OSError("truncated"), "truncated"),
        (MemoryError("Unable to\nallocate 1 GiB"), "not enough memory: Unable to allocate 1 GiB"),
        (RuntimeError("can't start new thread"), "not enough memory: can't start new thread"),
        (
            pa.ArrowException("Failed to launch worker thread: Resource temporarily unavailable"),
            "not enough memory: Failed to launch worker thread: Resource temporarily unavailable",
        ),
    ],
)
def test_a_fault_of_input_or_machine_is_one_line(
    error: Exception, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as stopped:
        fail(error, tmp_path / "log", monkeypatch)
    assert stopped.value.code == f"error in merge_pairs: {line}"
    (logged,) = (tmp_path / "log").read_text().splitlines()
    assert logged.endswith(f"error: {line}")


def test_a_fault_of_ours_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError):
        fail(KeyError("language"), tmp_path / "log", monkeypatch)
    assert "Traceback" in (tmp_path / "log").read_text()
