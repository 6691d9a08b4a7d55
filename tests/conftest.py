"""Fixtures shared by all tests."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from pipelines import (
    MakeOnce,
    copy_pipeline,
    keep_compiled,
    snakemake_alone,
)

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests that are marked as slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # One process begins with the run of the sample, while the others have tests that need not wait for it.
    of_sample = [item for item in items if "finished_once" in getattr(item, "fixturenames", ())]
    first = next((item for item in of_sample if not any(item.iter_markers("slow"))), None)
    items.sort(key=lambda item: (item is not first, item in of_sample, item.path.parent.name == "unit"))
    import torch

    for item in items:
        if item.path.parent.name == "unit":
            # The tests of a file share its fixtures and imports, so one process runs them all.
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
        if not torch.cuda.is_available() and any(item.iter_markers("gpu")):
            item.add_marker(pytest.mark.skip(reason="no GPU: torch sees none"))
    if not config.getoption("--slow"):
        for item in items:
            for marker in item.iter_markers("slow"):
                item.add_marker(pytest.mark.skip(reason=f"slow, {marker.args[0]}: `make test-all` runs it"))


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with real data, sorted by address. Tests that need it are skipped if it is missing."""
    folder = Path(os.environ.get("PARAPHRASTIC_MIRROR", ROOT / ".." / "shared" / "mirror")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no real data: PARAPHRASTIC_MIRROR ({folder}) is not a folder")
    return folder


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with 100 kB of free space."""
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
def pipeline(tmp_path: Path) -> Iterator[Path]:
    """A copy of the pipeline in which nothing has run yet."""
    folder = copy_pipeline(tmp_path / "pipeline")
    yield folder
    keep_compiled(folder)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """Return a function that makes a folder of a given name once for all processes that run tests."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    # Tests on a cluster run after all others and use what these have made.
    root = Path(os.environ.get("PARAPHRASTIC_MADE", root))

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = root / name, root / f"{name}.done"
        with FileLock(root / f"{name}.lock"):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def finished_once(made_once: MakeOnce) -> Path:
    """A copy of the pipeline in which the run of the sample is finished."""

    def fill(folder: Path) -> None:
        copy_pipeline(folder / "pipeline")
        run = snakemake_alone(folder / "pipeline", "all", "paper_tables", "results/report.html")
        assert run.returncode == 0, run.stdout
        keep_compiled(folder / "pipeline")

    return made_once("sample", fill) / "pipeline"
