"""Copies of the pipeline to run, and one in which the sample's run is finished."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from faults import SETTINGS, TABLE, finish
from pipelines import MakeOnce, copy_pipeline


@pytest.fixture
def finished(finished_once: Path, tmp_path: Path) -> Path:
    """A copy of the pipeline with the finished run of the sample; tests may change it."""

    def copy(source: str, target: str) -> None:
        # A step replaces its outputs as a whole, so copies can share them. Logs are written in place.
        is_shared = source.startswith(f"{finished_once}/results/") and "/logs/" not in source
        (os.link if is_shared else shutil.copy2)(source, target)

    return Path(shutil.copytree(finished_once, tmp_path / "pipeline", copy_function=copy))


@pytest.fixture
def edit() -> Callable[[Path, str, str], None]:
    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace


@pytest.fixture(scope="session")
def undisturbed(made_once: MakeOnce) -> Path:
    """A copy of the pipeline with the finished small run that other tests disturb."""

    def fill(folder: Path) -> None:
        copy_pipeline(folder)
        (folder / "small.yaml").write_text(SETTINGS)
        finish(folder, TABLE)

    return made_once("undisturbed", fill)


@pytest.fixture
def small(undisturbed: Path, tmp_path: Path) -> Path:
    """A copy of the pipeline in which the small run has not started; its code is already compiled."""
    made = shutil.ignore_patterns("results", "resources", ".snakemake")
    return Path(shutil.copytree(undisturbed, tmp_path / "pipeline", ignore=made))
