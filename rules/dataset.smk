"""Training pairs as flat token arrays."""


rule encode_dataset:
    input:
        pairs=rules.merge_pairs.output.pairs,
        sentencepiece=models.of("vocabulary_files"),
    output:
        dataset="results/datasets/{model}/train.h5",
    log:
        "results/logs/encode_dataset/{model}.log",
    benchmark:
        "results/benchmarks/encode_dataset/{model}.tsv"
    wildcard_constraints:
        model=one_of(models.piece_models),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("encode_dataset"),
    params:
        units=models.of("units"),
        tables=lambda wildcards: models.definition(wildcards).architecture.tables,
        grouped=models.of("grouped"),
        texts=models.of("texts"),
        code=code_of("encode_dataset"),
    message:
        "Encode the training data of {wildcards.model}"
    script:
        "../workflow/scripts/encode_dataset.py"
