"""Trainings on the pairs of one model, beside each other: its own settings, the paper's, and StaticEmbedding.

All of them are scored on STS 2012–2016 in the course of training, and these scores do not count as time.
"""


# All cores of the run, so that no other job disturbs the clock.
rule train_compared:
    input:
        dataset=models.of("training_data"),
        sentencepiece=models.of("vocabulary_files"),
        vectors=models.of("initial_vectors"),
        testsets="results/testsets/sts.parquet",
    output:
        weights="results/comparison/{model}/{recipe}/model.safetensors",
        sentencepiece="results/comparison/{model}/{recipe}/sentencepiece.model",
        config="results/comparison/{model}/{recipe}/config.json",
        history="results/comparison/{model}/{recipe}/training.jsonl",
        curve="results/comparison/{model}/{recipe}.csv",
    log:
        "results/logs/train_compared/{model}/{recipe}.log",
    benchmark:
        "results/benchmarks/train_compared/{model}/{recipe}.tsv"
    wildcard_constraints:
        recipe="own|paper",
    conda:
        "../envs/train.yaml"
    threads: lambda wildcards: workflow.resource_settings.cores or 1
    resources:
        **needs("train_compared"),
    params:
        settings=models.compared_run,
        architecture=models.of("architecture"),
        about=models.about,
        every=models.epochs_between_scores,
        code=code_of("train_compared"),
    message:
        "Train {wildcards.model} for the comparison, recipe {wildcards.recipe}"
    script:
        "../workflow/scripts/train_compared.py"


rule train_static_embedding:
    input:
        pairs=models.merged_pairs,
        sentencepiece=models.of("vocabulary_files"),
        testsets="results/testsets/sts.parquet",
    output:
        curve="results/comparison/{model}/static_embedding.csv",
    log:
        "results/logs/train_static_embedding/{model}.log",
    benchmark:
        "results/benchmarks/train_static_embedding/{model}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: lambda wildcards: workflow.resource_settings.cores or 1
    resources:
        **needs("train_static_embedding"),
    params:
        settings=models.static_embedding,
        about=models.about,
        code=code_of("train_static_embedding"),
    message:
        "Train StaticEmbedding on the pairs of {wildcards.model}"
    script:
        "../workflow/scripts/train_static_embedding.py"
