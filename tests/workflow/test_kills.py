"""Test that no half-written file counts after a kill, and that the run still ends in the same bytes."""

import os
import random
import signal
import time
from pathlib import Path

import psutil
import pytest
from faults import (
    ARGUMENTS,
    TABLE,
    differing,
    finish,
    finished_files,
    from_the_beginning,
    message,
    start,
    wait_for,
    workers,
)
from pipelines import planned, snakemake

pytestmark = pytest.mark.slow("kills the run at random moments")

# `PARAPHRASTIC_KILLS=20 PARAPHRASTIC_SEED=$RANDOM` asks for more, at other moments.
KILLS, SEED = (
    int(os.environ.get(f"PARAPHRASTIC_{name}", default)) for name, default in (("KILLS", 4), ("SEED", 1))
)
# The longest time before a kill, as a share of the whole run.
LONGEST = 0.15


@pytest.mark.timeout(1800)
def test_kills_end_in_the_same_bytes(undisturbed: Path, small: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    log = tmp_path / "log"
    began = [path.stat().st_mtime for path in (undisturbed / "results/logs").rglob("*.log")]
    longest = LONGEST * (max(began) - min(began))
    of_run = of_worker = 0
    while of_run + of_worker < KILLS or not (of_run and of_worker):
        run = start(small, log, TABLE)
        wait_for(lambda: "Execute " in log.read_text(), run)
        time.sleep(chance.uniform(0, longest))
        if chance.random() < 0.5:
            wait_for(lambda: workers(run), run)  # noqa: B023 - it is called at once
            if alive := workers(run):
                chance.choice(alive).kill()
            run.wait(timeout=600)
            if run.returncode != 0:
                of_worker += 1
                assert message("A step was killed").search(log.read_text()), log.read_text()
        elif run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            of_run += 1
            refused = snakemake(small, *ARGUMENTS, TABLE) if of_run == 1 else None
            assert refused is None or message("The folder is locked").search(refused.stdout)
            assert snakemake(small, "--unlock", *ARGUMENTS, TABLE).returncode == 0
        assert not differing(small, undisturbed)
        if run.returncode == 0:
            from_the_beginning(small)
    finish(small, TABLE)
    assert not differing(small, undisturbed)
    assert list(finished_files(small)) == list(finished_files(undisturbed))
    assert not list((small / "results").rglob("*.tmp"))
    assert planned(small, *ARGUMENTS, TABLE).rules == set()


def test_a_killed_worker_is_named_while_the_others_go_on(small: Path, tmp_path: Path) -> None:
    """The sweep has two runs, and the one that is not killed finishes."""
    finish(small, "results/datasets/fr/train.h5")
    log = tmp_path / "log"
    run = start(small, log, "results/models/fr/model.safetensors")
    wait_for(lambda: len(workers(run, "train_model")) == 2, run)
    psutil.Process(workers(run, "train_model")[0].pid).kill()
    assert run.wait(timeout=600) != 0
    assert "Error in rule train_model" in log.read_text()
    assert message("A step was killed").search(log.read_text()), log.read_text()
    assert len(list((small / "results/training/fr").glob("*/model.safetensors"))) == 1
    assert not (small / "results/models").exists()
