"""Files that are either complete or absent, and their digests."""

import csv
import errno
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import tempfile
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.streams import is_stream, stream_output

# An object of JSON.
Json = dict[str, Any]

# The host and process in the name of a temporary file.
OWNER = f"{platform.node()}-{os.getpid()}"
# Causes for which a disk cannot be written, by error number.
_UNWRITABLE = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "no space left on the disk",
    errno.EROFS: "the disk is read-only",
    errno.EFBIG: "the file would be too large",
}


@contextmanager
def atomic_output(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and rename it to `path` once the block has succeeded.

    The temporary name is unique to the process. A run that was killed, or that still goes on unnoticed,
    therefore cannot spoil the file of the next run, which also removes what a killed process left behind.
    If the block raises, nothing is left. A full or read-only disk is an `InputError`. A link stays, and the
    file that it points to is replaced. A stream, see `is_stream`, gets the bytes of the file.
    """
    final = Path(path)
    if is_stream(final):
        with unwritable_named(final), stream_output(final) as stream, tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder, "file")
            yield temporary
            with temporary.open("rb") as written:
                shutil.copyfileobj(written, stream)
        return
    if final.is_symlink():
        final = Path(os.path.realpath(final))
    with unwritable_named(final):
        handle, name = tempfile.mkstemp(**_temporary_name(final))
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.chmod(0o666 & ~_umask())
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
        try:
            temporary = Path(tempfile.mkdtemp(**_temporary_name(final)))
        except OSError as error:
            raise InputError(f"{final}: cannot be written: {error.strerror}") from None
        try:
            yield temporary
            temporary.chmod(0o777 & ~_umask())
            temporary.replace(final)
        except InputError as error:
            # The user knows the folder by its final name.
            raise InputError(str(error).replace(str(temporary), str(final))) from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _temporary_name(final: Path) -> dict[str, Any]:
    """Arguments for `tempfile`: the folder, and the beginning and end of the name."""
    final.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(final.parent, f".{final.name}.")
    return {"dir": final.parent, "prefix": f".{final.name}.{OWNER}.", "suffix": ".tmp"}


def remove_leftovers(folder: Path, prefix: str) -> None:
    """Remove temporary files and folders `{prefix}{OWNER}.…` of processes of this host that have ended."""
    host = re.escape(platform.node())
    for path in folder.glob(f"{glob.escape(prefix)}*"):
        owner = re.match(rf"{re.escape(prefix)}{host}-(\d+)\.", path.name)
        if owner and not _is_running(int(owner[1])):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it runs, but belongs to another user
    return True


@contextmanager
def unwritable_named(path: str | Path) -> Iterator[None]:
    """Raise an `InputError` if the disk turns out to be full or read-only while `path` is written."""
    try:
        yield
    except Exception as error:
        if isinstance(error, InputError):
            raise
        # Libraries that are not written in Python raise their own exceptions, but quote the system's message.
        number, words = getattr(error, "errno", None), str(error)
        for known, cause in _UNWRITABLE.items():
            if known == number or os.strerror(known) in words:
                raise InputError(f"{path}: cannot be written: {cause}") from None
        raise


def end_future_times(*folders: str | Path) -> int:
    """Set files that are dated in the future to the present time, and return how many there were.

    After a clock has been set back, anything made from such files would seem older than the files themselves.
    The files keep their order in time.
    """
    now = time.time_ns()
    times: dict[Path, int] = {}
    for path in (path for folder in folders for path in Path(folder).rglob("*")):
        with suppress(FileNotFoundError):  # a temporary file may vanish while we look
            times[path] = path.stat().st_mtime_ns
    future = {path: moment for path, moment in times.items() if moment > now and path.is_file()}
    order = sorted(set(future.values()))
    for path, moment in future.items():
        present = now - 1000 * (len(order) - bisect_left(order, moment))
        with suppress(OSError):
            os.utime(path, ns=(present, present))
    return len(future)


def _umask() -> int:
    """Permission bits that this process withholds from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def sha256(path: str | Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as readable JSON; NaN and infinity raise a `ValueError`."""
    with atomic_output(path) as temporary:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; a missing or damaged one is an `InputError` that names it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{path}: not readable as JSON: {error}") from None


def write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV with a header, in UTF-8 and with LF line ends.

    A column that a row lacks stays empty, and keys that are not columns are left out.
    """
    with atomic_output(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path: str | Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file with a header; a missing or damaged one is an `InputError`."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, restval="", strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: not readable: {error}") from None
    if any(None in row for row in rows):
        raise InputError(f"{path}: a row has more entries than the header")
    return rows
