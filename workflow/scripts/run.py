"""Run any step: call the function that its rule names, with the rule's named files and parameters."""

import gc
import sys
from pathlib import Path

# Libraries make hundreds of thousands of objects that stay, among which Python would look for garbage again
# and again, for up to half a second. `step` turns this on again.
gc.disable()

# Use this checkout's library, whatever the environment of the job has.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from paraphrastic_pipeline.base.functions import function_of  # noqa: E402
from paraphrastic_pipeline.workflow.functions import arguments_of  # noqa: E402
from paraphrastic_pipeline.workflow.step import step  # noqa: E402

function = function_of(snakemake.params.function)
with step(snakemake):
    function(**arguments_of(snakemake, function))
