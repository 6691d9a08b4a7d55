"""Correlations of the scores of models of English and another language (Wieting et al. 2019, section 4.2)."""


rule measure_overlap:
    input:
        dataset=models.of("training_data"),
        sentencepiece=models.of("vocabulary_files"),
    output:
        overlap="results/language_choice/{model}.json",
    log:
        "results/logs/measure_overlap/{model}.log",
    benchmark:
        "results/benchmarks/measure_overlap/{model}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("measure_overlap"),
    params:
        languages=lambda wildcards: models.definition(wildcards).languages,
        code=code_of("measure_overlap"),
    message:
        "Measure the overlap of the pieces of {wildcards.model}"
    script:
        "../workflow/scripts/measure_overlap.py"
