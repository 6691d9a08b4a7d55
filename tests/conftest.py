"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with real data, laid out by address; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("PARAPHRASTIC_MIRROR", ROOT / ".." / "shared" / "mirror")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no real data: PARAPHRASTIC_MIRROR ({folder}) is not a folder")
    return folder
