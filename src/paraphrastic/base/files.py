"""Files that are either whole or not there, and their digests."""

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

# Who makes a temporary file, as its name says.
OWNER = f"{platform.node()}-{os.getpid()}"
# What a disk that cannot be written is called, by the system's number for it.
_UNWRITABLE = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "no space left on the disk",
    errno.EROFS: "the disk is read-only",
    errno.EFBIG: "the file would be too large",
}


@contextmanager
def atomic_output(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which takes the final name once the block has succeeded.

    The temporary name is unique to the process, so that a run which was killed, or one that goes on
    unseen, cannot spoil the next one's file; what a killed process left is removed by the next one.
    Nothing is left behind when the block raises; a full or read-only disk is an `InputError`. A device or a
    pipe, such as `/dev/null`, stays what it is: it is yielded itself; and a link stays one to what it names.
    """
    final = Path(path)
    if final.is_symlink():
        final = Path(os.path.realpath(final))
    if final.exists() and not (final.is_file() or final.is_dir()):
        with unwritable_named(final):
            yield final
        return
    with unwritable_named(final):
        final.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(final.parent, f".{final.name}.")
        prefix = f".{final.name}.{OWNER}."
        handle, name = tempfile.mkstemp(dir=final.parent, prefix=prefix, suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.chmod(0o666 & ~umask())
            temporary.replace(final)
        finally:
            temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path, prefix: str) -> None:
    """Remove temporary files and folders, `{prefix}{OWNER}.…`, of this host's processes that are no more."""
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
        pass  # somebody else's
    return True


@contextmanager
def unwritable_named(path: str | Path) -> Iterator[None]:
    """Turn a full or read-only disk, met while writing `path`, into an `InputError`."""
    try:
        yield
    except Exception as error:
        if isinstance(error, InputError):
            raise
        # Libraries that are not written in Python have exceptions of their own, but the system's words.
        number, words = getattr(error, "errno", None), str(error)
        for known, cause in _UNWRITABLE.items():
            if known == number or os.strerror(known) in words:
                raise InputError(f"{path}: cannot be written: {cause}") from None
        raise


def end_future_times(*folders: str | Path) -> int:
    """Give files whose time is yet to come the present time, and return their number.

    After a clock was moved back, what is made of such files would seem to be older than they are. Their order
    in time stays.
    """
    now = time.time_ns()
    times: dict[Path, int] = {}
    for path in (path for folder in folders for path in Path(folder).rglob("*")):
        with suppress(FileNotFoundError):  # a temporary file of a step that ends unseen
            times[path] = path.stat().st_mtime_ns
    future = {path: moment for path, moment in times.items() if moment > now and path.is_file()}
    order = sorted(set(future.values()))
    for path, moment in future.items():
        present = now - 1000 * (len(order) - bisect_left(order, moment))
        with suppress(OSError):
            os.utime(path, ns=(present, present))
    return len(future)


def umask() -> int:
    """Permissions that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def sha256(path: str | Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as readable JSON; NaN and infinity are errors, never written."""
    with atomic_output(path) as temporary:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; a damaged one is an `InputError` that names it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{path}: not readable as JSON: {error}") from None


def write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV with a header, in UTF-8 with LF.

    A column that a row lacks is left empty, and keys of a row that are not columns are left out.
    """
    with atomic_output(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path: str | Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file with a header; an `InputError` names one that is missing or damaged."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, restval="", strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: not readable: {error}") from None
    if any(None in row for row in rows):
        raise InputError(f"{path}: a row has more entries than the header")
    return rows
