"""A fixture that runs a Slurm of two nodes for the whole test session."""

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster

SCRIPT = Path(__file__).with_name("slurm_cluster.sh")
PORTS = 3


def free_port() -> int:
    """Return the first of `PORTS` consecutive ports on which nothing listens."""
    for first in range(16_800, 32_000, 10):
        sockets = [socket.socket() for _ in range(PORTS)]
        try:
            for number, one in enumerate(sockets):
                one.bind(("0.0.0.0", first + number))
        except OSError:
            continue
        else:
            return first
        finally:
            for one in sockets:
                one.close()
    raise AssertionError("no free ports")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    settings = os.environ | {"SLURM_TEST_PORT": str(free_port())}
    # Munge needs its socket in a folder that everybody can enter, and pytest's folders are private.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        start = subprocess.run(
            ["bash", SCRIPT, "start", folder],
            env=settings,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if start.returncode == 77:
            pytest.skip(f"Slurm is not installed: {start.stdout.strip()}")
        assert start.returncode == 0, start.stdout
        yield Cluster(Path(folder))
        subprocess.run(["bash", SCRIPT, "stop", folder], env=settings, check=True)
