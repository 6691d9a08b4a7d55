"""Training pairs as flat token arrays."""


rule encode_dataset:
    input:
        pairs=rules.merge_pairs.output.pairs,
        sentencepiece=lambda wildcards: vocabulary_files(wildcards.model),
    output:
        dataset="results/datasets/{model}/train.h5",
    log:
        "results/logs/encode_dataset/{model}.log",
    benchmark:
        "results/benchmarks/encode_dataset/{model}.tsv"
    conda:
        "../envs/train.yaml"
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        units=lambda wildcards: dataset_units(wildcards.model),
        tables=lambda wildcards: structure_of(config["definitions"][wildcards.model]).tables,
        code=code_version("paraphrastic.dataset"),
    message:
        "Encode the training data of {wildcards.model}"
    script:
        "../workflow/scripts/encode_dataset.py"
