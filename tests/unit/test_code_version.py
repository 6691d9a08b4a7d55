"""Test that results depend on the code and not on its comments."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paraphrastic_pipeline.base import code_version as module
from paraphrastic_pipeline.base.code_parts import Source, parse

FILES = {
    "top.py": """
'''Top.'''
from typing import TYPE_CHECKING
from math import floor as rounded
from paraphrastic.low import f
from paraphrastic import low as deep, lazy

if TYPE_CHECKING:
    from paraphrastic.types import T

PROCESS = "paraphrastic.apart"
PAGE = "page.html"
UNUSED = 1


def g(x: "T" = 0) -> int:
    '''G.'''
    from paraphrastic.late import h

    local: int = rounded(1.5)
    return f() + h() + deep.C.a + lazy() + len(PROCESS + PAGE) + local


def unused():
    return 1
""",
    "low.py": """
'''Low.'''
from paraphrastic.lowest import *  # names of no other module of ours
from paraphrastic.lowest import value as v

try:
    LIMIT = int("3")
except ValueError:
    LIMIT = 0
register = print
register("low")


def f():
    '''F.'''
    return v + LIMIT


class Base:
    c = 1


class C(Base):
    a: int = 1
    '''What a means.'''
    b = 2


class Other:
    a = 1
""",
    "__init__.py": """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paraphrastic.other import lazy


def __getattr__(name):
    return None
""",
    "other.py": "x = 1\n\n\ndef lazy():\n    return 1\n",
    "late.py": "def h():\n    return 1\n",
    "lowest.py": "value = 1\nunused = 1\n",
    "types.py": "T = int\n",
    "apart.py": "x = 1\n",
    "page.html": "<p>",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "paraphrastic"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    start_anew()
    yield folder
    start_anew()


def start_anew() -> None:
    """Forget what this process knows of files, as a new process does."""
    for function in (
        module.code_version,
        module._source,
        module._uses,
        module._resolve,
        module._path,
        module._store,
    ):
        function.cache_clear()


def version(*modules: str) -> str:
    start_anew()
    return module.code_version(*modules)


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("top.py", "G.", "Something else.", False),
        ("top.py", "return f", "# why\n    return f", False),
        ("top.py", '"T"', '"T | None"', False),
        ("top.py", ") -> int", ") -> float", False),
        ("top.py", "local: int", "local: float", False),
        ("top.py", "return f()", "return f() + 1", True),
        ("top.py", "x: ", "y: ", True),
        ("top.py", "UNUSED = 1", "UNUSED = 2", False),
        ("top.py", "return 1", "return 2", False),
        ("top.py", "floor as", "ceil as", True),
        ("top.py", "from paraphrastic.low import f", "from paraphrastic.low import Base as f", True),
        ("low.py", "Low.", "Deep.", False),
        ("low.py", "v + LIMIT", "v - LIMIT", True),
        ("low.py", "int(", "2 + int(", True),
        ("low.py", 'register("low")', 'register("high")', True),
        ("low.py", "value as v", "unused as v", True),
        ("low.py", "What a means.", "Something else.", False),
        ("low.py", "a: int = 1", "a: int = 2", True),
        ("low.py", "a: int", "a: float", True),
        ("low.py", "b = 2", "b = 3", True),
        ("low.py", "c = 1", "c = 2", True),
        ("low.py", "class Other:\n    a = 1", "class Other:\n    a = 2", False),
        ("lowest.py", "value = 1", "value = 2", True),
        ("lowest.py", "unused = 1", "unused = 2", False),
        ("late.py", "return 1", "return 2", True),
        ("other.py", "return 1", "return 2", True),
        ("other.py", "x = 1", "x = 2", False),
        ("types.py", "int", "float", False),
        ("apart.py", "1", "2", True),
        ("page.html", "<p>", "<b>", True),
    ],
)
def test_only_code_that_is_called_counts(package: Path, file: str, old: str, new: str, changes: bool) -> None:
    assert FILES[file].count(old) == 1
    before = version("paraphrastic.top.g")
    (package / file).write_text(FILES[file].replace(old, new))
    assert (version("paraphrastic.top.g") != before) == changes


def test_a_module_counts_as_a_whole(package: Path) -> None:
    before = version("paraphrastic.top")
    (package / "top.py").write_text(FILES["top.py"].replace("UNUSED = 1", "UNUSED = 2"))
    assert version("paraphrastic.top") != before


SCRIPT = '"""Run g."""\nfrom adapter import step\nfrom paraphrastic.top import g\n\ng()\n'


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("Run g.", "Runs g.", False),
        ("\n\ng()", "\n\n# why\ng()", False),
        ("g()", "g(1)", True),
        ("paraphrastic.top", "paraphrastic.other", True),
    ],
)
def test_a_script_counts_by_its_code(package: Path, old: str, new: str, changes: bool) -> None:
    script = package.parent / "script.py"
    script.write_text(SCRIPT)
    before = module.code_version(script=script)
    script.write_text(SCRIPT.replace(old, new))
    start_anew()
    assert (module.code_version(script=script) != before) == changes


@pytest.mark.parametrize("file", ["top.py", "low.py"])
def test_what_a_script_calls_counts_unless_it_is_left_out(package: Path, file: str) -> None:
    script = package.parent / "script.py"
    script.write_text(SCRIPT)
    version()
    whole = module.code_version(script=script)
    without = module.code_version(script=script, without=("paraphrastic.top",))
    (package / file).write_text(FILES[file].replace("return", "return 1 +"))
    start_anew()
    assert module.code_version(script=script) != whole
    assert module.code_version(script=script, without=("paraphrastic.top",)) == without


def test_an_unknown_module_is_an_error(package: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"paraphrastic\.nowhere"):
        version("paraphrastic.nowhere")
    with pytest.raises(ModuleNotFoundError, match=r"paraphrastic\.top\.nothing"):
        version("paraphrastic.top.nothing")
    with pytest.raises(ModuleNotFoundError, match=r"paraphrastic\.nowhere"):
        module.code_version(without=("paraphrastic.nowhere",))


def test_a_second_process_parses_only_what_has_changed(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []

    def noted(content: bytes, *others: Any) -> Source:
        parsed.append(content)
        return parse(content, *others)

    monkeypatch.setattr(module, "parse", noted)
    first = version("paraphrastic.top")
    count = len(parsed)
    assert version("paraphrastic.top") == first
    assert len(parsed) == count
    (package / "low.py").write_text("y = 2\n")
    assert version("paraphrastic.top") != first
    assert parsed[count:] == [b"y = 2\n"]


def test_a_copy_of_the_project_parses_nothing(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = version("paraphrastic.top")
    copied = tmp_path / "copy"
    shutil.copytree(package, copied / "paraphrastic")
    monkeypatch.setattr(module, "ROOT", copied)
    monkeypatch.setattr(module, "parse", None)
    assert version("paraphrastic.top") == first


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": [1]}'])
def test_a_damaged_store_is_made_anew(package: Path, content: str) -> None:
    first = version("paraphrastic.top")
    (store,) = (package / "__pycache__").iterdir()
    store.write_text(content)
    assert version("paraphrastic.top") == first
    assert version("paraphrastic.top") == first
