"""Every script imports this first, to use this checkout's library whatever its job's environment has."""

import gc
import sys
from pathlib import Path

# Libraries make hundreds of thousands of objects that stay, among which Python would look for garbage again
# and again, for up to half a second. `step` turns this on again.
gc.disable()

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from paraphrastic_pipeline.workflow.functions import function_of, paths  # noqa: E402
from paraphrastic_pipeline.workflow.step import step  # noqa: E402

__all__ = ["function_of", "paths", "step"]
