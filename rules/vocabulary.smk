"""The vocabularies of a model: one for all, or one per unit and language that has its own."""


rule train_vocabulary:
    input:
        unpack(optional(vectors=pipeline.of("vocabulary_vectors"))),
        pairs=rules.merge_pairs.output.pairs,
    output:
        model="results/vocabulary/{model}/{vocabulary}.model",
    log:
        "results/logs/train_vocabulary/{model}/{vocabulary}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("train_vocabulary"),
    params:
        **calls("training.vocabulary:train_vocabulary"),
        settings=lambda wildcards: pipeline.derived[wildcards.model]["vocabularies"][wildcards.vocabulary],
    message:
        "Learn the vocabulary {wildcards.vocabulary} of model {wildcards.model}"
    script:
        "../workflow/scripts/run.py"
