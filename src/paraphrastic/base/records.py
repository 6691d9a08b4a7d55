"""The record that every step leaves in its log: where and when it ran, on which files, with what code.

`report.provenance` follows these records from a result back to the data that it was made of.
"""

import hashlib
import json
import logging
import os
import platform
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

# What a record begins with in a log; no other line has it.
MARK = "provenance: "

_log = logging.getLogger(__name__)


@contextmanager
def recorded(
    step: str,
    *,
    inputs: Sequence[str],
    outputs: Sequence[str],
    config: Mapping[str, Any],
    code: str | None = None,
) -> Iterator[None]:
    """Log a record of a step that succeeds: where and when it ran, on which files, with what code.

    Args:
        step: its name.
        inputs: files that it reads, as the steps that made them named them.
        outputs: files that it makes.
        config: the complete configuration.
        code: the version of the code that it runs, see `code_version`.
    """
    started = time.time()
    yield
    record = {
        "step": step,
        "host": platform.node(),
        "time": utc(started),
        "seconds": round(time.time() - started, 2),
        "commit": commit(),
        "code": code,
        "config": config_digest(config),
        "seed": config.get("seed"),
        "environment": {"python": platform.python_version(), "packages": _loaded()},
        "inputs": list(dict.fromkeys(inputs)),
        "outputs": list(outputs),
    }
    _log.info("%s%s", MARK, json.dumps(record, ensure_ascii=False))


def commit() -> str | None:
    """Commit of the checkout that this code is of, `-dirty` where it was changed since; None outside git."""
    git = shutil.which("git")
    if git is None:
        return None
    folder = Path(__file__).parent
    # A copy inside somebody else's repository is not at that repository's commit.
    for arguments in (
        ["ls-files", "--error-unmatch", Path(__file__).name],
        ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
    ):
        command = [git, "-C", str(folder), *arguments]
        run = subprocess.run(  # noqa: S603 - no shell
            command,
            capture_output=True,
            text=True,
            check=False,
            # Steps side by side must not wait for each other.
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
        if run.returncode != 0:
            return None
    return run.stdout.strip()


def config_digest(config: Mapping[str, Any]) -> str:
    """SHA-256 of a configuration, whatever the order of its keys."""
    text = json.dumps(config, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def utc(seconds: float) -> str:
    """A time in seconds since 1970, as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _loaded() -> dict[str, str]:
    """Versions of the packages that this process has loaded."""
    versions = {
        name: _version(module)
        for name, module in list(sys.modules.items())
        if "." not in name and not name.startswith("_") and name not in sys.stdlib_module_names
    }
    return {name: version for name, version in sorted(versions.items()) if version}


def _version(module: ModuleType) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some would rather be asked otherwise
            version = getattr(module, "__version__", None)
    except Exception:
        return None  # modules that import others when they are asked can fail in any way
    return version if isinstance(version, str) else None
