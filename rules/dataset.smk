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
    wildcard_constraints:
        model=one_of(CORPUS_MODELS),
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=memory("encode_dataset"),
        runtime=runtime("encode_dataset"),
    params:
        units=lambda wildcards: dataset_units(wildcards.model),
        tables=lambda wildcards: architecture_of(config["definitions"][wildcards.model]).tables,
        code=code_of("encode_dataset"),
    message:
        "Encode the training data of {wildcards.model}"
    script:
        "../workflow/scripts/encode_dataset.py"


# In the place of select_pairs, merge_pairs, train_vocabulary and encode_dataset.
rule import_dataset:
    input:
        hdf5=dataset_file("hdf5"),
        vocabulary=dataset_file("vocabulary"),
        sentencepiece=dataset_file("sentencepiece"),
    output:
        dataset="results/datasets/{model}/train.h5",
        sentencepiece="results/vocabulary/{model}/sentencepiece.model",
        counts="results/corpora/{model}/counts.json",
    log:
        "results/logs/import_dataset/{model}.log",
    benchmark:
        "results/benchmarks/import_dataset/{model}.tsv"
    wildcard_constraints:
        model=one_of(DATASET_MODELS),
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=memory("import_dataset"),
        runtime=runtime("import_dataset"),
    params:
        versions=lambda wildcards: dataset_versions(
            wildcards.model, config["definitions"][wildcards.model]["dataset"]
        ),
        code=code_of("import_dataset"),
    message:
        "Import the training data of {wildcards.model}"
    script:
        "../workflow/scripts/import_dataset.py"
