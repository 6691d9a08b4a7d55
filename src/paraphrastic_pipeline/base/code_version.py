"""A version of the library's code, so that a result is rebuilt when its code changes, and only then.

What counts is what a step can call: the functions, classes and constants that its code names, those that
these name, and so on. The rest of their modules does not count, nor does what is imported for types alone.
"""

import hashlib
import json
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from paraphrastic_pipeline.base.code_parts import ALWAYS, Source, parse

# The folder of the packages whose code counts, and their names.
ROOT = Path(__file__).parents[2]
PACKAGES = ("paraphrastic", "paraphrastic_pipeline")


@cache
def code_version(*names: str, script: Path | None = None, without: tuple[str, ...] = ()) -> str:
    """Digest of some code and of everything of our packages that it can call, in 12 hexadecimal digits.

    Comments, layout, docstrings and the types of arguments do not count. Neither does anything that a script
    imports from outside our packages, such as the adapter beside it. A file that the code names, such as a
    page's template, counts if it lies beside the module.

    Args:
        names: modules of our packages, or what they define, such as `package.module.function`.
        script: a file whose own code counts, along with what it calls.
        without: modules that the code calls but that no result depends on.

    Raises:
        ModuleNotFoundError: a name in `names` or `without` is not in a module of ours.
    """
    reached = parts_of(*names, script=script, without=without)
    digest = hashlib.sha256()
    for path in sorted(reached):
        for name in sorted(reached[path]):
            part = _source(path).parts[name]
            digest.update(f"{_key(path)}\n{name}\n{part.code}\n".encode())
            for file in _files_beside(path, part.texts):
                digest.update(file.read_bytes())
    if script:
        digest.update("\n".join(part.code for part in _source(script).parts.values()).encode())
    _store().keep()
    return digest.hexdigest()[:12]


def parts_of(*names: str, script: Path | None = None, without: Collection[str] = ()) -> dict[Path, set[str]]:
    """What counts of our files, by the names that they define; the arguments are those of `code_version`.

    `ALWAYS` stands for the statements of a module that define nothing.
    """
    if unknown := [name for name in (*names, *without) if _path(name) is None and not _defined(name)]:
        raise ModuleNotFoundError(unknown[0])
    left_out = {_path(module) for module in without}
    waiting = [part for name in names for part in _resolve(name)]
    if script:
        waiting += [part for name in _source(script).parts for part in _uses(script, "", name)]
    reached: dict[Path, set[str]] = {}
    while waiting:
        module, name = waiting.pop()
        path = _path(module)
        if path is None or path in left_out or name in reached.get(path, ()):
            continue
        if path not in reached:
            reached[path] = set()
            waiting += _run_on_import(module)
        reached[path].add(name)
        waiting += _uses(path, module, name)
    return reached


def _run_on_import(module: str) -> Iterator[tuple[str, str]]:
    """The statements that run when a module is imported, its packages' included."""
    levels = module.split(".")
    for length in range(1, len(levels) + 1):
        name = ".".join(levels[:length])
        if (path := _path(name)) and ALWAYS in _source(path).parts:
            yield name, ALWAYS


@cache
def _uses(path: Path, module: str, name: str) -> list[tuple[str, str]]:
    """The parts of our modules that a part of a file names; a script has no name of a module."""
    part = _source(path).parts[name]
    here = [(module, name[1:]) for name in part.uses if name.startswith(".")] if module else []
    return here + [found for name in (*part.uses, *part.texts) for found in _resolve(name)]


@cache
def _resolve(name: str) -> tuple[tuple[str, str], ...]:
    """The module and the part of it that a full name such as `package.module.function` stands for.

    A module that is named as a whole, or asked for what it does not define, counts as a whole.
    """
    levels = name.split(".")
    lengths = range(len(levels), 0, -1) if levels[0] in PACKAGES else ()
    modules = (".".join(levels[:length]) for length in lengths)
    module = next((module for module in modules if _path(module)), None)
    path = _path(module) if module else None
    if module is None or path is None:
        return ()
    source = _source(path)
    defined, *attributes = levels[module.count(".") + 1 :] or [""]
    if defined in source.parts and defined != ALWAYS:
        return ((module, defined),)
    if imported := source.imports.get(defined):
        return _resolve(".".join([imported, *attributes]))
    if defined.startswith("__"):
        return ()
    return tuple((module, part) for part in source.parts)


def _defined(name: str) -> bool:
    """Whether a full name stands for something that a module of ours defines."""
    module, _, part = name.rpartition(".")
    path = _path(module) if module else None
    return path is not None and part in _source(path).parts


def _files_beside(path: Path, texts: Collection[str]) -> list[Path]:
    return [file for file in map(path.with_name, texts) if file.is_file()]


@cache
def _source(path: Path) -> Source:
    return _store().source(path)


def _key(path: Path) -> str:
    """The name under which a file is kept, which is the same in a copy of the project."""
    return os.path.relpath(path, ROOT)


class _Store:
    """What was found of files, kept beside Python's compiled files as long as their content is the same.

    Parsing all files takes two seconds, and Snakemake starts anew for every job on a cluster.
    """

    def __init__(self) -> None:
        code = (Path(__file__), Path(__file__).with_name("code_parts.py"))
        version = hashlib.sha256(b"".join(path.read_bytes() for path in code)).hexdigest()[:8]
        name = f"code_version.{sys.implementation.cache_tag}-{version}.json"
        self._file = ROOT / PACKAGES[0] / "__pycache__" / name
        self._is_new = False
        try:
            kept: dict[str, Any] = json.loads(self._file.read_bytes())
            self._sources = {path: Source.of_json(fields) for path, fields in kept.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self._sources = {}

    def source(self, path: Path) -> Source:
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        kept = self._sources.get(_key(path))
        if kept is None or kept.sha256 != digest:
            kept = self._sources[_key(path)] = parse(content, digest, PACKAGES)
            self._is_new = True
        return kept

    def keep(self) -> None:
        if not self._is_new:
            return
        self._is_new = False
        with suppress(OSError):  # if the folder cannot be written, every process parses the files
            self._file.parent.mkdir(exist_ok=True)
            temporary = self._file.with_suffix(f".{os.getpid()}")
            temporary.write_text(json.dumps(self._sources), encoding="utf-8")
            temporary.replace(self._file)


@cache
def _store() -> _Store:
    return _Store()


@cache
def _path(module: str) -> Path | None:
    """File of a module of ours, or None if the name is not such a module."""
    if module.split(".")[0] not in PACKAGES:
        return None
    base = ROOT.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
