"""A version of a step's code, so that a result is made again when its code changes, and only then.

A step's code is the module of its function and the modules of our packages that it imports, directly or not,
at the top or inside functions. Docstrings, texts below fields, comments and what is imported for types alone
do not count.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

# The folder of the packages whose code counts.
ROOT = Path(__file__).parents[2]
# Blank lines, comments, texts that stand alone, and imports for types; other texts, in a group, are kept.
_NO_CODE = re.compile(
    r'^[ \t]*(?:#.*)?\n|^[ \t]*"""(?s:(?!""").)*"""\n|^if TYPE_CHECKING:\n(?:[ \t]+.*\n)+|("""(?s:.*?)""")',
    re.M,
)
_IMPORT = re.compile(r"^\s*(?:from|import) (paraphrastic\S*)(?: import (\([^)]*\)|.*))?$", re.M)
# A text that can name a module, which runs in its own process, or a file beside it, such as a template.
_TEXT = re.compile(r'"([\w-]+(?:\.[\w-]+)+)"')


@cache
def code_version(*names: str, without: tuple[str, ...] = ()) -> str:
    """Digest of code in 12 hexadecimal digits; the arguments are those of `files_of`."""
    files = sorted(files_of(*names, without=without))
    return hashlib.sha256("".join(_parsed(path)[0] for path in files).encode()).hexdigest()[:12]


def files_of(*names: str, without: tuple[str, ...] = ()) -> set[Path]:
    """The files of our packages that count for some modules or definitions in them.

    The modules in `without` do not count: no result depends on them, although they are imported.
    """
    found: set[Path] = set()
    waiting = [*names]
    left_out = {*map(_path, without), None}
    while waiting:
        path = _path(waiting.pop())
        if path and path not in found and path not in left_out:
            found.add(path)
            waiting += _parsed(path)[1]
    return found


@cache
def _parsed(path: Path) -> tuple[str, list[str]]:
    """A digest of what counts of a file, and the full names of what it imports."""
    code = _NO_CODE.sub(r"\1", path.read_text(encoding="utf-8"))
    texts = _TEXT.findall(code)
    names = [f"{module}.{name}" for module, of in _IMPORT.findall(code) for name in re.findall(r"\w+|$", of)]
    beside = [file.read_bytes() for file in map(path.with_name, texts) if file.is_file()]
    return hashlib.sha256(code.encode() + b"".join(beside)).hexdigest(), [*names, *texts]


@cache
def _path(name: str) -> Path | None:
    """The file of the module of ours that a full name stands for or begins with, if there is one."""
    base = ROOT.joinpath(*name.split("."))
    files = (base.with_suffix(".py"), base / "__init__.py")
    shorter = name.rpartition(".")[0]
    return next(filter(Path.is_file, files), None) or (_path(shorter) if shorter else None)
