"""A version of the library's code, so that a result is rebuilt when its code changes, and only then."""

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

# The folder of the packages whose code counts, and their names.
ROOT = Path(__file__).parents[2]
PACKAGES = ("paraphrastic", "paraphrastic_pipeline")


class _Source(NamedTuple):
    """What counts of a file: a digest of its code, and what the code names."""

    sha256: str
    code: str
    modules: list[str]
    files_beside: list[str]


def code_version(*modules: str, script: Path | None = None, without: Collection[str] = ()) -> str:
    """Digest of some code and of everything that it imports from our packages, in 12 hexadecimal digits.

    Comments, layout and docstrings do not count. Neither does anything that a script imports from outside our
    packages, such as the adapter beside it. A file that a module names, such as a page's template, counts if
    it lies beside the module.

    Args:
        modules: modules of our packages.
        script: a file whose own code counts, along with the modules of ours that it imports.
        without: modules that the script imports but that no result depends on.

    Raises:
        ModuleNotFoundError: a name in `modules` or `without` is not a module of ours.
    """
    files = modules_of(*modules, script=script, without=without)
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n{_source(path).code}\n".encode())
        for name in _source(path).files_beside:
            if path.with_name(name).is_file():
                digest.update(path.with_name(name).read_bytes())
    if script:
        digest.update(_source(script).code.encode())
    _keep({_key(path): _source(path) for path in (*files, *([script] if script else []))})
    return digest.hexdigest()[:12]


def modules_of(*modules: str, script: Path | None = None, without: Collection[str] = ()) -> set[Path]:
    """Our files that the modules and the script run; the arguments are those of `code_version`."""
    if unknown := [module for module in (*modules, *without) if _path(module) is None]:
        raise ModuleNotFoundError(unknown[0])
    left_out = set(map(_path, without))
    waiting = [path for path in map(_path, modules) if path]
    waiting += [path for path in (_imports(script) if script else ()) if path not in left_out]
    reached: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += _imports(path)
    return reached


@cache
def _imports(path: Path) -> list[Path]:
    """Our files that a file imports."""
    return [file for file in map(_path, _source(path).modules) if file]


@cache
def _source(path: Path) -> _Source:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    kept = _kept(_store()).get(_key(path))
    return kept if kept and kept.sha256 == digest else _parse(content, digest)


def _key(path: Path) -> str:
    """The name under which a file is kept, which is the same in a copy of the project."""
    return os.path.relpath(path, ROOT)


def _keep(sources: dict[str, _Source]) -> None:
    """Keep what was found of files, as long as their content is the same, beside Python's compiled files.

    Parsing all files takes two seconds, and Snakemake starts anew for every job on a cluster.
    """
    store = _store()
    if sources.items() <= _kept(store).items():
        return
    _kept(store).update(sources)
    with suppress(OSError):  # if the folder cannot be written, every process parses the files
        store.parent.mkdir(exist_ok=True)
        temporary = store.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(_kept(store)), encoding="utf-8")
        temporary.replace(store)


@cache
def _kept(store: Path) -> dict[str, _Source]:
    try:
        kept: dict[str, Any] = json.loads(store.read_bytes())
        return {path: _Source(*fields) for path, fields in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


@cache
def _store() -> Path:
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    return ROOT / PACKAGES[0] / "__pycache__" / f"code_version.{sys.implementation.cache_tag}-{version}.json"


def _parse(content: bytes, digest: str) -> _Source:
    tree = ast.parse(content)
    modules, files = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"\w+(\.\w+)+", str(node.value)):
            modules.append(str(node.value))  # a module can be named, for example to run in its own process
            files.append(str(node.value))
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            # Docstrings, also those of attributes.
            texts = [statement for statement in node.body if isinstance(statement, ast.Expr)]
            texts = [text for text in texts if isinstance(text.value, ast.Constant)]
            node.body = [statement for statement in node.body if statement not in texts]
    code = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return _Source(digest, code, [name for name in modules if name.split(".")[0] in PACKAGES], files)


@cache
def _path(module: str) -> Path | None:
    """File of a module of ours, or None if the name is not such a module."""
    if module.split(".")[0] not in PACKAGES:
        return None
    base = ROOT.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
