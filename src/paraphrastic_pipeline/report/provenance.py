"""Where the results of a run come from: code, configuration, packages and machine, written once for a run."""

import hashlib
import importlib.metadata
import json
import platform
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from paraphrastic.base.files import atomic_output, sha256, write_json


def write_provenance(
    provenance: str | Path, sums: str | Path, *, files: Iterable[str | Path], config: Mapping[str, Any]
) -> None:
    """Write the complete configuration with its digest and seed, and under `written` the rest, as JSON.

    `sums` is a text file for `sha256sum --check` with the digests of the results in `files`.
    """
    # Imported here, since rules import this module for the digest alone.
    from paraphrastic_pipeline.evaluation.speed import processor_name

    packages = {package.metadata["Name"]: package.version for package in importlib.metadata.distributions()}
    written = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "platform": platform.platform(),
        "processor": processor_name(),
        "commit": commit(),
        "python": platform.python_version(),
        "packages": dict(sorted(packages.items(), key=lambda item: item[0].lower())),
    }
    about = {"seed": config.get("seed"), "config": config, "config_digest": config_digest(config)}
    write_json(provenance, {"written": written, **about})
    with atomic_output(sums) as temporary:
        lines = [f"{sha256(Path(file))}  {file}\n" for file in (*files, provenance)]
        temporary.write_text("".join(lines), encoding="utf-8")


def config_digest(config: Mapping[str, Any]) -> str:
    """SHA-256 of a configuration; the order of its keys does not matter."""
    text = json.dumps(config, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def commit() -> str | None:
    """Commit of this code's checkout, with `-dirty` if it has changed since; None outside git."""
    git = shutil.which("git")
    if git is None:
        return None
    # First check that git tracks this file: a copy inside another repository is not at that one's commit.
    for arguments in (
        ["ls-files", "--error-unmatch", Path(__file__).name],
        ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
    ):
        command = [git, "--no-optional-locks", "-C", str(Path(__file__).parent), *arguments]
        run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if run.returncode != 0:
            return None
    return run.stdout.strip()
