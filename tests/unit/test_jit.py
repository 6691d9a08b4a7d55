"""Test what a person sees while kernels are compiled."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from pipelines import ROOT

CODE = """
import numpy as np
from paraphrastic.neighbours.kernels import any_reaches
any_reaches(np.ones(3, np.float32), np.float32(1))
"""
# As if nothing could be written, not even by root.
NOWHERE = """
from numba.core import caching
for name in dir(caching):
    locator = getattr(caching, name)
    if isinstance(locator, type) and hasattr(locator, "ensure_cache_path"):
        def refuse(self): raise OSError
        locator.ensure_cache_path = refuse
"""


def stderr_of(code: str, folder: Path, *, on_terminal: bool) -> str:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT / "src")}
    ours, theirs = pty.openpty() if on_terminal else os.pipe()
    run = subprocess.run([sys.executable, "-c", code], env=variables, stderr=theirs, check=False)
    os.close(theirs)
    text = ""
    while True:
        try:
            part = os.read(ours, 4096).decode()
        except OSError:  # the end of a terminal
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert run.returncode == 0, text
    return text.replace("\r\n", "\n")


def test_the_first_call_says_that_it_compiles(tmp_path: Path) -> None:
    assert stderr_of(CODE, tmp_path, on_terminal=True).startswith("paraphrastic: ")
    assert stderr_of(CODE, tmp_path, on_terminal=True) == ""


@pytest.mark.slow("compiles the same kernel twice more")
def test_it_says_what_to_do_if_nothing_can_be_kept_and_is_silent_in_a_script(tmp_path: Path) -> None:
    assert "NUMBA_CACHE_DIR" in stderr_of(NOWHERE + CODE, tmp_path, on_terminal=True)
    assert stderr_of(CODE, tmp_path, on_terminal=False) == ""
