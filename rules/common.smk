"""The checked configuration, and what the library makes of it; see paraphrastic_pipeline.workflow."""

import os
import sys
from pathlib import Path

# Use this checkout's library, whatever is installed.
sys.path.insert(0, str(Path(workflow.basedir, "src")))

from snakemake.exceptions import WorkflowError

from paraphrastic_pipeline.base.code_version import code_version
from paraphrastic_pipeline.base.functions import full_name
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.settings.check import check_config, read_config
from paraphrastic_pipeline.settings.sections.fields import as_json
from paraphrastic_pipeline.workflow.corpora import (
    DESCRIBED_SENTENCES,
    MODEL_FILES,
    TRANSFORMER_FILES,
    languages_of,
    one_of,
    optional,
    shard_of,
    sides_of,
)
from paraphrastic_pipeline.workflow.pipeline import Pipeline
from paraphrastic_pipeline.workflow.resources import resources_of
from paraphrastic_pipeline.report.contents import TABLES

try:
    # Snakemake would silently take the last value of a key that a file gives twice.
    given = (*workflow.configfiles, *workflow.overwrite_configfiles)
    read_config([Path(os.path.relpath(file)) for file in given])
    settings, datasets = check_config(config)
    config.update(as_json(settings))
    pipeline = Pipeline(settings, datasets, ancient)
except InputError as error:
    raise WorkflowError(str(error)) from None


def calls(function, *others, without=()):
    """Return the parameters of a step, which calls a function of the library (`module:function`).

    They are its name and the version of its code: of everything that it and the `others` can call, but the
    modules in `without`. All of them may be functions of the job's wildcards. Snakemake's own check of code is
    off (profiles/default), since it also counts docstrings and file times.
    """

    def code(wildcards):
        names = [name(wildcards) if callable(name) else name for name in (function, *others)]
        left_out = without(wildcards) if callable(without) else without
        return code_version(*map(full_name, names), without=left_out)

    return {"function": function, "code": code}


def all_cores(wildcards):
    """Return the cores of the run, or 1 where a command such as --unlock needs none."""
    return workflow.resource_settings.cores or 1


def training_threads(wildcards):
    """Return the threads of a training run: on a cluster, one."""
    elsewhere = workflow.remote_exec or not workflow.local_exec
    return 1 if elsewhere else pipeline.training_threads(wildcards, all_cores(wildcards))
