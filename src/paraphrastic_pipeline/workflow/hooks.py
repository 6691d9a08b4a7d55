"""What a run does and says before its first job and after a failure, and the settings that its jobs share."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic_pipeline.registry.opus import OpusCorpus
from paraphrastic_pipeline.workflow.estimate import estimate
from paraphrastic_pipeline.workflow.step import FEWER_STEPS

if TYPE_CHECKING:
    from paraphrastic_pipeline.workflow.progress import Progress

# The progress of the run in this process, which the logger shows; None before its first job.
progress: "Progress | None" = None
# Environment variable with the path of the copy of a run's settings.
SETTINGS = "PARAPHRASTIC_SETTINGS"
# When memory runs out, the system kills a program with the first signal, or it aborts with the second.
MEMORY_SIGNALS = ("SIGKILL", "SIGABRT")
_ADVICE = f", most probably because memory ran out: {FEWER_STEPS}"


def settings_copy(config: Mapping[str, Any]) -> tuple[str, Path]:
    """Return the settings of a run as JSON, and the path of their copy, which depends on the content.

    The jobs of a cluster are runs of their own. They read the copy, so a run ends with the settings that it
    began with, even if the configuration files change. Values that JSON does not have are refused elsewhere.
    """
    text = json.dumps(config, default=str)
    return text, Path(".snakemake", "settings", f"{sha256(text.encode()).hexdigest()}.json").absolute()


def follow(workflow: Any) -> None:
    """Begin to follow the progress of a workflow of Snakemake."""
    global progress
    # Imported here, because a dry run needs none of it.
    from paraphrastic_pipeline.workflow.plan import run_of
    from paraphrastic_pipeline.workflow.progress import Progress, costs_of

    run = run_of(workflow)
    progress = Progress(run.jobs, costs_of(run), cores=workflow.resource_settings.cores or 1)


def left_out_models(left_out: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each file that is given on request, with the models of studies that lack it."""
    for file in dict.fromkeys(left_out.values()):
        models = ", ".join(model for model, lacking in left_out.items() if lacking == file)
        yield f"{file} is given on request and is not here, so the studies leave out {models}"


def download_estimate(corpora: Mapping[str, OpusCorpus]) -> list[str]:
    """Return lines on the cost of those corpora of OPUS, by path, that are not downloaded yet."""
    return estimate([corpus for path, corpus in corpora.items() if not Path(path).exists()])


def last_words(models: Sequence[str]) -> list[str]:
    """Return what a person should read at the end of a run; nothing may fail because of it."""
    # Imported here, because a dry run needs none of it.
    from paraphrastic_pipeline.report import outcome

    try:
        return list(outcome.last_words(models))
    except (InputError, KeyError) as error:
        return [f"the results cannot be summarized: {on_one_line(error)}"]


def killed_steps(logs: Iterable[str]) -> Iterator[str]:
    """Yield a line for each step that a signal ended before it could report, from Snakemake's logs."""
    text = "".join(Path(log).read_text(encoding="utf-8", errors="replace") for log in logs)
    killed = re.findall(r"\.(\w+)\.py' died with <Signals\.(\w+):", text)
    for step, signal in dict.fromkeys(killed):
        yield f"error in {step}: ended by {signal}{_ADVICE if signal in MEMORY_SIGNALS else ''}"
