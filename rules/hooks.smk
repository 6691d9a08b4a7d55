"""What a run says before its first job and at its end; not in a dry run."""

from snakemake.logging import logger


onstart:
    # With a limit on jobs per second, each look of Snakemake's scheduler at its jobs makes it look again a second
    # later, and each finished job adds one more look per second: after 300 jobs, this takes a third of a core.
    # Other limits than Snakemake's default stay.
    limit = workflow.scheduler.job_rate_limiter
    if limit and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None
    for model, file in pipeline.left_out.items() if workflow.is_main_process else ():
        logger.warning(f"{model} is skipped: {file} is given on request and is not here")


onsuccess:
    # Imported here, since a dry run needs none of its libraries.
    from paraphrastic_pipeline.report.outcome import summary

    for line in summary(settings.models) if workflow.is_main_process else ():
        logger.info(line)
