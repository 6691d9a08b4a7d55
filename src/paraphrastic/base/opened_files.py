"""Which files of the pipeline a step opens although its rule does not name them, for a test to look at."""

import logging
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# The variable that turns the look-out on, and what begins a line of the log on a file that it finds.
SWITCH = "PARAPHRASTIC_LIST_UNDECLARED"
MARK = "undeclared: "
_FOLDERS = ("config", "data", "resources", "results")

_log = logging.getLogger(__name__)


@contextmanager
def undeclared_logged(declared: Collection[str]) -> Iterator[None]:
    """Log each file that Python opens in the pipeline's folders and that is not `declared`.

    Files with a dot in front are temporary; a download's lock belongs to the download. Python's audit events
    tell only of files that Python itself opens: not of those that DuckDB, Arrow and Polars open.
    """
    if not os.environ.get(SWITCH):
        yield
        return
    allowed = {*declared, *(f"{path}.lock" for path in declared)}
    opened: set[Path] = set()

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            opened.add(Path(os.path.relpath(os.fsdecode(arguments[0]))))

    sys.addaudithook(note)
    yield
    for path in sorted(opened.copy()):
        is_temporary = any(part.startswith(".") for part in path.parts)
        if path.parts[:1] and path.parts[0] in _FOLDERS and not is_temporary and str(path) not in allowed:
            _log.info("%s%s", MARK, path)
