"""Files that are either complete or absent, JSON, and digests."""

import errno
import hashlib
import json
import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError

# An object of JSON.
Json = dict[str, Any]

# The host and process in the name of a temporary file.
OWNER = f"{platform.node()}-{os.getpid()}"
# Causes for which a disk cannot be written. Libraries that are not written in Python quote their messages.
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)


@contextmanager
def atomic_output(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and rename it to `path` once the block has succeeded.

    If the block raises, nothing is left; what a killed process left, the next one removes. A link stays, and
    the file that it points to is replaced. What is no regular file, such as a pipe, is yielded as it is.

    Raises:
        InputError: the disk is full or read-only.
    """
    final = Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)
    if final.exists() and not final.is_file():
        yield final
        return
    with unwritable_named(path):
        temporary = _temporary_beside(final)
        # The system gives the permissions of a new file, which the writer may replace by another one.
        temporary.touch(exist_ok=False)
        permissions = temporary.stat().st_mode & 0o777
        try:
            yield temporary
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.chmod(permissions)
            temporary.replace(final)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `path` on success; if the block raises, nothing is left.

    Raises:
        InputError: `path` exists and is not an empty folder, or the folder cannot be written.
    """
    final = Path(path)
    if final.exists() and not (final.is_dir() and not any(final.iterdir())):
        raise InputError(f"{final}: already exists and is not an empty folder")
    with unwritable_named(final):
        temporary = _temporary_beside(final)
        temporary.mkdir()
        try:
            yield temporary
            temporary.replace(final)
        except InputError as error:
            # The user knows the folder by its final name.
            raise InputError(str(error).replace(str(temporary), str(final))) from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _temporary_beside(final: Path) -> Path:
    """A new name in the folder of `final`, which is made, and from which leftovers are removed."""
    final.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(final.parent, f".{final.name}.")
    return final.parent / f".{final.name}.{OWNER}.{secrets.token_hex(4)}.tmp"


def remove_leftovers(folder: Path, prefix: str) -> None:
    """Remove temporary files and folders `{prefix}{OWNER}.…` of processes of this host that have ended."""
    named = re.compile(rf"{re.escape(prefix + platform.node())}-(\d+)\.")
    for path in folder.iterdir():
        if (owner := named.match(path.name)) and not Path(f"/proc/{owner[1]}").exists():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


@contextmanager
def unwritable_named(path: str | Path) -> Iterator[None]:
    """Raise an `InputError` if the disk turns out to be full or read-only while `path` is written."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        number, words = getattr(error, "errno", None), str(error)
        for known in _UNWRITABLE:
            if known == number or os.strerror(known) in words:
                raise InputError(f"{path}: cannot be written: {os.strerror(known)}") from None
        raise


def sha256(path: str | Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as `json_text` has it."""
    with atomic_output(path) as temporary:
        temporary.write_text(json_text(value), encoding="utf-8")


def json_text(value: Any) -> str:
    """`value` as readable JSON with a newline at its end; NaN and infinity raise a `ValueError`."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    # Surrogates stand for bytes of a file name that are not UTF-8. Only escaped can they be in a file.
    return re.sub("[\ud800-\udfff]", lambda each: json.dumps(each[0])[1:-1], text)


def read_json(path: str | Path) -> Any:
    """Read a JSON file; a missing or damaged one is an `InputError` that names it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{path}: not readable as JSON: {error}") from None
