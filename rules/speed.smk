"""The speed of systems, measured in one job while nothing else runs."""


rule measure_speed:
    input:
        systems=evaluations.speed_systems,
        corpora=lambda wildcards: list(evaluations.speed_columns()),
    output:
        speeds="results/eval/speed.json",
    log:
        "results/logs/measure_speed.log",
    benchmark:
        "results/benchmarks/measure_speed.tsv"
    conda:
        "../envs/evaluate.yaml"
    # All cores of the run, so that no other job disturbs the clock.
    threads: lambda wildcards: workflow.resource_settings.cores or 1
    resources:
        **needs("measure_speed", shared=False),
    params:
        systems=lambda wildcards: {
            system: evaluations.place(system) for system in evaluations.systems_of("speed")
        },
        columns=lambda wildcards: list(evaluations.speed_columns().values()),
        settings={"language": "en", **(as_json(settings.evaluation.speed) or {})},
        code=code_of("measure_speed"),
    message:
        "Measure the speed of all systems"
    script:
        "../workflow/scripts/measure_speed.py"


rule measure_front:
    input:
        systems=evaluations.front_systems,
        corpora=lambda wildcards: list(evaluations.speed_columns()),
        testsets="results/testsets/sts.parquet",
        official="config/published/sts_digests.json",
    output:
        front="results/eval/front.json",
    log:
        "results/logs/measure_front.log",
    benchmark:
        "results/benchmarks/measure_front.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: lambda wildcards: workflow.resource_settings.cores or 1
    resources:
        **needs("measure_front", shared=False),
    params:
        systems=lambda wildcards: {
            system: evaluations.place(system) for system in evaluations.systems_of("front")
        },
        columns=lambda wildcards: list(evaluations.speed_columns().values()),
        protocol={
            "bootstrap_samples": settings.evaluation.bootstrap_samples,
            **(as_json(settings.evaluation.speed) or {}),
        },
        versions=settings.evaluation.front.versions if settings.evaluation.front else [],
        code=code_of("measure_front"),
    message:
        "Measure quality, speed and size of all systems"
    script:
        "../workflow/scripts/measure_front.py"
