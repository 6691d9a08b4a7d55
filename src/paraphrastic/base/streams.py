"""Standard streams, which may be closed or full, and devices, pipes and descriptors in place of files."""

import io
import os
import re
import sys
from pathlib import Path
from typing import Any, BinaryIO

from paraphrastic.base.errors import InputError

# Where the descriptors of a process are, once links are followed.
_DESCRIPTORS = re.compile(r"/proc/\d+(?:/task/\d+)?/fd|/dev/fd")


def prepare_streams(*, results: bool) -> None:
    """Let a program begin, in which lost messages do no harm and lost results are errors.

    Otherwise, the first file that is opened would become the standard error of a program that was started
    without one, and libraries would write their messages into it.

    Args:
        results: whether results go to standard output.
    """
    while (held := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(held, True)
    os.close(held)
    if sys.stdout is None:
        sys.stdout = _ClosedOutput() if results else open(os.devnull, "w")  # noqa: SIM115, PTH123
    # A test that has put something in place of the stream keeps it.
    if sys.stderr is sys.__stderr__:
        raw = io.BufferedWriter(_Messages(2, "w", closefd=False))
        encoding = getattr(sys.stderr, "encoding", None)
        sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", line_buffering=True)


def is_stream(path: str | Path) -> bool:
    """Whether a path leads to a device, a pipe or a descriptor, which takes bytes and is never replaced."""
    place = Path(path)
    is_special = place.exists() and not (place.is_file() or place.is_dir())
    return is_special or _descriptor(place) is not None


def stream_output(path: str | Path) -> BinaryIO:
    """Open a stream for writing after what is already there; an `OSError` if that is impossible."""
    descriptor = own_descriptor(path)
    try:
        # A descriptor that is opened anew begins at the start of its file.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND) if descriptor is None else os.dup(descriptor)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    return os.fdopen(handle, "wb")


def own_descriptor(path: str | Path) -> int | None:
    """The descriptor of this process that a path such as `/dev/stdout` leads to; None if it leads elsewhere.

    Raises:
        InputError: it is a standard stream that was closed when the program began.
    """
    name = _descriptor(Path(path))
    if name is None or not any(map(name.is_relative_to, (os.path.realpath("/proc/self"), "/dev/fd"))):
        return None
    descriptor = int(name.name)
    streams = {0: ("input", sys.__stdin__), 1: ("output", sys.__stdout__), 2: ("error", sys.__stderr__)}
    if descriptor in streams and streams[descriptor][1] is None:
        raise InputError(f"standard {streams[descriptor][0]} is closed")
    return descriptor


def _descriptor(path: Path) -> Path | None:
    """The descriptor that a path leads to, such as `/proc/17/fd/1` for `/dev/stdout`; None if it does not."""
    for _ in range(40):  # as many links as Linux follows
        folder = os.path.realpath(path.parent)
        if _DESCRIPTORS.fullmatch(folder) and path.name.isdecimal():
            return Path(folder, path.name)
        if not path.is_symlink():
            break
        path = Path(folder, path.readlink())
    return None


class _Messages(io.FileIO):
    """Loses what it cannot write, because no result depends on it."""

    def write(self, data: Any) -> int:
        try:
            # A stream that would block takes nothing.
            written = super().write(data)
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written


class _ClosedOutput(io.TextIOBase):
    """Refuses results that Python itself would lose without a word."""

    def write(self, _: str) -> int:
        raise InputError("standard output is closed")

    @property
    def buffer(self) -> BinaryIO:
        """Also refused at once, so that no work is lost."""
        raise InputError("standard output is closed")
