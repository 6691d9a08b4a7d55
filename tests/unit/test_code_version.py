"""Test that results depend on the code and not on its comments."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from paraphrastic_pipeline.base import code_version as module

TOP = """\"\"\"Top.\"\"\"

from typing import TYPE_CHECKING

from paraphrastic.low import f, other as another

if TYPE_CHECKING:
    from paraphrastic.types import T

PROCESS = "paraphrastic.apart"
PAGE = "page.html"


def g(x: "T" = 0) -> int:
    \"\"\"G.

    More.
    \"\"\"
    from paraphrastic.late import h

    return f() + h() + another()
"""
FILES = {
    "top.py": TOP,
    "low.py": 'from paraphrastic import lowest\n\nTEXT = "# A heading."\nf = lambda: lowest.value\n',
    "__init__.py": "",
    "late.py": "def h():\n    return 1\n",
    "lowest.py": "value = 1\n",
    "types.py": "T = int\n",
    "unused.py": "x = 1\n",
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
    for function in (module.code_version, module._parsed, module._path):
        function.cache_clear()


def versions() -> dict[str, str]:
    start_anew()
    return {
        "all": module.code_version("paraphrastic.top.g"),
        "without": module.code_version("paraphrastic.top.g", without=("paraphrastic.low",)),
    }


ALL = {"all", "without"}


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("top.py", "Top.", "Something else.", set()),
        ("top.py", "    return", "    # why\n\n    return", set()),
        ("top.py", "+ another()", "- another()", ALL),
        ("top.py", "late import h", "unused import x as h", ALL),
        ("low.py", "lowest.value", "-lowest.value", {"all"}),
        ("low.py", "A heading", "Another heading", {"all"}),
        ("late.py", "1", "2", ALL),
        ("types.py", "int", "float", set()),
        ("unused.py", "1", "2", set()),
        ("apart.py", "1", "2", ALL),
        ("page.html", "<p>", "<b>", ALL),
    ],
)
def test_only_code_that_is_imported_counts(package: Path, file, old, new, changed) -> None:
    before, text = versions(), (package / file).read_text()
    assert text.count(old) == 1
    (package / file).write_text(text.replace(old, new))
    after = versions()
    assert {name for name in before if before[name] != after[name]} == changed
