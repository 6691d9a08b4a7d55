"""Runs Snakemake in forks of a process that has already imported it, which saves seconds per run.

Reads requests from standard input, one line of JSON each, and answers each with the run's exit code.
"""

import gc
import json
import os
import sys
import traceback

import jsonschema  # noqa: F401 (imported by every run, like the next ones)
import pydantic.dataclasses  # noqa: F401
import snakemake.cli
import snakemake.profiles
import snakemake.report.html_reporter
import snakemake.storage
import snakemake_executor_plugin_slurm  # noqa: F401
import yte  # noqa: F401


def run(folder: str, arguments: list[str], variables: dict[str, str], output: str) -> None:
    """Do in this process what `python -m snakemake` does in a new one; it never returns."""
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[0] = folder
    sys.argv[1:] = arguments
    code = 1
    try:
        snakemake.cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    # The forks need not look for garbage among what has been imported.
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
