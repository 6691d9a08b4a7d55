"""Correlations of the scores of models of English and another language (Wieting et al. 2019, section 4.2)."""


rule measure_overlap:
    input:
        dataset=pipeline.of("training_data"),
        vocabularies=pipeline.of("vocabulary_files"),
    output:
        overlap="results/language_choice/{model}.json",
    log:
        "results/logs/measure_overlap/{model}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("measure_overlap"),
    params:
        **calls("evaluation.piece_overlap:measure_overlap"),
        languages=lambda wildcards: pipeline.definition(wildcards).languages,
    message:
        "Measure the overlap of the pieces of {wildcards.model}"
    script:
        "../workflow/scripts/run.py"
