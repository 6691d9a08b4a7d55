"""Files of steps, besides what `paraphrastic.base.files` has for the library."""

import json
import os
import re
import time
from bisect import bisect_left
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json

# Levels of lists and objects in a JSON text: more would overflow Python's stack somewhere.
MOST_LEVELS = 100
# Characters that no name has on any system: they lead to another folder, drive or stream, or are invisible.
_NO_NAME = re.compile(r"[/\\:\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LONGEST_PATH = 1024


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
