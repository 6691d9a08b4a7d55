"""Training pairs as flat token arrays."""


rule encode_dataset:
    input:
        pipeline.of("vocabulary_files"),
        pairs=rules.merge_pairs.output.pairs,
    output:
        dataset="results/datasets/{model}/train.h5",
    log:
        "results/logs/encode_dataset/{model}.log",
    wildcard_constraints:
        model=one_of(pipeline.piece_models),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("encode_dataset"),
    params:
        **calls("training.dataset:encode_dataset"),
        units=pipeline.of("units"),
        tables=lambda wildcards: pipeline.definition(wildcards).architecture.tables,
        grouped=pipeline.of("grouped"),
        texts=pipeline.of("texts"),
    message:
        "Encode the training data of {wildcards.model}"
    script:
        "../workflow/scripts/run.py"
