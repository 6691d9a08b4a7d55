"""The lock beside each download: `NAME.lock` holds the digest of `NAME` from when it was first fetched.

Steps that read a download compare it with its lock, without needing the network.
"""

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic_pipeline.registry.datasets import DOWNLOADS, RemoteFile

# The variable with the run's configuration files, if they are not the default ones.
CONFIGFILES = "PARAPHRASTIC_CONFIGFILES"


def lock_path(download: str | Path) -> Path:
    """Path of a download's lock."""
    return Path(f"{download}.lock")


def write_lock(download: str | Path, *, digest: str, address: str, version: str) -> None:
    """Record the digest of a download, the address that it came from, and its version in the registry."""
    size = Path(download).stat().st_size
    write_json(lock_path(download), {"sha256": digest, "address": address, "version": version, "size": size})


def expected_digest(file: RemoteFile, download: str | Path) -> str | None:
    """The sha256 that a file must have, from the registry or its first download; None if unknown."""
    if file.sha256 is not None:
        return file.sha256
    lock = lock_path(download)
    if not lock.exists():
        return None
    record = _read(lock)
    # The lock does not count if the registry has moved on to another version.
    return record["sha256"] if record.get("version") == file.version else None


def verify_downloads(paths: Iterable[str | Path]) -> None:
    """Check by size and then by sha256 that the downloads among `paths` are unchanged since the fetch.

    Raises:
        InputError: a download is damaged or has no lock; the message ends with the command that repairs it.
    """
    for path in dict.fromkeys(map(str, paths)):
        if path.startswith(f"{DOWNLOADS}/") and (damage := _damage(path)):
            configfiles = os.environ.get(CONFIGFILES, "").split("\n")
            options = ["--configfile", *configfiles] if configfiles != [""] else []
            command = shlex.join(["snakemake", "--cores", "1", *options, "--force", path])
            raise InputError(f"{path}: {damage}; to fetch it again: {command}")


def _damage(download: str) -> str | None:
    lock = lock_path(download)
    if not lock.exists():
        return f"cannot be verified, because {lock} is missing"
    record = _read(lock)
    if (size := Path(download).stat().st_size) != record.get("size"):
        return f"damaged: it has {size} bytes, and had {record.get('size')} when it was fetched"
    if (actual := sha256(download)) != record["sha256"]:
        return f"damaged: its sha256 is {actual}, and was {record['sha256']} when it was fetched"
    return None


def _read(lock: Path) -> dict[str, Any]:
    record = read_json(lock)
    if not isinstance(record, dict) or not isinstance(record.get("sha256"), str):
        raise InputError(f"{lock}: has no sha256: delete it to accept the file as it is now")
    return record
