"""What a run does and says before its first job and at its end; not in a dry run."""

from snakemake.logging import logger

from paraphrastic_pipeline.workflow.hooks import (
    download_estimate,
    follow,
    killed_steps,
    last_words,
    left_out_models,
)


onstart:
    # With a limit on jobs per second, each look of Snakemake's scheduler at its jobs makes it look again a second
    # later, and each finished job adds one more look per second: after 300 jobs, this takes a third of a core.
    # Other limits than Snakemake's default stay.
    limit = workflow.scheduler.job_rate_limiter
    if limit and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None
    # The jobs of a cluster are runs of their own, which must not do this again.
    if workflow.is_main_process:
        try:
            with atomic_output(settings_path) as temporary:
                temporary.write_text(settings_text, encoding="utf-8")
        except InputError as error:
            raise WorkflowError(str(error)) from None
        for line in left_out_models(models.left_out):
            logger.warning(line)
        for line in download_estimate(corpora.opus_corpora):
            logger.info(line)
        follow(workflow)


onsuccess:
    if workflow.is_main_process:
        for line in last_words(settings.models):
            logger.info(line, extra={"is_last": True})


onerror:
    for line in killed_steps(log):
        logger.error(line)
