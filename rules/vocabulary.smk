"""The vocabulary of a model."""


rule train_vocabulary:
    input:
        pairs=rules.merge_pairs.output.pairs,
    output:
        model="results/vocabulary/{model}/sentencepiece.model",
    log:
        "results/logs/train_vocabulary/{model}.log",
    benchmark:
        "results/benchmarks/train_vocabulary/{model}.tsv"
    conda:
        "../envs/train.yaml"
    resources:
        mem_mb=lambda wildcards, input: vocabulary_mb(wildcards.model, input.size_mb),
        runtime=120,
    params:
        unit=lookup(dpath="definitions/{model}/vocabulary/unit", within=config),
        size=lookup(dpath="definitions/{model}/vocabulary/size", within=config),
        character_coverage=lookup(dpath="definitions/{model}/vocabulary/character_coverage", within=config),
        max_sentences=lookup(dpath="definitions/{model}/vocabulary/max_sentences", within=config),
        hard_limit=lookup(dpath="definitions/{model}/vocabulary/hard_limit", within=config),
        seed=config["seed"],
        code=code_version("paraphrastic.vocabulary"),
    message:
        "Train the vocabulary of {wildcards.model}"
    script:
        "../workflow/scripts/train_vocabulary.py"
