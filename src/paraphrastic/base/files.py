"""Files that are either complete or absent, and their digests."""

import errno
import glob
import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import tempfile
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.streams import is_stream, stream_output

# An object of JSON.
Json = dict[str, Any]

# The host and process in the name of a temporary file.
OWNER = f"{platform.node()}-{os.getpid()}"
# Levels of lists and objects in a JSON text: more would overflow Python's stack somewhere.
MOST_LEVELS = 100
# They stand for bytes of a name that are not UTF-8. Only escaped can they be part of a file.
_SURROGATES = re.compile("[\ud800-\udfff]")
# Causes for which a disk cannot be written, by error number.
_UNWRITABLE = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "no space left on the disk",
    errno.EROFS: "the disk is read-only",
    errno.EFBIG: "the file would be too large",
}
# Characters that no name has on any system: they lead to another folder, drive or stream, or are invisible.
_NO_NAME = re.compile(r"[/\\:\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LONGEST_PATH = 1024


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
        if final.is_symlink():
            raise InputError(f"{path}: cannot be written: it is a link that leads to itself")
    with unwritable_named(final):
        temporary = _temporary_beside(final)
        # The system gives the permissions of any new file, which the writer may then replace by another one.
        # Nobody can ask for the umask without changing it for all threads.
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
        try:
            temporary = _temporary_beside(final)
            temporary.mkdir()
        except OSError as error:
            raise InputError(f"{final}: cannot be written: {error.strerror}") from None
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
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    if _SURROGATES.search(text):
        text = json.dumps(value, indent=2)
    return text + "\n"


def is_plain_name(name: str) -> bool:
    """Whether a name from a file is that of a file in a folder, and leads nowhere else."""
    return (
        name not in ("", ".", "..")
        and len(name.encode(errors="replace")) <= 255
        and not _NO_NAME.search(name)
    )


def is_plain_path(path: str) -> bool:
    """Whether a path from a file, with `/` between names, leads to a file in a folder or below it."""
    return len(path) <= _LONGEST_PATH and all(map(is_plain_name, path.split("/")))


def read_json(path: str | Path) -> Any:
    """Read a JSON file.

    Raises:
        InputError: the file is missing or damaged, or an object in it has a key twice, which programs read
            differently.
    """
    try:
        return parse_json(Path(path).read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: not readable as JSON: {error}") from None


def read_json_lines(path: str | Path) -> list[Any]:
    """Read a file of JSON texts, one per line; a missing or damaged one is an `InputError` that names it."""
    try:
        return [*map(parse_json, Path(path).read_text(encoding="utf-8").splitlines())]
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: not readable as lines of JSON: {error}") from None


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: the text is not JSON, is nested more than `MOST_LEVELS` deep, or has an object with a key
            twice, which programs read differently.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise _too_deep() from None
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(MOST_LEVELS):
        lists = (container.values() if isinstance(container, dict) else container for container in level)
        if not (level := [item for values in lists for item in values if isinstance(item, list | dict)]):
            return value
    raise _too_deep()


def _object(pairs: list[tuple[str, Any]]) -> Json:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"an object has the key {twice[:60]!r} twice")
    return content


def _too_deep() -> ValueError:
    return ValueError(f"lists and objects are nested more than {MOST_LEVELS} deep")
