"""A Slurm that runs for the tests, and the commands with which they use it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pipelines import Run, environment


@dataclass(frozen=True)
class Cluster:
    """A running Slurm; its commands are in `folder`/bin."""

    folder: Path

    def environment(self) -> dict[str, str]:
        programs = f"{self.folder}/bin:{Path(sys.executable).parent}"
        return {**environment(), "PATH": f"{programs}:{os.environ['PATH']}"}

    def run(self, *command: str | Path, cwd: Path | None = None) -> Run:
        """Run a command; its output and errors come back as one text."""
        return subprocess.run(
            command,
            cwd=cwd,
            env=self.environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=900,
            check=False,
        )

    def queue(self, states: str) -> list[str]:
        """Return the folders from which the jobs in these states were submitted."""
        return self.run("squeue", "--noheader", "--states", states, "--format", "%Z").stdout.splitlines()

    def ended(self, folder: Path) -> list[dict[str, str]]:
        """Return Slurm's records of the finished jobs that were submitted from `folder`."""
        log = self.folder / "log" / "jobcomp.log"
        entries = [
            dict(word.split("=", 1) for word in line.split() if "=" in word)
            for line in (log.read_text().splitlines() if log.exists() else [])
        ]
        return [entry for entry in entries if entry["WorkDir"] == str(folder)]
