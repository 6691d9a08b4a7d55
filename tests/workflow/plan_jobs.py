"""Bind the arguments of one planned job of every rule to its function: `plan_jobs.py CONFIGFILE TARGET...`.

Prints as JSON the rules that have no job.
"""

import contextlib
import io
import json
import sys
from inspect import signature
from pathlib import Path

from snakemake.api import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings, SnakemakeApi


def main() -> None:
    configfile, *targets = sys.argv[1:]
    with contextlib.redirect_stderr(io.StringIO()), SnakemakeApi(OutputSettings(dryrun=True)) as api:
        workflow = api.workflow(
            ResourceSettings(cores=2),
            ConfigSettings(configfiles=[Path(configfile)]),
            snakefile=Path("Snakefile"),
        )
        dag = workflow.dag(DAGSettings(targets=set(targets), forceall=True))
        dag.execute_workflow(executor="dryrun")
        if slow := sys.modules.keys() & {"numba", "torch"}:
            sys.exit(f"a dry run imports {slow}")
        # The Snakefile has put its checkout's library first.
        from paraphrastic_pipeline.base.functions import function_of
        from paraphrastic_pipeline.workflow.functions import arguments_of

        rules = {rule.name for rule in workflow._workflow.rules if rule.script}
        for job in workflow._workflow.dag.jobs:
            if job.rule.script:
                function = function_of(job.params.function)
                arguments = arguments_of(job, function)
                try:
                    signature(function).bind(**arguments)
                except TypeError as error:
                    sys.exit(f"{job.rule.name}: {job.params.function}: {error}")
                rules.discard(job.rule.name)
    print(json.dumps(sorted(rules)))


if __name__ == "__main__":
    main()
