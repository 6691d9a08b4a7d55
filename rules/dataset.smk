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
        model=one_of(model for model in models.corpus_models if model in models.piece_models),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **needs("encode_dataset"),
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


# Replaces select_pairs, merge_pairs, train_vocabulary and encode_dataset.
rule import_dataset:
    input:
        hdf5=lambda wildcards: ancient(models.definition(wildcards).dataset.hdf5),
        vocabulary=lambda wildcards: ancient(models.definition(wildcards).dataset.vocabulary),
        sentencepiece=lambda wildcards: ancient(models.definition(wildcards).dataset.sentencepiece),
    output:
        dataset="results/datasets/{model}/train.h5",
        sentencepiece="results/vocabulary/{model}/sentencepiece.model",
        counts="results/corpora/{model}/counts.json",
    log:
        "results/logs/import_dataset/{model}.log",
    benchmark:
        "results/benchmarks/import_dataset/{model}.tsv"
    wildcard_constraints:
        model=one_of(models.dataset_models),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **needs("import_dataset"),
    params:
        versions=models.dataset_versions,
        code=code_of("import_dataset"),
    message:
        "Import the training data of {wildcards.model}"
    script:
        "../workflow/scripts/import_dataset.py"
