"""What a job hands to the function that its rule names."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

# Parameters for Snakemake alone: the function's name, the version of its code, and whatever else makes the
# step run again.
FOR_SNAKEMAKE = {"function", "code", "version"}


def arguments_of(job: Any, function: Callable[..., Any]) -> dict[str, Any]:
    """Return a job's arguments by name.

    These are the rule's named inputs and outputs, as paths or lists of paths, and its parameters. A function
    that has them also gets the job's `threads`, and as `resources` what DuckDB may use: a fifth of the
    memory, since DuckDB takes more than its limit, and Python and Arrow need memory, too.
    """
    files = {**dict(job.input.items()), **dict(job.output.items())}
    machine = {
        "threads": job.threads,
        "resources": {
            "memory_mb": job.resources.mem_mb // 5,
            "threads": job.threads,
            "temporary": job.resources.tmpdir,
        },
    }
    parameters = signature(function).parameters
    return {
        **{name: Path(f) if isinstance(f, str) else list(map(Path, f)) for name, f in files.items()},
        **{name: value for name, value in job.params.items() if name not in FOR_SNAKEMAKE},
        **{name: value for name, value in machine.items() if name in parameters},
    }
