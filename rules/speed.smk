"""The speed of systems, measured in one job while nothing else runs."""


rule measure_speed:
    input:
        lambda wildcards: sum(map(pipeline.system_files, pipeline.systems_of("speed")), []),
        corpora=lambda wildcards: list(pipeline.speed_columns()),
    output:
        speeds="results/eval/speed.json",
    log:
        "results/logs/measure_speed.log",
    conda:
        "../envs/neural.yaml"
    # All cores of the run, so that no other job disturbs the clock.
    threads: all_cores
    resources:
        **resources_of("measure_speed"),
    params:
        **calls("evaluation.speed:measure_speed"),
        **(as_json(settings.evaluation.speed) or {}),
        systems=lambda wildcards: {system: pipeline.place(system) for system in pipeline.systems_of("speed")},
        columns=lambda wildcards: list(pipeline.speed_columns().values()),
        language="en",
    message:
        "Measure the speed of all systems"
    script:
        "../workflow/scripts/run.py"
