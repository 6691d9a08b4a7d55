"""Fixtures shared by all tests."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipelines import SampleRun, children_seconds, copy_pipeline, machine_slowness, snakemake

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with real data, laid out by address; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("PARAPHRASTIC_MIRROR", ROOT / ".." / "shared" / "mirror")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no real data: PARAPHRASTIC_MIRROR ({folder}) is not a folder")
    return folder


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk on which 100 kB are free."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", folder], check=False)
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    (folder / "ballast").write_bytes(bytes(200_000))
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A copy in which nothing has run."""
    return copy_pipeline(tmp_path / "pipeline")


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """The sample's run in a copy, with the processor time that it took."""
    folder = copy_pipeline(tmp_path_factory.mktemp("finished") / "pipeline")
    slowness, started = machine_slowness(), children_seconds()
    run = snakemake(folder, *SampleRun.TARGETS)
    seconds = children_seconds() - started
    assert run.returncode == 0, run.stdout
    return SampleRun(folder, seconds, (slowness + machine_slowness()) / 2)


@pytest.fixture(scope="session")
def finished_once(sample_run: SampleRun) -> Path:
    return sample_run.folder
