"""What every script imports first: this checkout's library, whatever the environment of its job has."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from paraphrastic.pipeline.step import step

__all__ = ["step"]
