"""The record that every step leaves in its log: where and when it ran, on which files, with what code.

`report.provenance` follows these records from a result back to the data that it was made from. For tests,
a step can also log the files that it opens although its rule does not declare them.
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
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# The beginning of a record in a log; no other line begins like this.
MARK = "provenance: "

# The variable that turns on the log of undeclared files, the beginning of its lines, and the folders watched.
SWITCH = "PARAPHRASTIC_LIST_UNDECLARED"
UNDECLARED = "undeclared: "
_FOLDERS = ("config", "data", "resources", "results")

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
    """Log a record of a step if it succeeds: where and when it ran, on which files, with what code.

    The inputs have the names that the steps which made them used, the configuration is complete, and the code
    is that of `code_version`.
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
    """Commit of this code's checkout, with `-dirty` if it has changed since; None outside git."""
    git = shutil.which("git")
    if git is None:
        return None
    folder = Path(__file__).parent
    # Steps that run in parallel must not wait for each other's git lock.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    # First check that git tracks this file: a copy inside another repository is not at that one's commit.
    for arguments in (
        ["ls-files", "--error-unmatch", Path(__file__).name],
        ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
    ):
        command = [git, "-C", str(folder), *arguments]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
        if run.returncode != 0:
            return None
    return run.stdout.strip()


def config_digest(config: Mapping[str, Any]) -> str:
    """SHA-256 of a configuration; the order of its keys does not matter."""
    text = json.dumps(config, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def utc(seconds: float) -> str:
    """A time in seconds since 1970, as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _loaded() -> dict[str, str]:
    """Versions of the packages that this process has loaded."""
    versions = {}
    for name, module in sorted(sys.modules.items()):
        if "." in name or name.startswith("_") or name in sys.stdlib_module_names:
            continue
        # Some modules warn when they are asked, and those that import others lazily can fail.
        with suppress(Exception), warnings.catch_warnings(action="ignore"):
            version = getattr(module, "__version__", None)
            if isinstance(version, str) and version:
                versions[name] = version
    return versions


@contextmanager
def undeclared_logged(declared: Collection[str]) -> Iterator[None]:
    """Log each file that Python opens in the pipeline's folders although it is not `declared`.

    Names that begin with a dot are temporary. Python's audit events cover only files that Python itself
    opens, not those that DuckDB, Arrow and Polars open.
    """
    if not os.environ.get(SWITCH):
        yield
        return
    opened: set[Path] = set()

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            opened.add(Path(os.path.relpath(os.fsdecode(arguments[0]))))

    sys.addaudithook(note)
    yield
    for path in sorted(opened.copy()):
        is_temporary = any(part.startswith(".") for part in path.parts)
        if path.parts[:1] and path.parts[0] in _FOLDERS and not is_temporary and str(path) not in declared:
            _log.info("%s%s", UNDECLARED, path)
