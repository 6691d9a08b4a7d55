"""The jobs of a run, as Snakemake plans them in a dry run.

The one module of the library that asks Snakemake: which jobs there are is for the rules to say.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.config.check import DEFAULT_CONFIG, read_config
from paraphrastic.pipeline.resources import Megabytes, Need
from paraphrastic.registry.datasets import Dataset
from paraphrastic.registry.opus import OpusCorpus


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a run.

    `step` is its rule. `of` names what it is for: a model, a system or a corpus. `inputs` and `outputs` are
    paths. `after` are places of the jobs, in the list of all, that it waits for. `need` takes a function
    that gives the MB of files, which need not be there yet.
    """

    step: str
    of: str
    wildcards: Mapping[str, str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    threads: int
    after: tuple[int, ...]
    need: Callable[[Megabytes], Need]


@dataclass(frozen=True, slots=True)
class Run:
    """A run: the checked configuration, all data sets by name, corpora of OPUS by path, and the jobs.

    Jobs stand after those that they wait for.
    """

    config: Mapping[str, Any]
    datasets: Mapping[str, Dataset]
    opus: Mapping[str, OpusCorpus]
    jobs: list[Job] = field(default_factory=list)


def planned_run(
    *,
    configfiles: Sequence[Path] = (),
    config: Mapping[str, Any] | None = None,
    targets: Iterable[str] = (),
    cores: int = 1,
    everything: bool = False,
) -> Run:
    """The run that `snakemake` would start in this folder; `everything`: also what is there already.

    Raises:
        InputError: no Snakefile is here, or the run cannot be planned; the message is the pipeline's own.
    """
    from snakemake.api import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings, SnakemakeApi
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.settings.enums import RerunTrigger

    snakefile = Path("Snakefile")
    if not snakefile.is_file():
        raise InputError(f"{snakefile}: is not a file: plan in the folder of the pipeline")
    # Of a file that is neither JSON nor YAML, Snakemake says neither name nor line.
    read_config(configfiles or [DEFAULT_CONFIG])
    # Snakemake lists a dry run on standard error, whatever it is told.
    with redirect_stderr(io.StringIO()), SnakemakeApi(OutputSettings(dryrun=True)) as api:
        try:
            workflow = api.workflow(
                ResourceSettings(cores=cores),
                ConfigSettings(config=dict(config or {}), configfiles=list(configfiles)),
                snakefile=snakefile,
            )
            # As profiles/default has them.
            triggers = RerunTrigger.all() - {RerunTrigger.CODE}
            dag = workflow.dag(
                DAGSettings(targets=set(targets), forceall=everything, rerun_triggers=triggers)
            )
            dag.execute_workflow(executor="dryrun")
        except (WorkflowError, RuleException) as error:
            raise InputError(str(error)) from None
        return _run(workflow._workflow)


def _run(workflow: Any) -> Run:
    corpora = workflow.globals["corpora"]
    run = Run(corpora.config, corpora.datasets, corpora.opus_corpora)
    places: dict[Any, int] = {}
    for level in workflow.dag.toposorted():
        for job in sorted(level, key=lambda job: (job.rule.name, job.format_wildcards("{wildcards}"))):
            # Targets alone have no output.
            if not workflow.dag.needrun(job) or not job.output:
                continue
            wildcards = dict(job.wildcards_dict)
            kinds = ("model", "system", "mined", "corpus")
            # `resources.Needs` has put its function there for the rule's step.
            need = job.rule.resources["mem_mb"]._evaluator.need
            after = tuple(places[other] for other in workflow.dag.dependencies[job] if other in places)
            places[job] = len(run.jobs)
            run.jobs.append(
                Job(
                    step=job.rule.name,
                    of=next((wildcards[kind] for kind in kinds if kind in wildcards), ""),
                    wildcards=wildcards,
                    inputs=tuple(map(str, job.input)),
                    outputs=tuple(map(str, job.output)),
                    threads=job.threads,
                    after=after,
                    need=partial(need, job.wildcards, job.input),
                )
            )
    return run
