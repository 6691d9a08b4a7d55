"""The vocabularies of a model: one for all, or one per unit and language that has its own."""


rule train_vocabulary:
    input:
        pairs=rules.merge_pairs.output.pairs,
        vectors=models.of("vocabulary_vectors"),
    output:
        model="results/vocabulary/{model}/{vocabulary}.model",
    log:
        "results/logs/train_vocabulary/{model}/{vocabulary}.log",
    benchmark:
        "results/benchmarks/train_vocabulary/{model}/{vocabulary}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("train_vocabulary"),
    params:
        settings=lambda wildcards: models.derived[wildcards.model]["vocabularies"][wildcards.vocabulary],
        code=code_of("train_vocabulary"),
    message:
        "Learn the vocabulary {wildcards.vocabulary} of model {wildcards.model}"
    script:
        "../workflow/scripts/train_vocabulary.py"
