"""A copy of the pipeline to run, and one in which the sample's run is finished."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def finished(finished_once: Path, tmp_path: Path) -> Path:
    """A copy in which the sample's run is finished, to change as one likes."""
    return Path(shutil.copytree(finished_once, tmp_path / "pipeline"))


@pytest.fixture
def edit() -> Callable[[Path, str, str], None]:
    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace
