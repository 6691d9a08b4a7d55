"""Print one planned job of every step as a pickle: `plan_jobs.py CONFIGFILE TARGET...`."""

import contextlib
import io
import pickle
import re
import sys
from pathlib import Path

from snakemake.api import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings, SnakemakeApi


def main() -> None:
    configfile, *targets = sys.argv[1:]
    jobs: dict[str, dict[str, object]] = {}
    with contextlib.redirect_stderr(io.StringIO()), SnakemakeApi(OutputSettings(dryrun=True)) as api:
        workflow = api.workflow(
            ResourceSettings(cores=2),
            ConfigSettings(configfiles=[Path(configfile)]),
            snakefile=Path("Snakefile"),
        )
        dag = workflow.dag(DAGSettings(targets=set(targets), forceall=True))
        dag.execute_workflow(executor="dryrun")
        for job in workflow._workflow.dag.jobs:
            if job.rule.script:
                # A rule with a name as a wildcard stands for several steps, which have logs of their own.
                step = re.findall(r"results/logs/(\w+)", job.log[0])[0]
                jobs[step] = {
                    "script": Path(str(job.rule.script)).name,
                    "rule": job.rule.name,
                    "threads": 3,
                    "config": workflow._workflow.globals["config"],
                    "resources": {"mem_mb": 4000, "tmpdir": "/tmp"},
                    "params": job.params,
                    "wildcards": job.wildcards,
                    **{name: getattr(job, name)._plainstrings() for name in ("input", "output", "log")},
                }
    sys.stdout.buffer.write(pickle.dumps(jobs))


if __name__ == "__main__":
    main()
