"""Test that scripts report faults of input or machine in one line, and our own faults with a traceback."""

import errno
import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.workflow.step import name_of, step


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
        (OSError(errno.EIO, "I/O error", "a\x1b[2J"), "a\\x1b[2J: I/O error"),
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


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("Unable to\nallocate 1 GiB"), "Unable to allocate 1 GiB"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
        (
            pa.ArrowException("Failed to launch worker thread: Resource temporarily unavailable"),
            "Failed to launch worker thread: Resource temporarily unavailable",
        ),
    ],
)
def test_a_lack_of_memory_has_advice(
    error: Exception, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=f"error in merge_pairs: not enough memory: {words}; ") as stopped:
        fail(error, tmp_path / "log", monkeypatch)
    assert "fewer steps at a time" in str(stopped.value.code)


def test_a_log_has_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    snakemake = SimpleNamespace(
        rule="r", input=[], output=[], log=[str(tmp_path / "log")], params={}, config={}
    )
    with step(snakemake):
        logging.info("HTTP Request: GET https://host/x?X-Amz-Signature=%s", "s3cret")
        logging.info("through %s", "http://me:s3cret@proxy:3128/")
    text = (tmp_path / "log").read_text()
    assert "through http://***@proxy:3128/" in text
    assert "s3cret" not in text


def test_a_fault_of_ours_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError):
        fail(KeyError("language"), tmp_path / "log", monkeypatch)
    assert "Traceback" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("log", "name"),
    [
        ("results/logs/tabulate_sweep.log", "tabulate_sweep"),
        ("results/logs/evaluate_stsb/fr-untrained.log", "evaluate_stsb"),
        ("elsewhere/log", "tabulate_results"),
    ],
)
def test_a_step_has_the_name_of_its_log(log: str, name: str) -> None:
    assert name_of(SimpleNamespace(rule="tabulate_results", log=[log])) == name


def test_a_step_with_a_database_ends_in_silence(tmp_path: Path) -> None:
    lines = (
        "import gc",
        "gc.disable()",
        "from paraphrastic_pipeline.corpus.database import open_database",
        "gc.freeze()",
        "gc.enable()",
        f"with open_database('a test', memory_mb=500, threads=1, temporary={str(tmp_path)!r}) as database:",
        "    database.execute('SELECT 1').fetchall()",
    )
    run = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("", "")
