"""What a run does and says before its first job and after a failure; not in a dry run."""

import re

from snakemake.logging import logger

from paraphrastic.base.files import atomic_output, end_future_times

# How the system ends a program for which there is no memory, and how a program ends itself.
MEMORY_SIGNALS = ("SIGKILL", "SIGABRT")


def killed_steps(logs):
    """A line on each step that a signal ended, by Snakemake's logs of the run: it had no last word of its own."""
    text = "".join(Path(log).read_text(encoding="utf-8", errors="replace") for log in logs)
    killed = re.findall(r"\.(\w+)\.py' died with <Signals\.(\w+):", text)
    for step, signal in dict.fromkeys(killed):
        advice = ", most probably because memory ran out: run fewer steps at a time (--cores, --resources mem_mb=...)"
        yield f"error in {step}: ended by {signal}{advice if signal in MEMORY_SIGNALS else ''}"


onstart:
    # The jobs of a cluster are runs of their own.
    if workflow.is_main_process:
        try:
            with atomic_output(os.environ["PARAPHRASTIC_SETTINGS"]) as path:
                path.write_text(SETTINGS, encoding="utf-8")
        except InputError as error:
            raise WorkflowError(str(error)) from None
        if count := end_future_times("resources", "results"):
            logger.warning(
                f"{count} files are from the future (was the clock moved back?): they get the present time"
            )
        for line in opus_estimate():
            logger.info(line)


onerror:
    for line in killed_steps(log):
        logger.error(line)
