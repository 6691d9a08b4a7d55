"""The checked configuration, and what the library makes of it; see paraphrastic_pipeline.workflow."""

import os
import sys
from pathlib import Path

# Use this checkout's library, whatever is installed.
sys.path.insert(0, str(Path(workflow.basedir, "src")))

from snakemake.exceptions import WorkflowError

from paraphrastic_pipeline.base.code_version import code_version
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.settings.check import check_config, read_config
from paraphrastic_pipeline.settings.sections.fields import as_json
from paraphrastic_pipeline.workflow.corpora import (
    DESCRIBED_SENTENCES,
    TRANSFORMER_FILES,
    Corpora,
    languages_of,
    one_of,
)
from paraphrastic_pipeline.workflow.evaluations import Evaluations
from paraphrastic_pipeline.workflow.functions import full_name
from paraphrastic_pipeline.workflow.models import Models
from paraphrastic_pipeline.workflow.resources import resources_of
from paraphrastic_pipeline.workflow.studies import Studies
from paraphrastic_pipeline.workflow.outputs import Results
from paraphrastic_pipeline.report.contents import CAPTIONS

try:
    # Snakemake would silently take the last value of a key that a file gives twice.
    given = (*workflow.configfiles, *workflow.overwrite_configfiles)
    read_config([Path(os.path.relpath(file)) for file in given])
    settings, datasets = check_config(config)
    config.update(as_json(settings))
    corpora = Corpora(settings, datasets, ancient)
    models = Models(corpora)
    studies = Studies(models)
    evaluations = Evaluations(models)
    results = Results(evaluations, Path(workflow.basedir))
except InputError as error:
    raise WorkflowError(str(error)) from None


def code_of(script, function=None, without=()):
    """Return the version of a rule's code: its script and everything of the library that the script can call.

    A function that the script calls by its name (workflow.functions) counts, too. Snakemake's own check of code
    is off (profiles/default), since it also counts docstrings and file times.
    """
    path = Path(workflow.basedir, "workflow/scripts", f"{script}.py")
    return code_version(*([full_name(function)] if function else []), script=path, without=without)


def entry_of(entries, wildcard):
    """Return an input or params function for the entry of a wildcard's value, whose own functions it calls."""
    return lambda wildcards: {
        name: value(wildcards) if callable(value) else value
        for name, value in entries.get(getattr(wildcards, wildcard), {}).items()
    }


def all_cores(wildcards):
    """Return the cores of the run, or 1 where a command such as --unlock needs none."""
    return workflow.resource_settings.cores or 1
