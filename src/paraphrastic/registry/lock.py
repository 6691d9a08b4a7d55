"""The lock beside each download: `NAME.lock` has the digest that `NAME` had when it was first fetched.

Steps that read a download compare it with its lock, which needs no network.
"""

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic.registry.datasets import DOWNLOADS, RemoteFile

# The run's configuration files, where it has other ones than the default.
CONFIGFILES = "PARAPHRASTIC_CONFIGFILES"


def lock_path(download: str | Path) -> Path:
    """Where the lock of a download is."""
    return Path(f"{download}.lock")


def write_lock(download: str | Path, *, digest: str, address: str, version: str) -> None:
    """Record the digest of a download, the address that it came from, and its version in the registry."""
    size = Path(download).stat().st_size
    write_json(lock_path(download), {"sha256": digest, "address": address, "version": version, "size": size})


def expected_digest(file: RemoteFile, download: str | Path) -> str | None:
    """The sha256 that a file must have: the registry's, or that of its first download; None if unknown."""
    if file.sha256 is not None:
        return file.sha256
    lock = lock_path(download)
    if not lock.exists():
        return None
    digest, _, version = _read(lock)
    # The registry may have moved on to another version.
    return digest if version == file.version else None


def verify_downloads(paths: Iterable[str | Path]) -> None:
    """Check that the downloads among `paths` are as they were fetched, first by size, then by sha256.

    Raises:
        InputError: a download is damaged or has no lock; the message ends in the command that mends it.
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
    digest, size, _ = _read(lock)
    if (found := Path(download).stat().st_size) != size:
        return f"damaged: it has {found} bytes, and had {size} when it was fetched"
    if (actual := sha256(download)) != digest:
        return f"damaged: its sha256 is {actual}, and was {digest} when it was fetched"
    return None


def _read(lock: Path) -> tuple[str, int | None, str | None]:
    """Digest, size and version that a lock records."""
    record = read_json(lock)
    digest = record.get("sha256") if isinstance(record, dict) else None
    if not isinstance(digest, str):
        raise InputError(f"{lock}: has no sha256: delete it to accept the file as it is now")
    return digest, record.get("size"), record.get("version")
