"""The vocabularies of a model: one, or one for each unit and language that has its own."""


rule train_vocabulary:
    input:
        pairs=rules.merge_pairs.output.pairs,
    output:
        model="results/vocabulary/{model}/{vocabulary}.model",
    log:
        "results/logs/train_vocabulary/{model}/{vocabulary}.log",
    benchmark:
        "results/benchmarks/train_vocabulary/{model}/{vocabulary}.tsv"
    wildcard_constraints:
        model=one_of(CORPUS_MODELS),
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=memory(vocabulary_needed),
        runtime=runtime(vocabulary_needed),
    params:
        settings=lambda wildcards: vocabulary_training(wildcards.model, wildcards.vocabulary),
        seed=config["seed"],
        code=code_of("train_vocabulary"),
    message:
        "Train the vocabulary {wildcards.vocabulary} of {wildcards.model}"
    script:
        "../workflow/scripts/train_vocabulary.py"
