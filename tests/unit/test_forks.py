"""Test that a process that is forked while threads search and embed can do both, and does not hang."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, threading
from multiprocessing import get_context
import numpy as np
from paraphrastic import load_model, near_duplicates, search

model, x = load_model("en"), np.random.default_rng(0).normal(size=(3000, 64)).astype(np.float32)

def work():
    model.embed_raw_text(["a dog", "a cat"] * 600, threads=2)
    near_duplicates(x, 0.95, threads=2)
    assert search(x, x[:9], 1, threads=2).indices.ravel().tolist() == list(range(9))

def work_on():
    while True:
        work()

for _ in range(3):
    threading.Thread(target=work_on, daemon=True).start()
# The first forks come while kernels are compiled, or loaded from the cache.
for number in range(25):
    child = get_context("fork").Process(target=work)
    child.start()
    child.join(20)
    if child.exitcode != 0:
        child.kill()
        print("process", number, "has hung or failed:", child.exitcode, flush=True)
        os._exit(1)
os._exit(0)
"""


@pytest.mark.slow("forks many processes")
def test_a_process_that_is_forked_among_searching_threads_works() -> None:
    # BLAS gets a pool of threads.
    variables = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", PROGRAM], env=variables, timeout=200, check=True)
