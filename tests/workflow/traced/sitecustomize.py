"""Note which functions of ours a step calls. Python imports this at its start if its path has the folder.

What runs while modules are imported does not count: definitions that nothing uses run, too.
"""

import atexit
import json
import os
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

_FOLDER, _STEP = "CALLED_FUNCTIONS", "CALLING_STEP"
_OPTIMIZED = 1  # the flag of the code of functions, which the code of modules and classes lacks
_called: set[tuple[str, str]] = set()
_importing: Counter[int] = Counter()


def _is_ours(file: str) -> bool:
    """Whether a file is code of ours, and no template, whose code has its name."""
    return "/src/paraphrastic" in file and file.endswith(".py")


def _look(frame: FrameType, event: str, _: object) -> None:
    code = frame.f_code
    if event not in ("call", "return") or not _is_ours(code.co_filename):
        return
    thread = threading.get_ident()
    if code.co_name == "<module>":
        _importing[thread] += 1 if event == "call" else -1
    elif event == "call" and not _importing[thread] and code.co_flags & _OPTIMIZED:
        # Functions without a name, such as lambdas of a table, belong to what uses them.
        if not code.co_qualname.startswith("<"):
            _called.add((code.co_filename, code.co_qualname))
        # The function of a step is the last one that its script calls; processes that it starts inherit its
        # name. Snakemake runs a copy of the script.
        if frame.f_back and "/.snakemake/scripts/" in frame.f_back.f_code.co_filename:
            module = frame.f_globals["__name__"].removeprefix("paraphrastic_pipeline.")
            os.environ[_STEP] = f"{module}:{code.co_name}"


def _write() -> None:
    sys.setprofile(None)
    if function := os.environ.get(_STEP):
        path = Path(os.environ[_FOLDER], f"{os.getpid()}.json")
        path.write_text(json.dumps([function, sorted(_called)]))


if _FOLDER in os.environ:
    sys.setprofile(_look)
    threading.setprofile(_look)
    atexit.register(_write)
