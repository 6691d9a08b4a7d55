"""Every script imports this first, to use this checkout's library whatever its job's environment has."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from paraphrastic_pipeline.workflow.step import step

__all__ = ["step"]
