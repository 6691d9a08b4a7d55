"""Transformers: their tokens as training data, their training, and the choice among the runs of a sweep."""


rule tokenize_pairs:
    input:
        pairs=rules.merge_pairs.output.pairs,
        transformer=models.transformer_files,
    output:
        dataset="results/datasets/{model}/train.h5",
    log:
        "results/logs/tokenize_pairs/{model}.log",
    benchmark:
        "results/benchmarks/tokenize_pairs/{model}.tsv"
    wildcard_constraints:
        model=one_of(models.transformers),
    conda:
        "../envs/neural.yaml"
    threads: 1
    resources:
        **resources_of("tokenize_pairs"),
    params:
        architecture=models.of("architecture"),
        lowercase=settings.text.lowercase,
        grouped=models.of("grouped"),
        texts=models.of("texts"),
        code=code_of("tokenize_pairs"),
    message:
        "Cut the training data of {wildcards.model} into the tokens of its Transformer"
    script:
        "../workflow/scripts/tokenize_pairs.py"


rule initialize_transformer:
    input:
        dataset=models.of("training_data"),
        transformer=models.transformer_files,
    output:
        multiext("results/untrained/{model}/", *TRANSFORMER_FILES),
        pooling=directory("results/untrained/{model}/pooling"),
    log:
        "results/logs/initialize_transformer/{model}.log",
    benchmark:
        "results/benchmarks/initialize_transformer/{model}.tsv"
    wildcard_constraints:
        model=one_of(models.transformers),
    conda:
        "../envs/neural.yaml"
    threads: 1
    resources:
        **resources_of("initialize_model"),
    params:
        settings=models.first_run,
        architecture=models.of("architecture"),
        about=models.about,
        code=code_of("initialize_transformer"),
    message:
        "Save model {wildcards.model} as it is before training"
    script:
        "../workflow/scripts/initialize_transformer.py"


rule train_transformer:
    input:
        dataset=models.of("training_data"),
        transformer=models.transformer_files,
        held_out=models.development("held_out"),
        testsets=models.development("sts2017"),
    output:
        multiext("results/training/{model}/{run}/", *TRANSFORMER_FILES),
        history="results/training/{model}/{run}/training.jsonl",
        pooling=directory("results/training/{model}/{run}/pooling"),
    log:
        "results/logs/train_transformer/{model}/{run}.log",
    benchmark:
        "results/benchmarks/train_transformer/{model}/{run}.tsv"
    wildcard_constraints:
        model=one_of(models.transformers),
    conda:
        "../envs/neural.yaml"
    # On a processor, more threads help (set-threads), but change the last digits.
    threads: 1
    resources:
        **resources_of("train_model"),
        gpu=lambda wildcards: int(models.definition(wildcards).training.device == "cuda"),
    params:
        settings=models.run,
        architecture=models.of("architecture"),
        about=models.about,
        # No reason to train again, as it depends on the output.
        watching=lambda wildcards, output: models.watching(wildcards),
        code=lambda wildcards: code_of("train_transformer", without=models.uncounted_modules(wildcards)),
    message:
        "Train model {wildcards.model}, {wildcards.run}"
    script:
        "../workflow/scripts/train_transformer.py"


rule choose_transformer:
    input:
        scores=models.of_runs("results/training/{model}/{run}/development.json"),
        models=models.of_runs(
            *(f"results/training/{{model}}/{{run}}/{name}" for name in TRANSFORMER_FILES),
            "results/training/{model}/{run}/pooling",
        ),
    output:
        multiext("results/models/{model}/", *TRANSFORMER_FILES),
        pooling=directory("results/models/{model}/pooling"),
        sweep="results/models/{model}/sweep.csv",
    log:
        "results/logs/choose_transformer/{model}.log",
    wildcard_constraints:
        model=one_of(models.transformers),
    conda:
        "../envs/neural.yaml"
    threads: 1
    resources:
        **resources_of("choose_model"),
    params:
        code=code_of("choose_model"),
    message:
        "Choose the best run of {wildcards.model}"
    script:
        "../workflow/scripts/choose_model.py"
