"""A version of the library's code, so that a result is rebuilt when its code changes, and only then."""

import ast
import hashlib
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
ROOT = PACKAGE.parent


def code_version(*modules: str, script: Path | None = None, without: Collection[str] = ()) -> str:
    """Digest of some code and of everything that it imports from the package, in 12 hexadecimal digits.

    Comments, layout and docstrings do not count. Neither does anything that a script imports from outside the
    package, such as the adapter beside it. A file that a module names, such as a page's template, counts if
    it lies beside the module.

    Args:
        modules: modules of the package.
        script: a file whose own code counts, along with the modules of the package that it imports.
        without: modules that the script imports but that no result depends on.

    Raises:
        ModuleNotFoundError: a name in `modules` or `without` is not a module of the package.
    """
    found = modules_of(*modules, script=script, without=without)
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n{_parse(path)[0]}\n".encode())
    if script:
        digest.update(_parse(script)[0].encode())
    return digest.hexdigest()[:12]


def modules_of(*modules: str, script: Path | None = None, without: Collection[str] = ()) -> set[Path]:
    """Files of the package that the modules and the script run; the arguments are those of `code_version`."""
    if unknown := [module for module in (*modules, *without) if _path(module) is None]:
        raise ModuleNotFoundError(unknown[0])
    left_out = set(map(_path, without))
    waiting = [path for path in map(_path, modules) if path]
    waiting += [path for path in (_parse(script)[1] if script else ()) if path not in left_out]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _parse(path)[1]
    return found


@cache
def _parse(path: Path) -> tuple[str, tuple[Path, ...]]:
    """A file's code without docstrings (the part that counts), and the package's files that it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    imported, beside = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"\w+(\.\w+)+", str(node.value)):
            imported.append(str(node.value))  # a module can be named, for example to run in its own process
            if (named := path.with_name(str(node.value))).is_file():
                beside.append(named.read_text(encoding="utf-8"))
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del node.body[0]
    paths = (_path(name) for name in imported)
    return "".join([ast.dump(tree), *beside]), tuple(path for path in paths if path)


def _path(module: str) -> Path | None:
    """File of a module of the package, or None if the name is not such a module."""
    if module.split(".")[0] != PACKAGE.name:
        return None
    base = ROOT.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
