"""Test that results depend on the code and not on its comments."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from paraphrastic_pipeline.base import code_version as module

FILES = {
    "top.py": """\"\"\"Top.\"\"\"

from typing import TYPE_CHECKING

from paraphrastic.low import (
    f,
    other as another,
)

if TYPE_CHECKING:
    from paraphrastic.types import T

PROCESS = "paraphrastic.apart"
PAGE = "page.html"


def g(
    x: "T" = 0,
) -> int:
    \"\"\"G.

    More.
    \"\"\"
    from paraphrastic.late import h

    return f() + h() + another()
""",
    "low.py": """from paraphrastic import lowest

TEXT = \"\"\"
# A heading.
\"\"\"


def f():
    return lowest.value
""",
    "__init__.py": "",
    "late.py": "def h():\n    return 1\n",
    "lowest.py": "value = 1\n",
    "types.py": "T = int\n",
    "unused.py": "x = 1\n",
    "apart.py": "x = 1\n",
    "page.html": "<p>",
}
SCRIPT = '"""Run g."""\n\nfrom paraphrastic.top import g\n\ng()\n'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "paraphrastic"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "script.py").write_text(SCRIPT)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    start_anew()
    yield folder
    start_anew()


def start_anew() -> None:
    """Forget what this process knows of files, as a new process does."""
    for function in (module.code_version, module._parsed, module._path):
        function.cache_clear()


def versions(package: Path) -> dict[str, str]:
    start_anew()
    script = package / "script.py"
    return {
        "function": module.code_version("paraphrastic.top.g"),
        "script": module.code_version(script=script),
        "without": module.code_version(script=script, without=("paraphrastic.low",)),
    }


ALL, BOTH = {"function", "script", "without"}, {"function", "script"}


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("top.py", "Top.", "Something else.", set()),
        ("top.py", "More.", "Something else.\n\n    With more lines.", set()),
        ("top.py", "    return", "    # why\n\n    return", set()),
        ("top.py", "types import T", "types import T, S", set()),
        ("top.py", "+ another()", "- another()", ALL),
        ("top.py", "late import h", "unused import x as h", ALL),
        ("low.py", "lowest.value", "-lowest.value", BOTH),
        ("low.py", "A heading", "Another heading", BOTH),
        ("lowest.py", "1", "2", BOTH),
        ("late.py", "1", "2", ALL),
        ("types.py", "int", "float", set()),
        ("unused.py", "1", "2", set()),
        ("apart.py", "1", "2", ALL),
        ("page.html", "<p>", "<b>", ALL),
        ("script.py", "Run", "Runs", set()),
        ("script.py", "g()", "g(1)", {"script", "without"}),
    ],
)
def test_only_code_that_is_imported_counts(
    package: Path, file: str, old: str, new: str, changed: set[str]
) -> None:
    before, text = versions(package), (package / file).read_text()
    assert text.count(old) == 1
    (package / file).write_text(text.replace(old, new))
    after = versions(package)
    assert {name for name in before if before[name] != after[name]} == changed


def test_a_copy_of_the_project_has_the_same_versions(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = versions(package)
    package.parent.rename(tmp_path.with_name("copy"))
    monkeypatch.setattr(module, "ROOT", tmp_path.with_name("copy"))
    assert versions(tmp_path.with_name("copy") / "paraphrastic") == before
