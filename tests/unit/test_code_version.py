"""Test that results depend on the code and not on its comments."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraphrastic_pipeline.base import code_version as module

FILES = {
    "top.py": (
        '"""Top."""\nfrom paraphrastic.low import f\n\nPROCESS = "paraphrastic.apart"\n'
        'PAGE = "page.html"\n\n\ndef g():\n    """G."""\n    return f()\n'
    ),
    "low.py": (
        '"""Low."""\n\n\ndef f():\n    """F."""\n    return 1\n\n\n'
        'class C:\n    a = 1\n    """What a means."""\n    b = 2\n'
    ),
    "other.py": "x = 1\n",
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
    for function in (module._source, module._imports, module._path, module._kept, module._store):
        function.cache_clear()


def version(*modules: str) -> str:
    start_anew()
    return module.code_version(*modules)


@pytest.mark.parametrize(
    ("file", "text", "changes"),
    [
        ("top.py", FILES["top.py"].replace("G.", "Something else."), False),
        ("top.py", FILES["top.py"].replace("return", "# why\n    return"), False),
        ("top.py", FILES["top.py"].replace("return f()", "return f() + 1"), True),
        ("low.py", FILES["low.py"].replace("return 1", "return 2"), True),
        ("low.py", FILES["low.py"].replace("Low.", "Deep."), False),
        ("low.py", FILES["low.py"].replace("What a means.", "Something else."), False),
        ("low.py", FILES["low.py"].replace("a = 1", "a = 2"), True),
        ("other.py", "x = 2\n", False),
        ("apart.py", "x = 2\n", True),
        ("page.html", "<b>", True),
    ],
)
def test_only_code_that_is_used_counts(package: Path, file: str, text: str, changes: bool) -> None:
    before = version("paraphrastic.top")
    (package / file).write_text(text)
    assert (version("paraphrastic.top") != before) == changes


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
def test_what_a_script_imports_counts_unless_it_is_left_out(package: Path, file: str) -> None:
    script = package.parent / "script.py"
    script.write_text(SCRIPT)
    version()
    whole = module.code_version(script=script)
    without = module.code_version(script=script, without=["paraphrastic.top"])
    (package / file).write_text(FILES[file].replace("1", "2") + "\n\nchanged = True\n")
    start_anew()
    assert module.code_version(script=script) != whole
    assert module.code_version(script=script, without=["paraphrastic.top"]) == without


def test_an_unknown_module_is_an_error(package: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"paraphrastic\.nowhere"):
        version("paraphrastic.nowhere")
    with pytest.raises(ModuleNotFoundError, match=r"paraphrastic\.nowhere"):
        module.code_version(without=["paraphrastic.nowhere"])


def test_a_second_process_parses_only_what_has_changed(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    parse = module._parse
    monkeypatch.setattr(
        module, "_parse", lambda content, digest: parsed.append(content) or parse(content, digest)
    )
    first = version("paraphrastic.top")
    assert len(parsed) == 3
    assert version("paraphrastic.top") == first
    assert len(parsed) == 3
    (package / "low.py").write_text("y = 2\n")
    assert version("paraphrastic.top") != first
    assert parsed[3:] == [b"y = 2\n"]


def test_a_copy_of_the_project_parses_nothing(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = version("paraphrastic.top")
    copied = tmp_path / "copy"
    shutil.copytree(package, copied / "paraphrastic")
    monkeypatch.setattr(module, "ROOT", copied)
    monkeypatch.setattr(module, "_parse", None)
    assert version("paraphrastic.top") == first


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": [1]}'])
def test_a_damaged_store_is_made_anew(package: Path, content: str) -> None:
    first = version("paraphrastic.top")
    (store,) = (package / "__pycache__").iterdir()
    store.write_text(content)
    assert version("paraphrastic.top") == first
    assert version("paraphrastic.top") == first
