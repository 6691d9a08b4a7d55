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


rule tabulate_speed:
    input:
        speeds=rules.measure_speed.output.speeds,
        published="config/published/speed.csv",
    output:
        table="results/tables/speed.csv",
    log:
        "results/logs/tabulate_speed.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        code=code_of("tabulate_speed"),
    message:
        "Tabulate the speed of all systems"
    script:
        "../workflow/scripts/tabulate_speed.py"


rule plot_speed:
    input:
        table=rules.tabulate_speed.output.table,
    output:
        svg="results/figures/speed.svg",
        png="results/figures/speed.png",
    log:
        "results/logs/plot_speed.log",
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        **needs("plot"),
    params:
        code=code_of("plot_speed"),
    message:
        "Plot the speed of all systems"
    script:
        "../workflow/scripts/plot_speed.py"


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


rule tabulate_front:
    input:
        front=rules.measure_front.output.front,
        published=["config/published/sts.csv", "config/published/sts_spearman.csv", "config/other_models.csv"],
    output:
        table="results/tables/front.csv",
    log:
        "results/logs/tabulate_front.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        code=code_of("tabulate_front"),
    message:
        "Tabulate quality, speed and size of all systems"
    script:
        "../workflow/scripts/tabulate_front.py"


rule plot_front:
    input:
        table=rules.tabulate_front.output.table,
    output:
        svg="results/figures/front.svg",
        png="results/figures/front.png",
    log:
        "results/logs/plot_front.log",
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        **needs("plot"),
    params:
        code=code_of("plot_front"),
    message:
        "Plot quality, speed and size of all systems"
    script:
        "../workflow/scripts/plot_front.py"
