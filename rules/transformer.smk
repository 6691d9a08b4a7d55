"""Transformers: what differs in the steps of their models; TRANSFORMER_FILES are their files."""


rule tokenize_pairs:
    input:
        pipeline.transformer_files,
        pairs=rules.merge_pairs.output.pairs,
    output:
        dataset="results/datasets/{model}/train.h5",
    log:
        "results/logs/tokenize_pairs/{model}.log",
    wildcard_constraints:
        model=one_of(pipeline.transformers),
    conda:
        "../envs/neural.yaml"
    resources:
        **resources_of("tokenize_pairs"),
    params:
        **calls("training.transformer:tokenize_pairs"),
        architecture=pipeline.of("architecture"),
        lowercase=settings.text.lowercase,
        grouped=pipeline.of("grouped"),
        texts=pipeline.of("texts"),
    message:
        "Tokenize the training data of {wildcards.model} as its Transformer does"
    script:
        "../workflow/scripts/run.py"


use rule initialize_model as initialize_transformer with:
    output:
        multiext("results/untrained/{model}/", *TRANSFORMER_FILES[1:]),
        directory("results/untrained/{model}/pooling"),
        weights="results/untrained/{model}/model.safetensors",
    log:
        "results/logs/initialize_transformer/{model}.log",
    wildcard_constraints:
        model=one_of(pipeline.transformers),
    conda:
        "../envs/neural.yaml"


use rule train_model as train_transformer with:
    output:
        multiext("results/training/{model}/{run}/", "training.jsonl", *TRANSFORMER_FILES[1:]),
        directory("results/training/{model}/{run}/pooling"),
        weights="results/training/{model}/{run}/model.safetensors",
    log:
        "results/logs/train_transformer/{model}/{run}.log",
    wildcard_constraints:
        model=one_of(pipeline.transformers),
    conda:
        "../envs/neural.yaml"
    resources:
        **resources_of("train_transformer"),
        gpu=lambda wildcards: int(pipeline.definition(wildcards).training.device == "cuda"),


use rule choose_model as choose_transformer with:
    output:
        multiext("results/models/{model}/", *TRANSFORMER_FILES),
        directory("results/models/{model}/pooling"),
        sweep="results/models/{model}/sweep.csv",
    log:
        "results/logs/choose_transformer/{model}.log",
    wildcard_constraints:
        model=one_of(pipeline.transformers),
    conda:
        "../envs/neural.yaml"
